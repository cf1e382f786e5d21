"""Running a scheme: its questions to the verifier, level by level or list by list, and back as predictions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from citeverifier.correction.base import Method
from citeverifier.evaluation.schemes.base import ByList, Corrects, InRounds, Prediction, Scheme, Trial, predict
from citeverifier.evaluation.thresholds import LEVELS, Threshold
from citeverifier.records import Support
from citeverifier.verifiers.base import Listing, Scorer, Scores, Selection, Selector, Tunable


@dataclass
class Cost:
    """What a run took: wall seconds of scoring, pairs asked, distinct pairs scored, calls and tokens, other counts.

    `money`: what the calls cost, in the currency of their prices; None where nothing is paid for. `latency`: seconds by
    percentile ("p50", "p90") of a factual point whose answer came alone; empty where answers are not corrected.
    """

    seconds: float = 0.0
    pairs: int = 0
    distinct_pairs: int = 0
    calls: int = 0
    tokens: int = 0
    notes: dict[str, int] = field(default_factory=dict)
    money: float | None = None
    latency: dict[str, float] = field(default_factory=dict)

    def add(self, spent: Scores | Selection) -> None:
        """Add what a call cost. Scores from a cache count with the seconds that they once took."""
        self.distinct_pairs += spent.distinct
        self.calls += spent.calls
        self.tokens += spent.tokens
        if spent.money is not None:
            self.money = (self.money or 0.0) + spent.money
        self.seconds += spent.saved_seconds
        for note, number in spent.notes.items():
            self.notes[note] = self.notes.get(note, 0) + number


def run_scheme(
    scheme: Scheme,
    verifier: Scorer | Selector | Method,
    records: Sequence[Any],
    thresholds: Mapping[Support, Threshold],
) -> tuple[list[Prediction], Cost]:
    """Ask what the scheme asks and decide by the thresholds; raises ValueError where there is nothing to ask."""
    trials = trials_of(scheme, records)
    cost = Cost()
    started = time.perf_counter()
    if isinstance(scheme, ByList):
        cost.pairs = len(trials)
        predictions = _select(scheme, cast(Selector, verifier), trials, cost)
    elif isinstance(scheme, Corrects):
        cost.pairs = len(trials)
        predictions, spent, latencies = scheme.correct(records, trials, cast(Method, verifier))
        for one in spent:
            cost.add(one)
        cost.latency = {f"p{q}": round(float(np.percentile(latencies, q)), 6) for q in (50, 90) if latencies}
    elif isinstance(scheme, InRounds):
        answers: list[Prediction] = []
        while asked := scheme.questions(trials, answers):
            answers += _score(cast(Scorer, verifier), asked, thresholds, cost)
        predictions = scheme.fold(trials, answers)
    else:
        predictions = _score(cast(Scorer, verifier), trials, thresholds, cost)
    cost.seconds += time.perf_counter() - started
    return predictions, cost


def trials_of(scheme: Scheme, records: Sequence[Any]) -> list[Trial]:
    """The scheme's trials; raises ValueError where there is none."""
    trials = scheme.trials(records)
    if not trials:
        raise ValueError(
            f"scheme={scheme.name}: expected statements with citations, came none in {len(records)} records"
        )
    return trials


def _score(
    verifier: Scorer, trials: Sequence[Trial], thresholds: Mapping[Support, Threshold], cost: Cost
) -> list[Prediction]:
    """One prediction a trial, one `score` call a level."""
    scores = np.full(len(trials), np.nan)
    reasons: dict[int, str] = {}
    cost.pairs += len(trials)
    for level in LEVELS:
        positions = [i for i, trial in enumerate(trials) if trial.level == level]
        if not positions:
            continue
        scored = verifier.score([trials[i].pair for i in positions], level)
        scores[positions] = scored.values
        reasons |= {positions[i]: reason for i, reason in scored.reasons.items()}
        cost.add(scored)
    return predict(trials, scores.tolist(), reasons, {level: t.value for level, t in thresholds.items()})


def listings_of(scheme: ByList, examples: Sequence[Any]) -> tuple[list[Listing], list[frozenset[int]]]:
    """The scheme's listings with the positions that each should get: what a `Tunable` selector is tuned on."""
    trials = cast(Scheme, scheme).trials(examples)
    asked = scheme.listings(trials)
    gold = [frozenset(at for at, i in enumerate(positions) if trials[i].gold) for _, positions in asked]
    return [listing for listing, _ in asked], gold


def _select(scheme: ByList, verifier: Selector, trials: Sequence[Trial], cost: Cost) -> list[Prediction]:
    """One prediction a trial: in or out of its statement's selection. A tuned selector is asked untuned, too."""
    asked = scheme.listings(trials)
    listings = [listing for listing, _ in asked]
    selections = verifier.select(listings)
    for selection in selections:
        cost.add(selection)
    at_default = verifier.untuned().select(listings) if isinstance(verifier, Tunable) else selections
    made: dict[int, Prediction] = {}
    for (_, positions), selection, default in zip(asked, selections, at_default, strict=True):
        for at, i in enumerate(positions):
            if selection.positions is None:
                reason = selection.reason or "the verifier made no selection"
                made[i] = Prediction(trials[i], None, None, None, reason)
            else:
                chosen = None if default.positions is None else at in default.positions
                made[i] = Prediction(trials[i], None, None, at in selection.positions, None, at_default=chosen)
    return [made[i] for i in range(len(trials))]
