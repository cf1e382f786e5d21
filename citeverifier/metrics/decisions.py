"""Metrics of decisions: counts, accuracies, F1, thresholds. Plain functions; "true" is the positive class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
ABOVE_ALL = float(np.nextafter(1.0, 2.0))  # a threshold that no score reaches


@dataclass(frozen=True)
class Counts:
    """Decisions against gold."""

    tp: int
    fn: int
    fp: int
    tn: int

    @property
    def n(self) -> int:
        """Number of decisions."""
        return self.tp + self.fn + self.fp + self.tn

    def metrics(self) -> dict[str, float]:
        """`decision_metrics` of these counts, as floats."""
        return {name: float(value) for name, value in decision_metrics(self.tp, self.fn, self.fp, self.tn).items()}


def ratio(part: ArrayLike, whole: ArrayLike) -> Floats:
    """part / whole; nan where there is nothing to divide by, never a made-up 0 or 1."""
    a, b = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    quotient: Floats = np.divide(a, b, out=np.full(np.broadcast_shapes(a.shape, b.shape), math.nan), where=b != 0)
    return quotient


def count(gold: Sequence[bool] | Bools, decision: Sequence[bool] | Bools) -> Counts:
    """Counts of two equally long boolean sequences."""
    g, d = np.asarray(gold, dtype=bool), np.asarray(decision, dtype=bool)
    if g.shape != d.shape:
        raise ValueError(f"expected as many decisions as gold labels ({g.size}), got {d.size}")
    return Counts(int((g & d).sum()), int((g & ~d).sum()), int((~g & d).sum()), int((~g & ~d).sum()))


def decision_metrics(tp: ArrayLike, fn: ArrayLike, fp: ArrayLike, tn: ArrayLike) -> dict[str, Floats]:
    """Metrics of counts, of any equal shape, each in [0, 1] or nan.

    accuracy; acc_true and acc_false, the accuracy on what should be true and false; f1 of the true class;
    balanced_accuracy, their mean; macro_f1, the mean F1 of both classes.
    """
    tp, fn, fp, tn = (np.asarray(x, dtype=np.float64) for x in (tp, fn, fp, tn))
    acc_true, acc_false = ratio(tp, tp + fn), ratio(tn, tn + fp)
    f1, f1_false = ratio(2 * tp, 2 * tp + fp + fn), ratio(2 * tn, 2 * tn + fn + fp)
    return {
        "accuracy": ratio(tp + tn, tp + fn + fp + tn),
        "acc_true": acc_true,
        "acc_false": acc_false,
        "f1": f1,
        "balanced_accuracy": (acc_true + acc_false) / 2,
        "macro_f1": (f1 + f1_false) / 2,
    }


def auroc(gold: Sequence[bool] | Bools, score: Sequence[float] | Floats, weights: Floats | None = None) -> Floats:
    """Area under the ROC curve, ties counting half; nan without both classes.

    `weights` (r, n) gives r weighted areas at once, shape (r,); without it the result has shape ().
    """
    g, s = np.asarray(gold, dtype=bool), np.asarray(score, dtype=np.float64)
    if not len(s):
        return np.full(() if weights is None else (len(weights),), math.nan)
    order = np.argsort(s, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(s[order]) > 0]))
    w = np.ones((1, len(s))) if weights is None else weights
    positive = np.add.reduceat(w[:, order] * g[order], starts, axis=1)
    negative = np.add.reduceat(w[:, order] * ~g[order], starts, axis=1)
    below = np.cumsum(negative, axis=1) - negative / 2
    area = ratio((positive * below).sum(axis=1), positive.sum(axis=1) * negative.sum(axis=1))
    return area[0] if weights is None else area


def best_threshold(gold: Sequence[bool] | Bools, score: Sequence[float] | Floats) -> float:
    """The threshold t that maximises balanced accuracy of "score >= t" on dev.

    Thresholds lie half-way between neighbouring scores; of equally good ones the one nearest 0.5 wins. nan without
    both classes.
    """
    g, s = np.asarray(gold, dtype=bool), np.asarray(score, dtype=np.float64)
    positives, negatives = g.sum(), (~g).sum()
    if not positives or not negatives:
        return math.nan
    values = np.unique(s)
    halfway = (values[1:] + values[:-1]) / 2
    between = np.where(halfway > values[:-1], halfway, values[1:])  # neighbouring floats have nothing half-way
    candidates = np.concatenate([[0.0], between, [ABOVE_ALL]])
    order = np.sort(s[g]), np.sort(s[~g])
    recall_true = 1 - np.searchsorted(order[0], candidates, side="left") / positives
    recall_false = np.searchsorted(order[1], candidates, side="left") / negatives
    balanced = recall_true + recall_false
    best = np.flatnonzero(balanced >= balanced.max() - 1e-12)
    return float(candidates[best[np.argmin(np.abs(candidates[best] - 0.5))]])
