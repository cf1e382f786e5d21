"""Post-citing, separate (paper 1): which of the documents should this statement cite, asked one by one?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from citeverifier.evaluation.schemes.base import MetricColumn
from citeverifier.evaluation.schemes.each_document import EachDocument
from citeverifier.evaluation.schemes.shares import Share, ranked_shares
from citeverifier.evaluation.schemes.trials import Prediction


@dataclass(frozen=True)
class CiteSeparate(EachDocument):
    """Each statement with each of its example's documents, asked one by one: cited or not."""

    name: ClassVar = "cite_separate"
    heading: ClassVar = "Which documents should this statement cite, asked one by one?"
    order: ClassVar = 3
    columns: ClassVar[tuple[MetricColumn, ...]] = (
        *EachDocument.columns,
        MetricColumn("ndcg_10", "NDCG@10", "how far up cited documents stand when all are ranked by score"),
    )

    def shares(self, predictions: Sequence[Prediction], *, default: bool) -> list[Share]:
        """exact: statements (twins among them) whose predicted set is right; ndcg_10: the ranking of documents."""
        return super().shares(predictions, default=default) + ranked_shares(predictions)
