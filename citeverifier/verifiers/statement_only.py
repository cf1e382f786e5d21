"""A baseline that never sees the documents: what it gets right, the statements' wording gives away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scores


class StatementOnly:
    """TF-IDF of words and word pairs with logistic regression, one classifier a level, fitted on training pairs."""

    name = "statement_only"

    def __init__(self) -> None:
        self._models: Mapping[Support, Any] = {}

    def fit(self, pairs: Sequence[Pair]) -> None:
        """Fit on the pairs whose label is decided at each level; raises ValueError where a level lacks a class."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        models = {}
        for level in (Support.PARTIAL, Support.FULL):
            labelled = [(pair.statement, gold) for pair in pairs if (gold := pair.reaches(level)) is not None]
            if len({gold for _, gold in labelled}) < 2:
                raise ValueError(f"statement_only: expected pairs that reach {level.label} and pairs that do not")
            model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(max_iter=1000))
            models[level] = model.fit([text for text, _ in labelled], [gold for _, gold in labelled])
        self._models = models

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """The classifier's probability; raises RuntimeError before `fit`."""
        if level not in self._models:
            raise RuntimeError("statement_only: expected fit(pairs) before score, came none")
        if not pairs:
            return Scores(np.empty(0))
        values = self._models[level].predict_proba([pair.statement for pair in pairs])[:, 1]
        return Scores(np.asarray(values, dtype=np.float64), distinct=len({pair.statement for pair in pairs}))
