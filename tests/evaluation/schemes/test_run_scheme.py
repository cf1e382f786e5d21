"""Held: one score call a level, scores back at their trials, costs added up."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from by_hand import HALF, ByHand

from citeverifier.evaluation.run import run_scheme
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.pairs import Pairs
from citeverifier.evaluation.thresholds import DecisionThreshold
from citeverifier.records import Example, Pair, Support

PARTIAL, FULL = Support.PARTIAL, Support.FULL


def number(pair: Pair) -> int:
    return int(pair.id.removeprefix("p"))


def test_one_call_a_level_and_every_score_at_its_trial(pairs: list[Pair]) -> None:
    def of(pair: Pair, level: Support) -> float:
        return math.nan if number(pair) == 4 and level == FULL else number(pair) / 100 + level / 10

    verifier = ByHand(of)
    predictions, _ = run_scheme(Pairs(), verifier, pairs, HALF)
    assert verifier.asked == [(PARTIAL, pairs), (FULL, pairs)]
    assert len(predictions) == 48
    for prediction in predictions:
        expected = of(prediction.trial.pair, prediction.trial.level)
        if math.isnan(expected):
            assert (prediction.score, prediction.decision, prediction.reason) == (None, None, "no answer")
        else:
            assert (prediction.score, prediction.reason) == (expected, None)
    assert sum(prediction.score is None for prediction in predictions) == 1


def test_a_level_nobody_asks_about_is_not_scored(worked_example: Example) -> None:
    verifier = ByHand(lambda pair, level: 0.9)
    predictions, cost = run_scheme(Merged(), verifier, [worked_example], {FULL: DecisionThreshold(0.95, "by hand")})
    assert [level for level, _ in verifier.asked] == [FULL]
    assert [prediction.decision for prediction in predictions] == [False] * 5
    assert (cost.pairs, cost.distinct_pairs, cost.calls, cost.tokens) == (5, 5, 1, 50)


def test_costs_and_notes_add_up_over_the_levels(pairs: list[Pair]) -> None:
    _, cost = run_scheme(Pairs(), ByHand(lambda pair, level: 0.5, notes={"windowed": 3, "packed": 0}), pairs, HALF)
    assert (cost.pairs, cost.distinct_pairs, cost.calls, cost.tokens) == (48, 48, 2, 480)
    assert cost.notes == {"windowed": 6, "packed": 0}
    assert cost.seconds > 0


def test_nothing_to_ask_is_an_error(worked_example: Example) -> None:
    statement = replace(worked_example.statements[0], citations=(), altered_in=())
    with pytest.raises(ValueError, match=r"scheme=merged: expected .*citations.*, got none in 1 "):
        run_scheme(Merged(), ByHand(lambda pair, level: 0.5), [replace(worked_example, statements=(statement,))], HALF)
