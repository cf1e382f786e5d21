"""Running a scheme: trials to the verifier, level by level, and back as predictions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from citeverifier.metrics.decisions import best_threshold
from citeverifier.records import Pair, Support
from citeverifier.schemes.base import Prediction, Scheme, predict
from citeverifier.verifiers.base import Calibrated, Scorer

LEVELS = (Support.PARTIAL, Support.FULL)


@dataclass
class Cost:
    """What a run took: wall seconds of scoring, pairs asked, distinct pairs scored, calls and tokens, other counts."""

    seconds: float = 0.0
    pairs: int = 0
    distinct_pairs: int = 0
    calls: int = 0
    tokens: int = 0
    notes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Threshold:
    """A decision threshold and where it came from."""

    value: float
    source: str


def run_scheme(
    scheme: Scheme, verifier: Scorer, records: Sequence[Any], thresholds: Mapping[Support, Threshold]
) -> tuple[list[Prediction], Cost]:
    """Ask every trial of the scheme and decide by the thresholds; raises ValueError where there is nothing to ask."""
    trials = scheme.trials(records)
    if not trials:
        raise ValueError(
            f"scheme={scheme.name}: expected statements with citations, came none in {len(records)} records"
        )
    cost = Cost(pairs=len(trials))
    scores = np.full(len(trials), np.nan)
    reasons: dict[int, str] = {}
    started = time.perf_counter()
    for level in LEVELS:
        positions = [i for i, trial in enumerate(trials) if trial.level == level]
        if not positions:
            continue
        scored = verifier.score([trials[i].pair for i in positions], level)
        scores[positions] = scored.values
        reasons |= {positions[i]: reason for i, reason in scored.reasons.items()}
        cost.distinct_pairs += scored.distinct
        cost.calls += scored.calls
        cost.tokens += scored.tokens
        for note, number in scored.notes.items():
            cost.notes[note] = cost.notes.get(note, 0) + number
    cost.seconds = time.perf_counter() - started
    return predict(trials, scores.tolist(), reasons, {level: t.value for level, t in thresholds.items()}), cost


def fit_thresholds(verifier: Scorer, dev: Sequence[Pair], source: str) -> dict[Support, Threshold]:
    """Per level the threshold of greatest balanced accuracy on dev pairs.

    Raises ValueError where dev lacks pairs that reach a level, or pairs that do not.
    """
    fitted = {}
    for level in LEVELS:
        decided = [(pair, gold) for pair in dev if (gold := pair.reaches(level)) is not None]
        values = verifier.score([pair for pair, _ in decided], level).values
        scored = ~np.isnan(values)
        value = best_threshold(np.array([gold for _, gold in decided], dtype=bool)[scored], values[scored])
        if np.isnan(value):
            raise ValueError(
                f"{source}: expected dev pairs that reach level {level.label} and ones that do not, came one kind; "
                "name other dev data with fit=[...]"
            )
        fitted[level] = Threshold(value, f"fitted on {int(scored.sum())} dev pairs of {source}")
    return fitted


def saved_thresholds(verifier: Calibrated) -> dict[Support, Threshold]:
    """The thresholds that a checkpoint brings along."""
    return {level: Threshold(value, "fitted on dev in training") for level, value in verifier.thresholds.items()}
