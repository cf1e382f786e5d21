"""Held: merged asks the worked example's premises, one a setting, at level full, and expects what the paper does."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.trials import Trial
from citeverifier.records import Example, Support


def by_setting(example: Example, scheme: Merged) -> dict[str, Trial]:
    trials = scheme.trials([example])
    settings = {trial.setting: trial for trial in trials}
    assert len(settings) == len(trials), "one trial a setting"
    return settings


def test_every_draw_occurs(worked_example: Example) -> None:
    drawn: defaultdict[str, set[object]] = defaultdict(set)
    for seed in range(60):
        settings = by_setting(worked_example, Merged(seed=seed))
        drawn["removed"].add(settings["removed"].premise)
        drawn["kept"].add(frozenset(settings["replaced"].premise) & {0, 1})
        drawn["added"].add(len(settings["added"].premise))
        drawn["order"].add(settings["correct"].premise)
        drawn["distractor"] |= set(settings["replaced"].premise) - {0, 1}
    assert drawn["removed"] == {(0,), (1,)}
    assert drawn["kept"] == {frozenset({0}), frozenset({1})}
    assert drawn["added"] == {3, 4}
    assert drawn["order"] == {(0, 1), (1, 0)}
    assert drawn["distractor"] == set(range(2, 10))


def test_worked_example(worked_example: Example) -> None:
    """The default seed draws the same in every run and release; test_scheme_base.py holds any example and seed."""
    trials = Merged().trials([worked_example])
    assert [(t.id, t.setting, t.premise, t.gold) for t in trials] == [
        ("merged/worked/s0/en/1", "correct", (0, 1), True),
        ("merged/worked/s0/corrupted/en/2", "incorrect", (0, 1), False),
        ("merged/worked/s0/en/3", "replaced", (1, 3), False),
        ("merged/worked/s0/en/4", "removed", (0,), False),
        ("merged/worked/s0/en/5", "added", (8, 4, 0, 1), True),
    ]
    assert {trial.level for trial in trials} == {Support.FULL}
    said = worked_example.statements[0]
    assert [trial.pair.statement for trial in trials] == [said.text, said.corrupted, *[said.text] * 3]


def test_one_citation_is_neither_replaced_nor_removed(worked_example: Example) -> None:
    statement = replace(worked_example.statements[0], citations=(4,), altered_in=(4,))
    settings = by_setting(replace(worked_example, statements=(statement,)), Merged())
    assert set(settings) == {"correct", "incorrect", "added"}
    assert settings["correct"].premise == settings["incorrect"].premise == (4,)
    assert 4 in settings["added"].premise


def test_without_other_documents_nothing_is_replaced_or_added(worked_example: Example) -> None:
    short = replace(worked_example, documents=worked_example.documents[:2])
    assert set(by_setting(short, Merged())) == {"correct", "incorrect", "removed"}
