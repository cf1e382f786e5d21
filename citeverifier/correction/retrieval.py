"""Correction by a Scorer and the retriever's score together (paper 4: keywords and semantic context)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from citeverifier.records import Document, Pair, Support
from citeverifier.verifiers.base import Listing, Scorer, Scores
from citeverifier.verifiers.bm25 import BM25
from citeverifier.verifiers.selectors import by_listing, each_alone, score_premises


class WithRetrieval:
    """weight * (the scorer's score) + (1 - weight) * (the retriever's), each scaled to 0 to 1 within a point.

    The retriever's score is the documents' own; where one of them has none, BM25 of the question among these documents
    stands in for all. A point with neither scores nor a question is unscored. Scaled scores say which document is
    best, never whether it is good enough.

    Args:
        scorer: any Scorer; paper 4 takes token overlap.
        weight: the scorer's share, 0 to 1; paper 4's lambda.
    """

    def __init__(self, scorer: Scorer, weight: float = 0.8) -> None:
        if not 0 <= weight <= 1:
            raise ValueError(f"weight: expected a share from 0 to 1, came {weight}")
        self.scorer, self.weight = scorer, weight
        self.name = f"{scorer.name} + retrieval"
        self._retrieved: dict[tuple[str | None, str, tuple[Document, ...]], NDArray[np.float64] | str] = {}

    def wrap(self, wrapper: Callable[[Scorer], Scorer]) -> None:
        """Put `wrapper(scorer)` in the scorer's place."""
        self.scorer = wrapper(self.scorer)

    def score(self, points: Sequence[Listing]) -> Scores:
        """The weighted sum, in [0, 1]."""
        bare = [replace(point, context=None) for point in points]
        scores = score_premises(self.scorer, bare, each_alone(bare), Support.PARTIAL)
        values: list[NDArray[np.float64]] = []
        reasons: dict[int, str] = {}
        start = 0
        for point, own in zip(points, by_listing(scores, bare), strict=True):
            retrieved = self._retrieval(point)
            why = next((found for found in (own, retrieved) if isinstance(found, str)), None)
            if isinstance(own, str) or isinstance(retrieved, str):
                values.append(np.full(len(point.documents), np.nan))
                reasons |= dict.fromkeys(range(start, start + len(point.documents)), why or "no score")
            else:
                values.append(self.weight * scaled(own) + (1 - self.weight) * retrieved)
            start += len(point.documents)
        return replace(scores, values=np.concatenate([np.empty(0), *values]), reasons=reasons)

    def _retrieval(self, point: Listing) -> NDArray[np.float64] | str:
        """The scaled retrieval scores of a point's documents, the same for all points of an answer; or why none."""
        key = point.context, point.lang, point.documents
        if key not in self._retrieved:
            self._retrieved = {key: retrieval(point)}  # points of an answer follow each other
        return self._retrieved[key]


def retrieval(point: Listing) -> NDArray[np.float64] | str:
    """The retriever's scores of a point's documents, scaled, or BM25's to the question; the reason where neither is."""
    given = [document.score for document in point.documents]
    known = [score for score in given if score is not None]
    if len(known) == len(given):
        return scaled(np.array(known, dtype=np.float64))
    if not point.context:
        return "expected documents with a retrieval score, or a question to search them by; came neither"
    pairs = [Pair("", "", "", point.lang, "", point.context, (document,), "retrieval") for document in point.documents]
    engine = BM25()
    engine.fit(pairs)
    found = engine.score(pairs, Support.PARTIAL)
    return f"BM25 of the question: {found.reasons[0]}" if found.reasons else scaled(found.values)


def scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values moved and stretched to 0 to 1; all 0 where they are all the same."""
    spread = float(np.ptp(values))
    found: NDArray[np.float64] = (values - values.min()) / spread if spread else np.zeros(len(values))
    return found
