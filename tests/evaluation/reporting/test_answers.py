"""Held: predictions read back sorted, hashed by what was asked, with unscored trials marked; bad lines by number."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citeverifier.evaluation.reporting.answers import read_answers
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.trials import Trial
from citeverifier.records import Example, RecordError

Leave = Callable[..., Path]
SCORES = {"correct": 0.9, "incorrect": 0.8, "replaced": math.nan, "removed": 0.1, "added": 0.4}


def by_setting(trial: Trial) -> float:
    return SCORES[trial.setting]


@pytest.fixture
def file(leave: Leave, worked_example: Example, tmp_path: Path) -> Path:
    folder = leave(tmp_path / "run", Merged(), [worked_example], by_setting, label="x")
    return folder / "predictions.jsonl"


def rewrite(file: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    change(rows)
    file.write_text("\n".join(map(json.dumps, rows)))


def test_arrays(file: Path) -> None:
    answers = read_answers(file)
    assert (len(answers.examples), answers.statements) == (5, 2)
    assert (answers.scored.sum(), answers.decision.sum(), answers.gold.sum()) == (4, 2, 2)
    assert sorted(answers.score[answers.scored].tolist()) == [0.1, 0.4, 0.8, 0.9]
    assert np.isnan(answers.score[~answers.scored]).all()
    assert answers.edit.tolist().count("date") == 1, "the twin's trial alone"


def test_the_order_of_lines_does_not_matter(file: Path) -> None:
    before = read_answers(file)
    rewrite(file, lambda rows: random.Random(3).shuffle(rows))
    after = read_answers(file)
    assert after.asked == before.asked
    assert np.array_equal(after.gold, before.gold)


@pytest.mark.parametrize(
    ("key", "value", "same"),
    [
        ("score", 0.3, True),
        ("decision", None, True),
        ("gold", False, False),
        ("premise", [5], False),
        ("level", "partial", False),
    ],
)
def test_what_was_asked_is_hashed_and_not_what_was_said(file: Path, key: str, value: Any, same: bool) -> None:
    before = read_answers(file).asked
    rewrite(file, lambda rows: rows[0].update({key: value}))
    assert (read_answers(file).asked == before) is same


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: rows[1].pop("decision"), ":2: expected a prediction with keys .* none of decision"),
        (lambda rows: rows[3].update(gold=None), ":4: key 'gold': expected true or false, got None"),
    ],
)
def test_bad_lines_are_named(file: Path, change: Callable[[list[dict[str, Any]]], Any], told: str) -> None:
    rewrite(file, change)
    with pytest.raises(RecordError, match=told):
        read_answers(file)
