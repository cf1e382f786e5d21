"""predictions.jsonl: what a verifier said of every trial, written before any metric is computed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from citeverifier.evaluation.schemes.trials import Prediction
from citeverifier.records import write_jsonl


def prediction_to_json(prediction: Prediction, scheme: str) -> dict[str, Any]:
    """One line of predictions.jsonl (docs/formats.md)."""
    trial, pair = prediction.trial, prediction.trial.pair
    return {
        "id": trial.id,
        "example": pair.example,
        "lang": pair.lang,
        "scheme": scheme,
        "setting": trial.setting,
        "statement_id": pair.statement_id,
        "kind": trial.kind,
        "edit": trial.edit,
        "premise": list(trial.premise),
        "level": trial.level.label,
        "score": prediction.score,
        "threshold": prediction.threshold,
        "decision": prediction.decision,
        "gold": trial.gold,
        "reason": prediction.reason,
    }


def write_predictions(path: Path, predictions: Iterable[Prediction], scheme: str) -> int:
    """Write predictions.jsonl whole, and return the number of lines."""
    return write_jsonl(path, (prediction_to_json(prediction, scheme) for prediction in predictions))


def write_answers(path: Path, predictions: Iterable[Prediction], scheme: str) -> int:
    """Write the answers that predictions were folded from, each once, in the same form; return their number."""
    answers = {answer.trial.id: answer for prediction in predictions for answer in prediction.answers}
    return write_jsonl(path, (prediction_to_json(answer, scheme) for answer in answers.values()))
