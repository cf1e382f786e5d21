"""Held: twins are told apart where the statement is true *and* its twin false on the same premise; by kind of edit."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

from citeverifier.data.mini import load_mini
from citeverifier.evaluation.schemes.base import decide
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.evaluation.schemes.shares import twin_shares
from citeverifier.evaluation.schemes.trials import Prediction
from citeverifier.records import Example, Support


def scored(examples: list[Example], scores: dict[str, float], threshold: float = 0.5) -> list[Prediction]:
    """Predictions of separate whose trials score by setting; others score 0.5."""
    trials = Separate().trials(examples)
    return decide(trials, [scores.get(t.setting, 0.5) for t in trials], {}, {Support.PARTIAL: threshold})


def rights(predictions: list[Prediction], *, default: bool = False) -> list[bool]:
    shares = twin_shares(predictions, "correct", "incorrect.altered", default=default)
    return [share.right for share in shares if share.metric == "twin_accuracy"]


def test_both_sides_must_be_right(worked_example: Example) -> None:
    outcomes = {
        (true, false): rights(scored([worked_example], {"correct": true, "incorrect.altered": false}))
        for true in (0.2, 0.8)
        for false in (0.2, 0.8)
    }
    assert outcomes == {(0.8, 0.2): [True], (0.8, 0.8): [False], (0.2, 0.2): [False], (0.2, 0.8): [False]}


def test_only_premises_asked_on_both_sides_count(worked_example: Example) -> None:
    predictions = scored([worked_example], {"correct": 0.8, "incorrect.altered": 0.2})
    assert len(rights(predictions)) == 1  # document 0; document 1 was not altered
    moved = [
        replace(p, trial=replace(p.trial, premise=(1,))) if p.trial.setting == "incorrect.altered" else p
        for p in predictions
        if p.trial.premise == (0,)
    ]
    assert rights(moved) == []


def test_the_premises_order_does_not_matter(worked_example: Example) -> None:
    predictions = scored([worked_example], {"correct": 0.8, "incorrect.altered": 0.2})
    premises = {"correct": (0, 5), "incorrect.altered": (5, 0)}
    shuffled = [
        replace(p, trial=replace(p.trial, premise=premises[p.trial.setting]))
        for p in predictions
        if p.trial.premise == (0,)
    ]
    assert rights(shuffled) == [True]


def test_an_unscored_side_leaves_the_twin_out(worked_example: Example) -> None:
    assert rights(scored([worked_example], {"correct": math.nan, "incorrect.altered": 0.2})) == []
    assert rights(scored([worked_example], {"correct": 0.8, "incorrect.altered": math.nan})) == []


def test_default_decides_at_one_half(worked_example: Example) -> None:
    predictions = scored([worked_example], {"correct": 0.8, "incorrect.altered": 0.6}, threshold=0.7)
    assert rights(predictions) == [True]
    assert rights(predictions, default=True) == [False]


def test_languages_and_statements_are_twins_of_their_own(worked_example: Example) -> None:
    both = [worked_example, replace(worked_example, lang="pl")]
    two = [replace(example, statements=example.statements * 2) for example in both]
    assert len(rights(scored(two, {"correct": 0.8, "incorrect.altered": 0.2}))) == 4


def test_shares_by_edit_sum_to_the_whole() -> None:
    examples = load_mini("test", "en")
    predictions = scored(examples, {"correct": 0.8, "incorrect.altered": 0.2})
    shares = twin_shares(predictions, "correct", "incorrect.altered", default=False)
    found = Counter(share.metric for share in shares)
    expected = Counter(
        f"twin_accuracy_{statement.edit}"
        for example in examples
        for statement in example.statements
        for _ in statement.altered_in
    )
    assert found == expected + Counter(twin_accuracy=expected.total())
    assert len(expected) > 3
    assert {share.example for share in shares} <= {example.id for example in examples}
