"""Held: predictions.jsonl has every key of its contract on every line, in JSON's own types, unscored as null."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from citeverifier.evaluation.reporting.predictions import prediction_to_json, write_predictions
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.pairs import Pairs
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.records import Example, Pair, Support


def test_a_line_by_hand(worked_example: Example, evaluate: Callable[..., Any]) -> None:
    predictions, _ = evaluate(Separate(), [worked_example], lambda t: 0.25, thresholds={Support.PARTIAL: 0.2})
    assert prediction_to_json(predictions[2], "separate") == {
        "id": "separate/worked/s0/corrupted/en/3",
        "example": "worked",
        "lang": "en",
        "scheme": "separate",
        "setting": "incorrect.altered",
        "statement_id": "worked/s0/corrupted",
        "kind": "joined",
        "edit": "date",
        "premise": [0],
        "level": "partial",
        "score": 0.25,
        "threshold": 0.2,
        "decision": True,
        "gold": False,
        "reason": None,
    }


def test_the_file_holds_every_prediction_in_order(
    worked_example: Example, evaluate: Callable[..., Any], tmp_path: Path
) -> None:
    def score(trial: Any) -> float:
        return math.nan if trial.setting == "removed" else len(trial.premise) / 10

    predictions, _ = evaluate(Merged(), [worked_example], score, reasons={3: "zażółć"})
    path = tmp_path / "run" / "predictions.jsonl"
    assert write_predictions(path, predictions, "merged") == 5
    assert [file.name for file in path.parent.iterdir()] == ["predictions.jsonl"]
    text = path.read_text(encoding="utf-8")
    assert "zażółć" in text
    rows = [json.loads(line) for line in text.splitlines()]
    assert rows == [prediction_to_json(prediction, "merged") for prediction in predictions]
    assert [row["setting"] for row in rows] == ["correct", "incorrect", "replaced", "removed", "added"]
    assert (rows[3]["score"], rows[3]["decision"], rows[3]["reason"]) == (None, None, "zażółć")
    assert {row["reason"] for row in rows if row["setting"] != "removed"} == {None}
    assert rows[4]["premise"] == list(predictions[4].trial.premise)


def test_pairs_have_no_positions(pairs: list[Pair], evaluate: Callable[..., Any]) -> None:
    predictions, _ = evaluate(Pairs(), pairs, lambda t: 0.5)
    rows = [prediction_to_json(prediction, "pairs") for prediction in predictions]
    assert {tuple(row["premise"]) for row in rows} == {()}
    assert {(row["setting"], row["level"]) for row in rows} == {("partial", "partial"), ("full", "full")}
