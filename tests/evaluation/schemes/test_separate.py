"""Held: separate asks one document at a time, at level partial: cited ones, twins with them, irrelevant ones."""

from __future__ import annotations

from dataclasses import replace

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
