"""Shared by the reporting tests: predictions and their summary, from scores given by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from citeverifier.records import Support
from citeverifier.reporting.summary import summarise
from citeverifier.schemes.base import Prediction, Scheme, Trial, predict
from citeverifier.schemes.run import Cost, Threshold

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
    predictions = predict(trials, [score(trial) for trial in trials], reasons or {}, values)
    summary = summarise(
        predictions,
        scheme,
        verifier="by hand",
        lang=lang,
        data={"path": "somewhere", "split": None, "records": len(records), "sha256": "0" * 64},
        thresholds={level: Threshold(value, "set by hand") for level, value in values.items()},
        cost=cost or Cost(pairs=len(trials)),
        seed=seed,
    )
    return predictions, summary


@pytest.fixture
def evaluate() -> Callable[..., Evaluated]:
    """(scheme, records, score of a trial, options) -> (predictions, the content of metrics.json)."""
    return _evaluate
