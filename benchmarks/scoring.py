"""Pairs a second against what one would use instead, on the same checkpoint and the same pairs: one table a model.

    python benchmarks/scoring.py [--pairs 1000] [--large 60] [--parts 3]

Rows: this package; sentence-transformers' CrossEncoder.predict as it comes, and in this package's number format;
transformers' text-classification pipeline as it comes. Each runs in a process of its own. The pairs are divided into
parts of like lengths; each part is scored by all rows in turn, so that what else the machine does hits all alike. The
columns: pairs a second (of all parts together); times `predict` as it comes and in the same format (median over parts)
by seconds and by processor seconds, which other processes hardly change; peak memory; greatest difference of a score
from `predict`'s in the same format.
Beside them the share of the processor's own speed in a matrix product (2048 x 2048, bf16 where native, measured before
each part) that this package reaches, counting the model's operations on unpadded tokens.
"""

from __future__ import annotations

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from common import Clock, examples, gemm_rate, machine, save_model, write

from citeverifier.evaluation.reporting.tables import print_table
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.models.device import native_bf16
from citeverifier.records import Pair, Support, pair_from_json, pair_to_json
from citeverifier.text.rendering import render_pair

OURS, PREDICT, SAME, PIPELINE = "this package", "predict, defaults", "predict, same format", "pipeline"
ROWS = (OURS, PREDICT, SAME, PIPELINE)


def hotpot_pairs(count: int, tokenizer: Any) -> tuple[list[Pair], list[int], str]:
    """Distinct pairs that Merged and Separate ask, of 512 tokens at most, their numbers of tokens, and of what data."""
    found, data = examples(400)
    distinct: dict[Any, Pair] = {}
    for scheme in (Merged(), Separate()):
        for trial in scheme.trials(found):
            distinct.setdefault((trial.pair.statement, trial.pair.documents), trial.pair)
    pairs = list(distinct.values())
    random.Random(13).shuffle(pairs)
    lengths = [len(ids) for ids in tokenizer([render_pair(p, context=False) for p in pairs])["input_ids"]]
    kept = [i for i, length in enumerate(lengths) if length <= 512][:count]
    if len(kept) < count:
        raise ValueError(f"expected {count} pairs, came {len(kept)} from {data}")
    return [pairs[i] for i in kept], [lengths[i] for i in kept], data


def operations(tokens: int, config: Any) -> float:
    """Multiplications and additions of a BERT encoder's matrix products on one text."""
    h, f = config["hidden_size"], config["intermediate_size"]
    return float(config["num_hidden_layers"] * (2 * tokens * (4 * h * h + 2 * h * f) + 4 * tokens * tokens * h))


# --- one row, in a process of its own -------------------------------------------------------------------------------


def scorer(row: str, folder: str) -> Callable[[Sequence[Pair]], list[float]]:
    """What a row makes of pairs: P(support >= partial)."""
    if row == OURS:
        from citeverifier.models.cut_points import probability
        from citeverifier.verifiers.ordinal import OrdinalVerifier

        verifier = OrdinalVerifier(folder)

        def ours(pairs: Sequence[Pair]) -> list[float]:
            logits = verifier.engine.logits(pairs, Support.PARTIAL)  # no memory of pairs scored before
            return [float(x) for x in probability(logits.values, Support.PARTIAL, verifier.config.delta)]

        return ours
    if row == PIPELINE:
        from transformers import pipeline

        classify = pipeline("text-classification", model=folder, function_to_apply="sigmoid")

        def piped(pairs: Sequence[Pair]) -> list[float]:
            texts = [dict(zip(("text", "text_pair"), render_pair(p, context=False), strict=True)) for p in pairs]
            return [found["score"] for found in classify(texts)]

        return piped
    from sentence_transformers import CrossEncoder

    options = {"dtype": "bfloat16" if native_bf16() else "float32"} if row == SAME else {}
    model = CrossEncoder(folder, model_kwargs=options)
    return lambda pairs: [float(x) for x in model.predict([render_pair(p, context=False) for p in pairs])]


def work(row: str, folder: str, file: str) -> None:
    """Load and warm up, then score the parts asked for on standard input, one JSON line each."""
    parts = [[pair_from_json(pair) for pair in part] for part in json.loads(Path(file).read_text())]
    score = scorer(row, folder)
    score(parts[0][-8:])
    print("ready", flush=True)
    for line in sys.stdin:
        with Clock() as clock:
            scores = score(parts[int(line)])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        row = {"seconds": clock.wall, "processor": clock.processor, "scores": scores, "peak_gb": peak}
        print(json.dumps(row), flush=True)


# --- the table ------------------------------------------------------------------------------------------------------


