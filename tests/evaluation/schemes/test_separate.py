"""Held: separate asks one document at a time, at level partial: cited ones, twins with them, irrelevant ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citeverifier.evaluation.schemes.base import decide
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.records import Example, Support


def test_worked_example(worked_example: Example) -> None:
    statement = worked_example.statements[0]
    drawn = set()
    for seed in range(60):
        trials = Separate(seed=seed).trials([worked_example])
        assert {trial.level for trial in trials} == {Support.PARTIAL}
        asked = [(t.setting, t.pair.statement, t.premise, t.gold) for t in trials]
        assert asked[:4] == [
            ("correct", statement.text, (0,), True),
            ("correct", statement.text, (1,), True),
            ("incorrect.altered", statement.corrupted, (0,), False),
            ("incorrect.other", statement.corrupted, (1,), False),
        ]
        (first, second) = asked[4:]
        for setting, text, premise, gold in (first, second):
            assert (setting, text, gold) == ("irrelevant", statement.text, False)
            assert len(premise) == 1
            assert premise[0] in range(2, 10)
        assert first[2] != second[2], "two irrelevant documents, not one twice"
        drawn |= {first[2], second[2]}
    assert drawn == {(i,) for i in range(2, 10)}


def test_the_default_seed_draws_the_same_in_every_run_and_release(worked_example: Example) -> None:
    trials = Separate().trials([worked_example])
    assert [(t.id, t.premise) for t in trials[4:]] == [
        ("separate/worked/s0/en/5", (8,)),
        ("separate/worked/s0/en/6", (7,)),
    ]


def test_as_many_irrelevant_documents_as_citations_or_as_there_are(worked_example: Example) -> None:
    def irrelevant(citations: tuple[int, ...]) -> int:
        statement = replace(worked_example.statements[0], citations=citations, altered_in=())
        trials = Separate().trials([replace(worked_example, statements=(statement,))])
        return sum(trial.setting == "irrelevant" for trial in trials)

    assert [irrelevant(tuple(range(n))) for n in (1, 3, 8, 10)] == [1, 3, 2, 0]


def test_without_a_twin_nothing_is_incorrect(worked_example: Example) -> None:
    statement = replace(worked_example.statements[0], corrupted=None, altered_in=(), edit=None)
    trials = Separate().trials([replace(worked_example, statements=(statement,))])
    assert [trial.setting for trial in trials] == ["correct", "correct", "irrelevant", "irrelevant"]


def test_the_level_can_be_chosen(worked_example: Example) -> None:
    assert {trial.level for trial in Separate(level=Support.FULL).trials([worked_example])} == {Support.FULL}


@pytest.mark.parametrize(
    ("correct", "altered", "right"), [(0.9, 0.1, True), (0.9, 0.9, False), (0.1, 0.1, False), (0.1, 0.9, False)]
)
def test_twins_are_compared_on_the_altered_document(
    worked_example: Example, correct: float, altered: float, right: bool
) -> None:
    scheme = Separate()
    trials = scheme.trials([worked_example])
    # Document 1 answers the other way round, so that taking it for document 0 shows.
    on_altered: dict[tuple[str, tuple[int, ...]], float] = {
        ("correct", (0,)): correct,
        ("incorrect.altered", (0,)): altered,
    }
    scores = [on_altered.get((t.setting, t.premise), 1 - correct) for t in trials]
    shares = scheme.shares(decide(trials, scores, {}, {Support.PARTIAL: 0.5}), default=False)
    assert [(share.metric, share.right) for share in shares] == [
        ("twin_accuracy", right),
        ("twin_accuracy_date", right),
    ]
