"""What makes a training step of the shipped verifier slow or fast: one table, medians, ratios in one run.

    python benchmarks/training_step.py [--shape late_interaction|cross_encoder] [--steps 5] [--json FILE]

Each row changes one thing of the default: attention, dropout, order of the pairs, precision.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROWS = {
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
    from citeverifier.training.order import by_length, runs_by_length
    from citeverifier.training.prepared_pairs import inputs_for

    options = TrainingOptions(
        output_dir="", shape=shape, backbone=Backbone("package:citeverifier_small/model"),
        attention=attention, dropout=dropout, max_length=256 if shape == "late_interaction" else 512,
    )  # fmt: skip
    torch.manual_seed(0)
    model, tokenizer = build_model(options)
    model.train()
    optimizer = build_optimizer(model, options)
    inputs = inputs_for(model, tokenizer, options)
    pairs = list(ordinal_pairs(load_mini("train")))
    lengths = [inputs.prepare(pair)["length"] for pair in pairs]
    if shape == "late_interaction":
        pairs = [pairs[i] for i in runs_by_length(pairs, lengths, 32, 13)]
    else:
        pairs = [pairs[i] for i in by_length(lengths, 32, 13) if lengths[i] <= options.max_length]
    if order == "random":
        random.Random(13).shuffle(pairs)
    seconds, texts = [], []
    for step in range(steps + 1):
        chosen = pairs[32 * step : 32 * step + 32]
        batch = inputs.collate([inputs.prepare(pair) for pair in chosen])
        labels = torch.from_numpy(label_rows(chosen))
        started = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            logits = model(**batch)["logits"]
        interval_loss(logits, labels, options.delta).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.perf_counter() - started)
        texts.append(sum(len(batch[name]) for name in ("document_ids", "statement_ids", "input_ids") if name in batch))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"seconds": statistics.median(seconds[1:]), "texts": statistics.mean(texts[1:]), "peak_gb": peak}


def main() -> None:
    """Measure each row in a process of its own and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shape", choices=("late_interaction", "cross_encoder"), default="late_interaction")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--row", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    default = {"attention": "eager", "dropout": 0.0, "order": "runs", "bf16": True}
    if arguments.row:
        print(json.dumps(measure(arguments.shape, **{**default, **ROWS[arguments.row]}, steps=arguments.steps)))
        return
    found = {}
    machine = platform.processor() or platform.machine()
    print(f"{machine}; {arguments.shape}, 32 pairs a step, bundled set, both languages")
    print(f"{'row':<30}{'s/step':>8}{'ratio':>8}{'texts':>8}{'peak GB':>9}")
    for row in ROWS:
        command = [sys.executable, __file__, "--row", row, "--steps", str(arguments.steps), "--shape", arguments.shape]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[row] = json.loads(done.stdout.strip().splitlines()[-1])
        r = found[row]
        ratio = r["seconds"] / found["default"]["seconds"]
        print(f"{row:<30}{r['seconds']:>8.2f}{ratio:>8.2f}{r['texts']:>8.0f}{r['peak_gb']:>9.1f}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
