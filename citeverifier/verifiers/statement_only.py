"""A baseline that never sees the documents: what it gets right, the statements' wording gives away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citeverifier.cost import Cost
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.fitted import LevelClassifiers


class StatementOnly(Scorer):
    """TF-IDF of words and word pairs with logistic regression, one classifier a level, fitted on training pairs."""

    name = "statement_only"
    needs_training_pairs = True

    def __init__(self) -> None:
        self._models = LevelClassifiers(self.name)

    def fit(self, pairs: Sequence[Pair]) -> None:
        """Fit on the pairs whose label is decided at each level; raises ValueError where a level lacks a class."""
        self._models.fit(pairs, [pair.statement for pair in pairs], _classifier)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """The classifier's probability; raises RuntimeError before `fit`."""
        statements = [pair.statement for pair in pairs]
        return Scores(self._models.probabilities(statements, level), cost=Cost(distinct_pairs=len(set(statements))))


def _classifier() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(max_iter=1000))
