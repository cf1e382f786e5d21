"""Held: merged asks the worked example's premises, one a setting, at level full, and expects what the paper does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.trials import Trial
from citeverifier.records import Example, Support

GOLD = {"correct": True, "incorrect": False, "replaced": False, "removed": False, "added": True}


def by_setting(example: Example, scheme: Merged) -> dict[str, Trial]:
    trials = scheme.trials([example])
    settings = {trial.setting: trial for trial in trials}
    assert len(settings) == len(trials), "one trial a setting"
    return settings


def over_seeds(example: Example) -> Iterator[dict[str, Trial]]:
    for seed in range(60):
        yield by_setting(example, Merged(seed=seed))


def test_worked_example(worked_example: Example) -> None:
    statement = worked_example.statements[0]
    for settings in over_seeds(worked_example):
        assert {name: trial.gold for name, trial in settings.items()} == GOLD
        assert {trial.level for trial in settings.values()} == {Support.FULL}
        for name, trial in settings.items():
            assert trial.pair.statement == (statement.corrupted if name == "incorrect" else statement.text)
        premise = {name: set(trial.premise) for name, trial in settings.items()}
        assert premise["correct"] == premise["incorrect"] == {0, 1}
        assert len(premise["replaced"]) == 2
        assert len(premise["replaced"] & {0, 1}) == 1
        assert premise["removed"] in ({0}, {1})
        assert premise["added"] > {0, 1}
        assert len(premise["added"]) in (3, 4)


def test_every_draw_occurs(worked_example: Example) -> None:
    drawn: dict[str, set[object]] = {
        "removed": set(),
        "kept": set(),
        "added": set(),
        "order": set(),
        "distractor": set(),
    }
    for settings in over_seeds(worked_example):
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


def test_the_default_seed_draws_the_same_in_every_run_and_release(worked_example: Example) -> None:
    assert [(t.id, t.premise) for t in Merged().trials([worked_example])] == [
        ("merged/worked/s0/en/1", (0, 1)),
        ("merged/worked/s0/corrupted/en/2", (0, 1)),
        ("merged/worked/s0/en/3", (1, 3)),
        ("merged/worked/s0/en/4", (0,)),
        ("merged/worked/s0/en/5", (8, 4, 0, 1)),
    ]


def test_one_citation_is_neither_replaced_nor_removed(worked_example: Example) -> None:
    statement = replace(worked_example.statements[0], citations=(4,), altered_in=(4,))
    settings = by_setting(replace(worked_example, statements=(statement,)), Merged())
    assert set(settings) == {"correct", "incorrect", "added"}
    assert settings["correct"].premise == settings["incorrect"].premise == (4,)
    assert 4 in settings["added"].premise


def test_without_other_documents_nothing_is_replaced_or_added(worked_example: Example) -> None:
    short = replace(worked_example, documents=worked_example.documents[:2])
    assert set(by_setting(short, Merged())) == {"correct", "incorrect", "removed"}
