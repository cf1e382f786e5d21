"""Ranking: do the documents that a statement cites come before the others?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citeverifier.evaluation.schemes.base import Prediction, Share
from citeverifier.metrics.ranking import ndcg

CUT = 10


def ranked_shares(predictions: Sequence[Prediction]) -> list[Share]:
    """NDCG@10 of each statement's documents by score, a cited one's gain 1 (paper 2).

    Statements that cite nothing (twins) or have a document without a score are left out.
    """
    statements: dict[tuple[str, str, str], list[Prediction]] = {}
    for prediction in predictions:
        pair = prediction.trial.pair
        statements.setdefault((pair.example, pair.lang, pair.statement_id), []).append(prediction)
    shares = []
    for (example, _, _), asked in statements.items():
        scores = [p.score for p in asked if p.score is not None]
        gains = np.array([float(p.trial.gold) for p in asked])
        if len(scores) == len(asked) and gains.any():
            shares.append(Share(f"ndcg_{CUT}", example, ndcg(gains, np.array(scores), CUT)))
    return shares
