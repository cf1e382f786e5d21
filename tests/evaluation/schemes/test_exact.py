"""Held: a statement is exact where all its trials are right; one with an unscored trial counts neither way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from citeverifier.evaluation.schemes.base import decide
from citeverifier.evaluation.schemes.cite_separate import CiteSeparate
from citeverifier.evaluation.schemes.shares import Share, exact_shares
from citeverifier.evaluation.schemes.trials import Trial
from citeverifier.records import Document, Example, Statement, Support


def exact(examples: list[Example], score: Callable[[Trial], float], *, default: bool = False) -> list[Share]:
    trials = CiteSeparate().trials(examples)
    predictions = decide(trials, [score(trial) for trial in trials], {}, {Support.PARTIAL: 0.7})
    return exact_shares(predictions, default=default)


def right(trial: Trial) -> float:
    return 0.9 if trial.gold else 0.1


def test_one_item_a_statement_twin_and_language(worked_example: Example) -> None:
    both = [worked_example, replace(worked_example, lang="pl")]
    assert exact(both, right) == [Share("exact", "worked", True)] * 4


def test_one_wrong_trial_makes_the_statement_wrong(worked_example: Example) -> None:
    for wrong in range(20):
        trials = CiteSeparate().trials([worked_example])
        shares = exact([worked_example], lambda t, w=trials[wrong]: 1 - right(t) if t == w else right(t))  # type: ignore[misc]
        assert [share.right for share in shares] == [wrong >= 10, wrong < 10]


def test_an_unscored_trial_leaves_its_statement_out_right_or_wrong(worked_example: Example) -> None:
    def unscored(at: int, otherwise: Callable[[Trial], float]) -> list[bool]:
        def score(trial: Trial) -> float:
            return math.nan if trial.setting == "statement" and trial.premise == (at,) else otherwise(trial)

        return [share.right for share in exact([worked_example], score)]

    for at in (0, 4, 9):
        assert unscored(at, right) == [True]
        assert unscored(at, lambda trial: 1 - right(trial)) == [False]
    assert exact([worked_example], lambda _: math.nan) == []


def test_default_decides_at_one_half(worked_example: Example) -> None:
    def score(trial: Trial) -> float:
        return 0.6 if trial.gold else 0.1  # below the fitted 0.7

    assert [share.right for share in exact([worked_example], score)] == [False, True]
    assert [share.right for share in exact([worked_example], score, default=True)] == [True, True]


@given(st.lists(st.lists(st.sampled_from([True, False, None]), min_size=3, max_size=3), min_size=1, max_size=6))
def test_against_its_definition(outcomes: list[list[bool | None]]) -> None:
    documents = tuple(Document("", f"Text {i}.") for i in range(3))
    statements = tuple(Statement(f"Statement {i}.", (i % 3,)) for i in range(len(outcomes)))
    example = Example("e", "en", "e", "", documents, statements)

    def score(trial: Trial) -> float:
        outcome = outcomes[int(trial.pair.statement_id.removeprefix("e/s"))][trial.premise[0]]
        return math.nan if outcome is None else right(trial) if outcome else 1 - right(trial)

    expected = [all(trials) for trials in outcomes if None not in trials]
    assert [share.right for share in exact([example], score)] == expected
