"""Shared by the reporting tests: predictions and their summary, from scores given by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from citeverifier.cost import Cost
from citeverifier.evaluation.reporting.plain import write_json
from citeverifier.evaluation.reporting.predictions import write_predictions
from citeverifier.evaluation.reporting.summary import summarise
from citeverifier.evaluation.schemes.base import Scheme, decide
from citeverifier.evaluation.schemes.trials import Prediction, Trial
from citeverifier.evaluation.thresholds import DecisionThreshold, Fitted
from citeverifier.records import Support

Evaluated = tuple[list[Prediction], dict[str, Any]]


def _evaluate(
    scheme: Scheme,
    records: Sequence[Any],
    score: Callable[[Trial], float],
    *,
    thresholds: Mapping[Support, float] | None = None,
    reasons: Mapping[int, str] | None = None,
    cost: Cost | None = None,
    seed: int = 13,
    lang: str = "en",
) -> Evaluated:
    trials = scheme.trials(records)
    values = thresholds or {Support.PARTIAL: 0.5, Support.FULL: 0.5}
    predictions = decide(trials, [score(trial) for trial in trials], reasons or {}, values)
    summary = summarise(
        predictions,
        scheme,
        records=records,
        verifier="by hand",
        lang=lang,
        data={"path": "somewhere", "split": None, "records": len(records), "sha256": "0" * 64},
        fitted=Fitted({level: DecisionThreshold(value, "fitted by hand") for level, value in values.items()}),
        cost=cost or Cost(pairs=len(trials)),
        seed=seed,
    )
    return predictions, summary


def _leave(
    folder: Path, scheme: Scheme, records: Sequence[Any], score: Callable[[Trial], float], *, label: str, **options: Any
) -> Path:
    predictions, summary = _evaluate(scheme, records, score, **options)
    folder.mkdir(parents=True)
    write_predictions(folder / "predictions.jsonl", predictions, scheme.name)
    write_json(folder / "metrics.json", summary | {"verifier": label})
    return folder


@pytest.fixture(scope="session")
def leave() -> Callable[..., Path]:
    """(folder, scheme, records, score of a trial, label=, options): leave a run's files there."""
    return _leave


@pytest.fixture(scope="session")
def evaluate() -> Callable[..., Evaluated]:
    """(scheme, records, score of a trial, options) -> (predictions, the content of metrics.json)."""
    return _evaluate
