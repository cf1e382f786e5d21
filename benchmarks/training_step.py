"""What makes a training step of the shipped verifier slow or fast: one table, medians, ratios in one run.

    python benchmarks/training_step.py [--shape late_interaction|cross_encoder] [--steps 5]

Each row changes one thing of the default: attention, dropout, order of the pairs, precision.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import Annotated, Any, Literal

import typer
from common import SMALL, Clock, machine, write

from citeverifier.evaluation.reporting.tables import print_table

ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "SDPA": {"attention": "sdpa"},
    "dropout 0.1": {"dropout": 0.1},
    "dropout 0.1, SDPA": {"dropout": 0.1, "attention": "sdpa"},
    "pairs in random order": {"order": "random"},
    "fp32": {"bf16": False},
}


def measure(shape: str, attention: str, dropout: float, order: str, bf16: bool, steps: int) -> dict[str, float]:
    """Median seconds a step of 32 pairs, texts encoded a step, peak memory in GB; one warm-up step."""
    import random
    import resource

    import torch

    from citeverifier.data.mini import load_mini
    from citeverifier.data.pair_recipes import ordinal_pairs
    from citeverifier.models.cut_points import interval_loss, label_rows
    from citeverifier.training.build import build_model, build_optimizer
    from citeverifier.training.hyperparameters import Backbone, TrainingOptions
    from citeverifier.training.order import by_length, neighbours
    from citeverifier.training.prepared_pairs import inputs_for

    options = TrainingOptions(
        output_dir="", shape=shape, backbone=Backbone(SMALL),
        attention=attention, dropout=dropout, max_length=256 if shape == "late_interaction" else 512,
    )  # fmt: skip
    torch.manual_seed(0)
    model, tokenizer = build_model(options)
    model.train()
    optimizer = build_optimizer(model, options)
    inputs = inputs_for(model, tokenizer, options)
    pairs = list(ordinal_pairs(load_mini("train")))
    lengths = [inputs.prepare(pair)["length"] for pair in pairs]
    late = shape == "late_interaction"
    runs = neighbours(pairs) if late else [[i] for i in range(len(pairs))]
    pairs = [pairs[i] for i in by_length(runs, lengths, 32, 13) if late or lengths[i] <= options.max_length]
    if order == "random":
        random.Random(13).shuffle(pairs)
    seconds, texts = [], []
    for step in range(steps + 1):
        chosen = pairs[32 * step : 32 * step + 32]
        batch = inputs.collate([inputs.prepare(pair) for pair in chosen])
        labels = torch.from_numpy(label_rows(chosen))
        with Clock() as clock:
            with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
                logits = model(**batch)["logits"]
            interval_loss(logits, labels, options.delta).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        seconds.append(clock.wall)
        texts.append(sum(len(batch[name]) for name in ("document_ids", "statement_ids", "input_ids") if name in batch))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"seconds": statistics.median(seconds[1:]), "texts": statistics.mean(texts[1:]), "peak_gb": peak}


def main(
    shape: Literal["late_interaction", "cross_encoder"] = "late_interaction",
    steps: int = 5,
    row: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Measure each row in a process of its own and print the table."""
    default = {"attention": "eager", "dropout": 0.0, "order": "runs", "bf16": True}
    if row:
        print(json.dumps(measure(shape, **{**default, **ROWS[row]}, steps=steps)))
        return
    found = {}
    for name in ROWS:
        command = [sys.executable, __file__, "--row", name, "--steps", str(steps), "--shape", shape]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[name] = json.loads(done.stdout.strip().splitlines()[-1])
    rows = [
        (
            name, f"{r['seconds']:.2f}", f"{r['seconds'] / found['default']['seconds']:.2f}", f"{r['texts']:.0f}",
            f"{r['peak_gb']:.1f}",
        )
        for name, r in found.items()
    ]  # fmt: skip
    title = f"{shape}, 32 pairs a step, bundled set, both languages; {machine()}"
    print_table(title, ("row", "s/step", "ratio", "texts", "peak GB"), rows)
    write("training_step", found)


if __name__ == "__main__":
    typer.run(main)
