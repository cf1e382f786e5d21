"""Expected calibration error of runs of eval.py, by level: how far scores stand from the share that is true.

python benchmarks/calibration.py outputs/eval

Every predictions.jsonl below the folders is read. Scores are put in ten bins of equal size; the error is the mean
distance between a bin's mean score and its share of true trials, with a 95 % interval by bootstrap over questions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from citeverifier.evaluation.reporting.tables import print_table
from citeverifier.evaluation.schemes.base import value_text

BINS = 10
ROUNDS = 500
HEADER = ("run", "level", "trials", "calibration error")


def calibration_error(score: NDArray[np.float64], gold: NDArray[np.float64], bins: int = BINS) -> float:
    """The mean over bins of equal size of |mean score - share true|, weighted by their sizes."""
    order = np.argsort(score, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return float(sum(len(part) * abs(score[part].mean() - gold[part].mean()) for part in parts) / len(score))


def with_interval(score: NDArray[np.float64], gold: NDArray[np.float64], questions: Sequence[str]) -> list[float]:
    """[error, low, high]; a question's trials are drawn together."""
    members: dict[str, list[int]] = {}
    for position, question in enumerate(questions):
        members.setdefault(question, []).append(position)
    groups = [np.array(positions) for positions in members.values()]
    draw = np.random.default_rng(13)
    errors = []
    for _ in range(ROUNDS):
        chosen = np.concatenate([groups[i] for i in draw.integers(len(groups), size=len(groups))])
        errors.append(calibration_error(score[chosen], gold[chosen]))
    return [calibration_error(score, gold), *np.quantile(errors, [0.025, 0.975]).tolist()]


def rows_of(file: Path) -> list[tuple[str, ...]]:
    """A run's rows of the table, one a level."""
    with file.open(encoding="utf-8") as opened:
        lines = [json.loads(line) for line in opened]
    rows = []
    for level in ("partial", "full"):
        scored: list[dict[str, Any]] = [p for p in lines if p["level"] == level and p["score"] is not None]
        if scored:
            score, gold = (np.array([p[key] for p in scored], dtype=np.float64) for key in ("score", "gold"))
            error, *interval = with_interval(score, gold, [p["example"] for p in scored])
            rows.append((str(file.parent), level, str(len(scored)), value_text(error, interval)))
    return rows


def main(runs: Annotated[list[Path], typer.Argument(help="Folders of runs of eval.py.")]) -> None:
    """Print the table."""
    files = sorted(file for folder in runs for file in folder.rglob("predictions.jsonl"))
    if not files:
        raise SystemExit("expected predictions.jsonl below the folders, got none")
    print_table("calibration", HEADER, [row for file in files for row in rows_of(file)])


if __name__ == "__main__":
    typer.run(main)
