"""Weights of `models/contradiction.py`, fitted on dev pairs of sources that tell refuted from not told."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from citeverifier.models.contradiction import NAMES, READER
from citeverifier.records import Pair

log = logging.getLogger(__name__)

REFUTED = frozenset({"refutes", "refute", "contradiction"})  # how the kinds of pairs end, after the source's own label
NOT_TOLD = frozenset({"not-enough-info", "neutral"})
LEAST = 50  # pairs of each, for weights that mean something


def refuted(pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """(n,) 1 where a pair's source says that its documents refute it, 0 where that they do not tell, else nan."""
    labels = [pair.kind.rpartition(":")[2] for pair in pairs]
    return np.array([1.0 if label in REFUTED else 0.0 if label in NOT_TOLD else np.nan for label in labels])


def fit_contradiction_weights(
    outcomes: NDArray[np.float32], refuted: NDArray[np.float32], read: NDArray[np.float64] | None = None
) -> Mapping[str, float]:
    """Weights by name, as if refuted and not told were equally frequent; none where dev has fewer than LEAST of one.

    Args:
        outcomes: (n, k) answers of the number check; k may be 0, and nothing is learnt then.
        refuted: (n,) as `refuted` gives it.
        read: (n,) a reader's logits, nan of what it did not read; without one pairs that the number check says nothing
            of are left out.
    """
    told = outcomes.any(axis=1) if read is None else ~np.isnan(read) & (outcomes.shape[1] > 0)
    known = ~np.isnan(refuted) & told
    counts = int((refuted[known] == 0).sum()), int((refuted[known] == 1).sum())
    if min(counts) < LEAST:
        log.info("dev has %d usable pairs that are not told, %d refuted: contradictions are not learnt", *counts)
        return {}
    from sklearn.linear_model import LogisticRegression

    features = outcomes if read is None else np.column_stack([outcomes, read])
    model = LogisticRegression(class_weight="balanced").fit(features[known], refuted[known])
    weights = [float(model.intercept_[0]), *map(float, model.coef_[0])]
    return {name: round(weight, 4) for name, weight in zip((*NAMES, READER), weights, strict=False)}