def measure(title: str, folder: Path, count: int, number: int) -> dict[str, Any]:
    """One table: every row on every part."""
    from citeverifier.models.checkpoint import load_tokenizer

    pairs, lengths, data = hotpot_pairs(count, load_tokenizer(str(folder), None))
    order = sorted(range(count), key=lengths.__getitem__)
    parts = [order[k::number] for k in range(number)]
    file = folder / "pairs.json"
    file.write_text(json.dumps([[pair_to_json(pairs[i]) for i in part] for part in parts]))
    config = json.loads((folder / "config.json").read_text())
    print(f"\n{title}: {count} pairs of {data}, {sum(lengths) / count:.0f} tokens on average; {machine()}", flush=True)
    command = [sys.executable, __file__, "--folder", str(folder), "--file", str(file), "--row"]
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", "TRANSFORMERS_VERBOSITY": "error"}
    workers = {
        row: subprocess.Popen(
            [*command, row], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=environment,
        )
        for row in ROWS
    }  # fmt: skip
    took: dict[str, list[dict[str, Any]]] = {row: [] for row in ROWS}
    shares: dict[str, list[float]] = {"seconds": [], "processor": []}
    for worker in workers.values():
        if ask(worker, None) != "ready":
            raise RuntimeError(f"{worker.args!r} did not start; run it by hand to see why")
    for k, part in enumerate(parts):
        for row in ROWS if k % 2 == 0 else ROWS[::-1]:
            before = gemm_rate(native_bf16()) if row == OURS else {}
            took[row].append(json.loads(ask(workers[row], k)))
            if row == OURS:
                after, done = gemm_rate(native_bf16()), sum(operations(lengths[i], config) for i in part)
                for name, values in shares.items():
                    values.append(done / took[row][-1][name] / statistics.mean([before[name], after[name]]))
    for worker in workers.values():
        worker.terminate()
    share = {name: statistics.median(values) for name, values in shares.items()}
    rows = {row: compared(row, took, count) for row in ROWS}
    show(title, rows, share)
    return {"pairs": count, "data": data, "share_of_gemm": share, "rows": rows}


def compared(row: str, took: dict[str, list[dict[str, Any]]], count: int) -> dict[str, Any]:
    """A row's numbers: its speed, ratios to both forms of `predict`, peak memory, greatest difference of a score."""
    like = PREDICT if row == PIPELINE else SAME
    differences = [
        abs(a - b) for mine, theirs in zip(took[row], took[like], strict=True)
        for a, b in zip(mine["scores"], theirs["scores"], strict=True)
    ]  # fmt: skip
    return {
        "pairs_per_second": count / sum(part["seconds"] for part in took[row]),
        **{
            f"times_{other}, {kind}": statistics.median(
                theirs[kind] / mine[kind] for mine, theirs in zip(took[row], took[other], strict=True)
            )
            for kind in ("seconds", "processor")
            for other in (PREDICT, SAME)
        },
        "peak_gb": max(part["peak_gb"] for part in took[row]),
        "difference": max(differences),
    }


def show(title: str, rows: dict[str, dict[str, Any]], share: dict[str, float]) -> None:
    """Print the rows and the share of the processor's speed."""
    ratios = [f"times_{other}, {kind}" for kind in ("seconds", "processor") for other in (PREDICT, SAME)]
    header = ("row", "pairs/s", *(f"x {name.removeprefix('times_')}" for name in ratios), "peak GB", "difference")
    table = [
        (
            name, f"{row['pairs_per_second']:.1f}", *(f"{row[ratio]:.2f}" for ratio in ratios), f"{row['peak_gb']:.2f}",
            f"{row['difference']:.5f}",
        )
        for name, row in rows.items()
    ]  # fmt: skip
    print_table(title, header, table)
    print(
        f"share of the matrix product's speed: {share['seconds']:.0%} of its seconds, {share['processor']:.0%} of its "
        "processor seconds",
        flush=True,
    )


def ask(worker: subprocess.Popen[str], part: int | None) -> str:
    """A worker's next line, after it was told which part to score."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    if part is not None:
        worker.stdin.write(f"{part}\n")
        worker.stdin.flush()
    while (line := worker.stdout.readline().strip()) != "ready" and line and not line.startswith("{"):
        pass  # what a library prints
    return line


def main(
    pairs: Annotated[int, typer.Option(help="On the small one; 0 leaves it out.")] = 1000,
    large: Annotated[int, typer.Option(help="On HerBERT-large's size; 0 leaves it out.")] = 60,
    parts: int = 3,
    row: Annotated[str | None, typer.Option(hidden=True)] = None,
    folder: Annotated[str, typer.Option(hidden=True)] = "",
    file: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Measure the shipped verifier's size and a model of HerBERT-large's size."""
    if row:
        work(row, folder, file)
        return
    found = {}
    with tempfile.TemporaryDirectory() as made:
        if pairs:
            model = save_model(Path(made) / "small", "cross_encoder")
            found["small"] = measure("small", model, pairs, parts)
        if large:
            model = save_model(Path(made) / "large", "cross_encoder", large=True)
            found["large"] = measure("HerBERT-large's size", model, large, parts)
    write("scoring", found)


if __name__ == "__main__":
    typer.run(main)
