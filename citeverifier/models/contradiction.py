"""Contradicted, or only not told: P(contradicted | not fully supported), from what the number check finds.

A bound that the documents break ("more than 60,000" over "41,000") speaks of a contradiction; a number that they do not
hold more often of something not told. A logistic regression on the number check's answers, fitted on pairs of sources
that say which (training/contradiction_weights.py), its weights in config.json. Of statements without numbers nothing is
said: where a logit stood beside the answers, it pointed one way in VitaminC and the other in SNLI.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from citeverifier.models.cut_points import probability
from citeverifier.models.number_check import FEATURES
from citeverifier.records import Support

NAMES = ("bias", *FEATURES)


def contradicted(weights: Mapping[str, float], outcomes: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) probabilities of n pairs by the number check's answers (n, 7), nan for statements without numbers.

    Raises ValueError for weights of other names.
    """
    if set(weights) != set(NAMES):
        raise ValueError(f"contradiction weights: expected {', '.join(NAMES)}, got {', '.join(sorted(weights))}")
    bias, *rest = (weights[name] for name in NAMES)
    p = probability(outcomes @ np.array(rest) + bias, Support.PARTIAL, delta=0.0)
    return np.where(outcomes.any(axis=1), p, np.nan)
