"""Post-citing, separate (paper 1): which of the documents should this statement cite, asked one by one?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from citeverifier.evaluation.schemes.base import Prediction, Share, Trial
from citeverifier.evaluation.schemes.each_document import each_document
from citeverifier.evaluation.schemes.exact import exact_shares
from citeverifier.evaluation.schemes.ranked import ranked_shares
from citeverifier.records import Example, Support


@dataclass(frozen=True)
class CiteSeparate:
    """Each statement with each of its example's documents: cited or not.

    | setting   | asked                                  | expected                    |
    |-----------|----------------------------------------|-----------------------------|
    | statement | the statement with every document      | true for those it cites     |
    | corrupted | its twin with every document           | false: it has nothing to cite |
    """

    seed: int = 13
    context: bool = False
    include_corrupted: bool = True
    level: Support = Support.PARTIAL
    name: ClassVar[str] = "cite_separate"

    def trials(self, examples: Sequence[Example]) -> list[Trial]:
        """Trials in the order of the examples and their documents."""
        return each_document(
            self.name, examples, seed=self.seed, context=self.context, level=self.level,
            include_corrupted=self.include_corrupted,
        )  # fmt: skip

    def shares(self, predictions: Sequence[Prediction], *, default: bool) -> list[Share]:
        """exact: statements (twins among them) whose predicted set is right; ndcg_10: the ranking of documents."""
        return exact_shares(predictions, default=default) + ranked_shares(predictions)
