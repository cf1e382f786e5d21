"""Running a scheme: its questions to the verifier, level by level or list by list, and back as predictions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from citeverifier.correction.base import Method
from citeverifier.cost import Cost
from citeverifier.evaluation.schemes.base import ByList, Corrects, InRounds, Prediction, Scheme, Trial, predict
from citeverifier.evaluation.thresholds import Threshold
from citeverifier.records import LEVELS, Support
from citeverifier.verifiers.base import Listing, Scorer, Selector


def run_scheme(
    scheme: Scheme,
    verifier: Scorer | Selector | Method,
    records: Sequence[Any],
    thresholds: Mapping[Support, Threshold],
) -> tuple[list[Prediction], Cost]:
    """Ask what the scheme asks and decide by the thresholds; raises ValueError where there is nothing to ask."""
    trials = trials_of(scheme, records)
    started = time.perf_counter()
    if isinstance(scheme, ByList):
        predictions, cost = _select(scheme, cast(Selector, verifier), trials)
    elif isinstance(scheme, Corrects):
        predictions, cost = scheme.correct(records, trials, cast(Method, verifier))
    elif isinstance(scheme, InRounds):
        answers: list[Prediction] = []
        cost = Cost()
        while asked := scheme.questions(trials, answers):
            scored, more = _score(cast(Scorer, verifier), asked, thresholds)
            answers += scored
            cost += more
        predictions = scheme.fold(trials, answers)
    else:
        predictions, cost = _score(cast(Scorer, verifier), trials, thresholds)
    # Scores from a cache count with the seconds that they once took.
    return predictions, cost + Cost(seconds=time.perf_counter() - started)


def trials_of(scheme: Scheme, records: Sequence[Any]) -> list[Trial]:
    """The scheme's trials; raises ValueError where there is none."""
    trials = scheme.trials(records)
    if not trials:
        raise ValueError(
            f"scheme={scheme.name}: expected statements with citations, came none in {len(records)} records"
        )
    return trials


def _score(
    verifier: Scorer, trials: Sequence[Trial], thresholds: Mapping[Support, Threshold]
) -> tuple[list[Prediction], Cost]:
    """One prediction a trial, one `score` call a level; and the cost."""
    scores = np.full(len(trials), np.nan)
    reasons: dict[int, str] = {}
    cost = Cost(pairs=len(trials))
    for level in LEVELS:
        positions = [i for i, trial in enumerate(trials) if trial.level == level]
        if not positions:
            continue
        scored = verifier.score([trials[i].pair for i in positions], level)
        scores[positions] = scored.values
        reasons |= {positions[i]: reason for i, reason in scored.reasons.items()}
        cost += scored.cost
    decided_by = {level: t.value for level, t in thresholds.items()}
    return predict(trials, scores.tolist(), reasons, decided_by), cost


def listings_of(scheme: ByList, examples: Sequence[Any]) -> tuple[list[Listing], list[frozenset[int]]]:
    """The scheme's listings with the positions that each should get: what a selector is tuned on."""
    trials = cast(Scheme, scheme).trials(examples)
    asked = scheme.listings(trials)
    gold = [frozenset(at for at, i in enumerate(positions) if trials[i].gold) for _, positions in asked]
    return [listing for listing, _ in asked], gold


def _select(scheme: ByList, verifier: Selector, trials: Sequence[Trial]) -> tuple[list[Prediction], Cost]:
    """One prediction a trial: in or out of its statement's selection. A tuned selector is asked untuned, too."""
    asked = scheme.listings(trials)
    listings = [listing for listing, _ in asked]
    selections = verifier.select(listings)
    cost = sum((selection.cost for selection in selections), Cost(pairs=len(trials)))
    at_default = verifier.untuned().select(listings) if verifier.parameters else selections
    made: dict[int, Prediction] = {}
    for (_, positions), selection, default in zip(asked, selections, at_default, strict=True):
        for at, i in enumerate(positions):
            if selection.positions is None:
                reason = selection.reason or "the verifier made no selection"
                made[i] = Prediction(trials[i], None, None, None, reason)
            else:
                chosen = None if default.positions is None else at in default.positions
                made[i] = Prediction(trials[i], None, None, at in selection.positions, None, at_default=chosen)
    return [made[i] for i in range(len(trials))], cost
