"""Exact match: is a statement's whole predicted set of citations right?"""

from __future__ import annotations

from collections.abc import Sequence

from citeverifier.evaluation.schemes.base import Prediction, Share


def exact_shares(predictions: Sequence[Prediction], *, default: bool) -> list[Share]:
    """One item a statement, right where every one of its trials is; `default` decides at 0.5.

    A statement with an unscored trial is unscored: it counts neither way.
    """
    right: dict[tuple[str, str, str], bool | None] = {}
    for prediction in predictions:
        pair = prediction.trial.pair
        key = (pair.example, pair.lang, pair.statement_id)
        decision, so_far = prediction.decided(default=default), right.get(key, True)
        known = decision is not None and so_far is not None
        right[key] = (so_far and decision == prediction.trial.gold) if known else None
    return [Share("exact", example, value) for (example, _, _), value in right.items() if value is not None]
