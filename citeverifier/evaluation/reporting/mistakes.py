"""The worst mistakes of a run, to be read: wrong decisions whose scores lie furthest from their thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import shorten

from citeverifier.evaluation.schemes.base import Table
from citeverifier.evaluation.schemes.trials import Prediction
from citeverifier.text.rendering import render_document

MOST = 5  # of each sort
LENGTH = 300  # characters of a statement, and of all its documents


def mistakes_table(predictions: Sequence[Prediction]) -> Table:
    """What was called supported and is not, then what is and was not called so: MOST statements each, worst first."""
    wrong = [p for p in predictions if p.decision is not None and p.decision != p.trial.gold]
    wrong.sort(key=lambda p: (-_distance(p), p.trial.id))
    rows = []
    for decision in (True, False):
        worst: dict[tuple[str, str, str], Prediction] = {}
        for prediction in wrong:
            if prediction.decision is decision:
                worst.setdefault(prediction.trial.statement, prediction)
        rows += [_row(prediction) for prediction in list(worst.values())[:MOST]]
    return "The worst mistakes", ["said", "score", "statement", "documents", "trial"], rows


def _distance(prediction: Prediction) -> float:
    if prediction.score is None or prediction.threshold is None:  # a selection has neither
        return 0.0
    return abs(prediction.score - prediction.threshold)


def _row(prediction: Prediction) -> list[str]:
    trial = prediction.trial
    said = f"{trial.level.label}: {'yes' if prediction.decision else 'no'}"
    score = "-" if prediction.score is None else f"{prediction.score:.3f}"
    documents = map(render_document, trial.pair.documents)
    return [said, score, _cell([trial.pair.statement]), _cell(documents), trial.id]


def _cell(texts: Iterable[str]) -> str:
    """Texts in a cell of a Markdown table."""
    told = list(texts)
    length = LENGTH // max(1, len(told))
    return " // ".join(shorten(text, max(length, 40), placeholder=" ...") for text in told).replace("|", "\\|")
