"""Held: one score call a level, scores back at their trials, costs added up, thresholds fitted on what dev decides."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from citeverifier.records import Example, Pair, Support
from citeverifier.schemes.merged import Merged
from citeverifier.schemes.pairs import Pairs
from citeverifier.schemes.run import Threshold, fit_thresholds, run_scheme, saved_thresholds
from citeverifier.verifiers.base import Scores

PARTIAL, FULL = Support.PARTIAL, Support.FULL
HALF = {PARTIAL: Threshold(0.5, "by hand"), FULL: Threshold(0.5, "by hand")}


@dataclass
class ByHand:
    """Scores by a function; nan comes with a reason naming the pair. Keeps what was asked."""

    of: Callable[[Pair, Support], float]
    notes: Mapping[str, int] = field(default_factory=dict)
    asked: list[tuple[Support, list[str]]] = field(default_factory=list)
    name: str = "by hand"

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        self.asked.append((level, [pair.id for pair in pairs]))
        values = np.array([self.of(pair, level) for pair in pairs], dtype=np.float64)
        reasons = {i: f"no score for {pair.id}" for i, pair in enumerate(pairs) if math.isnan(values[i])}
        return Scores(values, reasons, distinct=len(pairs) - 1, calls=2, tokens=100, notes=self.notes)


def number(pair: Pair) -> int:
    return int(pair.id.removeprefix("p"))


def test_one_call_a_level_and_every_score_at_its_trial(pairs: list[Pair]) -> None:
    def of(pair: Pair, level: Support) -> float:
        return math.nan if number(pair) == 4 and level == FULL else number(pair) / 100 + level / 10

    verifier = ByHand(of)
    predictions, _ = run_scheme(Pairs(), verifier, pairs, HALF)
    assert verifier.asked == [(PARTIAL, [pair.id for pair in pairs]), (FULL, [pair.id for pair in pairs])]
    assert len(predictions) == 48
    for prediction in predictions:
        expected = of(prediction.trial.pair, prediction.trial.level)
        if math.isnan(expected):
            assert (prediction.score, prediction.decision, prediction.reason) == (None, None, "no score for p4")
        else:
            assert (prediction.score, prediction.reason) == (expected, None)
    assert sum(prediction.score is None for prediction in predictions) == 1


def test_a_level_nobody_asks_about_is_not_scored(worked_example: Example) -> None:
    verifier = ByHand(lambda pair, level: 0.9)
    predictions, cost = run_scheme(Merged(), verifier, [worked_example], {FULL: Threshold(0.95, "by hand")})
    assert [level for level, _ in verifier.asked] == [FULL]
    assert [prediction.decision for prediction in predictions] == [False] * 5
    assert (cost.pairs, cost.distinct_pairs, cost.calls, cost.tokens) == (5, 4, 2, 100)


def test_costs_and_notes_add_up_over_the_levels(pairs: list[Pair]) -> None:
    _, cost = run_scheme(Pairs(), ByHand(lambda pair, level: 0.5, notes={"windowed": 3, "packed": 0}), pairs, HALF)
    assert (cost.pairs, cost.distinct_pairs, cost.calls, cost.tokens) == (48, 46, 4, 200)
    assert cost.notes == {"windowed": 6, "packed": 0}
    assert cost.seconds > 0


def test_nothing_to_ask_is_an_error(worked_example: Example) -> None:
    statement = replace(worked_example.statements[0], citations=(), altered_in=())
    with pytest.raises(ValueError, match=r"scheme=merged: expected .*citations.*, came none in 1 "):
        run_scheme(Merged(), ByHand(lambda pair, level: 0.5), [replace(worked_example, statements=(statement,))], HALF)


def test_thresholds_are_fitted_per_level(pairs: list[Pair]) -> None:
    # Labels go full, partial, none, full ...: 0.9, 0.6, 0.2.
    scores = {Support.FULL: 0.9, Support.PARTIAL: 0.6, Support.NONE: 0.2}
    fitted = fit_thresholds(ByHand(lambda pair, level: scores[pair.support_min or Support.NONE]), pairs, "dev.jsonl")
    assert {level: threshold.value for level, threshold in fitted.items()} == pytest.approx({PARTIAL: 0.4, FULL: 0.75})
    assert {threshold.source for threshold in fitted.values()} == {"fitted on 24 dev pairs of dev.jsonl"}


def test_thresholds_are_fitted_on_what_is_decided_and_scored(pairs: list[Pair]) -> None:
    undecided = [replace(pair, id="p97", support_min=Support.NONE, support_max=FULL) for pair in pairs]

    def of(pair: Pair, level: Support) -> float:
        if pair.support_min == FULL:
            return 0.9
        # What should be false scores higher, so nothing beats "all true"; were the unscored taken for 0, 0.45 would.
        return math.nan if pair.support_min == Support.NONE and number(pair) % 2 else 0.95

    verifier = ByHand(of)
    fitted = fit_thresholds(verifier, [*pairs, *undecided], "dev")
    assert {level: threshold.value for level, threshold in fitted.items()} == {PARTIAL: 0.0, FULL: 0.0}
    assert [len(asked) for _, asked in verifier.asked] == [24, 24]


@pytest.mark.parametrize(
    ("keep", "level"),
    [
        ({Support.NONE}, "partial"),
        ({Support.PARTIAL, Support.FULL}, "partial"),
        ({Support.NONE, Support.PARTIAL}, "full"),
        (set(), "partial"),
    ],
)
def test_no_thresholds_from_one_class(pairs: list[Pair], keep: set[Support], level: str) -> None:
    dev = [pair for pair in pairs if pair.support_min in keep]
    with pytest.raises(ValueError, match=rf"my-dev: expected dev pairs that reach level {level} .* fit=\[...\]"):
        fit_thresholds(ByHand(lambda pair, level: 0.5), dev, "my-dev")


def test_saved_thresholds_come_from_the_checkpoint() -> None:
    @dataclass
    class Brings:
        thresholds: Mapping[Support, float]

    assert saved_thresholds(Brings({PARTIAL: 0.4, FULL: 0.8})) == {
        PARTIAL: Threshold(0.4, "fitted on dev in training"),
        FULL: Threshold(0.8, "fitted on dev in training"),
    }
