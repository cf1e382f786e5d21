"""What the benchmarks share: data of HotpotQA's length, models, turns, the machine in words, the processor's own speed.

Each is a script that prints a table and writes outputs/benchmarks/<its name>.json; `--help` shows its options.
"""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from citeverifier.data.load import load
from citeverifier.data.mini import load_mini
from citeverifier.models.checkpoint import CheckpointConfig, backbone_path, load_tokenizer, save_checkpoint
from citeverifier.records import Example

SMALL = "package:citeverifier_small/model"
OUTPUT = Path("outputs/benchmarks")

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


def examples(count: int) -> tuple[list[Example], str]:
    """Examples of ten documents, and what they are: HotpotQA's where CITEVERIFIER_REAL_DATA has them, else the bundled
    ones, repeated with documents of up to twice the length.
    """
    folder = os.environ.get("CITEVERIFIER_REAL_DATA")
    if folder:
        found: Any = load(f"{folder}/hotpotqa/hotpot_distractor_dev_sample.json.gz", split=None, lang="en")
        return found[:count], "HotpotQA"
    rng, bundled, made = random.Random(13), load_mini(lang="en"), []
    for number in range(count):
        example = bundled[number % len(bundled)]
        more = [rng.choice(bundled).documents[0].text for _ in example.documents]
        documents = [
            replace(d, text=f"{d.text} {' '.join(text.split()[: rng.randint(0, 60)])} Copy {number}.")
            for d, text in zip(example.documents, more, strict=True)
        ]
        made.append(replace(example, id=f"{example.id}/{number}", documents=tuple(documents)))
    return made, "bundled set, repeated with varied lengths"


def save_model(folder: Path, shape: str, *, large: bool = False) -> Path:
    """A checkpoint on the shipped encoder, its head untrained, or of HerBERT-large's size; returns its folder."""
    import torch
    from transformers import AutoModel, AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

    from citeverifier.models.late_interaction import LateInteraction

    torch.manual_seed(0)
    path = backbone_path(SMALL)
    if large:
        size: dict[str, Any] = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16}
        config = BertConfig(**size, intermediate_size=4096, vocab_size=50000, num_labels=1)
        model: Any = BertForSequenceClassification(config)
    elif shape == "late_interaction":
        model = LateInteraction(AutoModel.from_pretrained(path))
    else:
        model = AutoModelForSequenceClassification.from_pretrained(path, num_labels=1)
        with torch.no_grad():  # as initialised, it says nearly the same of everything
            model.classifier.weight.mul_(20)
    window = 256 if shape == "late_interaction" else 512
    config = CheckpointConfig(shape, 2.0, 1.0, {"partial": 0.5, "full": 0.5}, window, False)  # type: ignore[arg-type]
    save_checkpoint(folder, model, load_tokenizer(path, 512), config)
    return folder


def by_turns(rounds: int, calls: Mapping[Key, Callable[[], Result]], *, warm_up: int = 0) -> dict[Key, list[Result]]:
    """What each call gave in each round: in turn, and in every other round backwards, so that what else the machine
    does hits all alike. Rounds that warm up come before and are not given.
    """
    given: dict[Key, list[Result]] = {name: [] for name in calls}
    for number in range(warm_up + rounds):
        for name in calls if number % 2 == 0 else reversed(calls):
            given[name].append(calls[name]())
    return {name: results[warm_up:] for name, results in given.items()}


def gemm_rate(bf16: bool, size: int = 2048, rounds: int = 3) -> dict[str, float]:
    """Floating point operations a second and a processor second of a square matrix product: what can be done, now."""
    import torch

    a, b = (torch.randn(size, size).to(torch.bfloat16 if bf16 else torch.float32) for _ in range(2))
    a @ b
    clocks = []
    for _ in range(rounds):
        with Clock() as clock:
            a @ b
        clocks.append(clock)
    took = {"seconds": [c.wall for c in clocks], "processor": [c.processor for c in clocks]}
    return {name: 2 * size**3 / statistics.median(values) for name, values in took.items()}


def machine() -> str:
    """The machine in words: cores (those that threads may use), what they multiply in."""
    import torch

    bf16 = "AVX512-BF16" if torch.cpu._is_avx512_bf16_supported() else "no native bf16"
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{platform.machine()}, {torch.get_num_threads()} threads, {bf16}{gpu}, torch {torch.__version__}"


def write(name: str, found: dict[str, Any]) -> None:
    """outputs/benchmarks/<name>.json, with the machine and the date."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    row = {"machine": machine(), "date": date.today().isoformat(), **found}
    file = OUTPUT / f"{name}.json"
    file.write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")
    print(f"-> {file}")


@dataclass
class Clock:
    """Wall seconds and processor seconds (of all threads; other processes hardly change them) of a block."""

    wall: float = 0.0
    processor: float = 0.0

    def __enter__(self) -> Clock:
        self.wall, self.processor = -time.perf_counter(), -time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.processor += time.process_time()
