"""Held: question-level accuracy is a mean over questions; bad lines are named; nothing judged is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from citeverifier.answers.correction.question_accuracy import question_accuracy
from citeverifier.records import RecordError


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "annotated.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def answer(identity: str, *verdicts: bool | None) -> dict[str, Any]:
    return {"id": identity, "facts": [{"text": f"Fact {i}.", "correct": v} for i, v in enumerate(verdicts)]}


def test_the_mean_of_the_shares_of_questions(tmp_path: Path) -> None:
    path = written(tmp_path, answer("a", True, True, False, True), answer("b", False, None), answer("c", None))
    found = question_accuracy(path)
    assert found.value == pytest.approx((3 / 4 + 0) / 2)
    assert (found.low, found.high) == (0.0, 0.75)


def test_bad_lines_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        RecordError, match=r"annotated\.jsonl:2: key 'facts\[0\]\.correct': expected true or false, got 'yes'"
    ):
        question_accuracy(written(tmp_path, answer("a", True), {"id": "b", "facts": [{"correct": "yes"}]}))
    with pytest.raises(RecordError, match=r":1: key 'facts': expected a value, got nothing"):
        question_accuracy(written(tmp_path, {"id": "a"}))
    with pytest.raises(RecordError, match="each id once"):
        question_accuracy(written(tmp_path, answer("a", True), answer("a", True)))
    with pytest.raises(ValueError, match="got none in 1 answers"):
        question_accuracy(written(tmp_path, answer("a", None)))
