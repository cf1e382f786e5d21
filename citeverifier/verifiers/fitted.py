"""Classifiers fitted on training pairs, one a level: what the fitted floors share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citeverifier.records import LEVELS, Pair, Support


class LevelClassifiers:
    """A scikit-learn classifier for each level; `name` is the verifier's, for errors."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._models: dict[Support, Any] = {}

    def fit(self, pairs: Sequence[Pair], inputs: Sequence[Any], make: Callable[[], Any]) -> None:
        """Fit on the inputs whose pair's label is decided; raises ValueError where a level lacks a class."""
        models = {}
        for level in LEVELS:
            labels = [pair.reaches(level) for pair in pairs]
            kept = [i for i, label in enumerate(labels) if label is not None]
            if len({labels[i] for i in kept}) < 2:
                raise ValueError(f"{self.name}: expected pairs that reach {level.label} and pairs that do not")
            models[level] = make().fit([inputs[i] for i in kept], [labels[i] for i in kept])
        self._models = models

    def probabilities(self, inputs: Sequence[Any], level: Support) -> NDArray[np.float64]:
        """P(support >= level) of each input; raises RuntimeError before `fit`."""
        if level not in self._models:
            raise RuntimeError(f"{self.name}: expected fit(pairs) before score, came none")
        if not len(inputs):
            return np.empty(0)
        values: NDArray[np.float64] = np.asarray(self._models[level].predict_proba(inputs)[:, 1], dtype=np.float64)
        return values
