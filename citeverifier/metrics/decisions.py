"""Metrics of decisions: counts, accuracies, F1, thresholds. Plain functions on numpy arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Counts:
    """Decisions against gold; "true" is the positive class."""

    tp: int
    fn: int
    fp: int
    tn: int

    @property
    def n(self) -> int:
        return self.tp + self.fn + self.fp + self.tn


def ratio(part: float, whole: float) -> float:
    """part / whole; nan where there is nothing to divide by, never a made-up 0 or 1."""
    return part / whole if whole else math.nan


def count(gold: Sequence[bool] | Bools, decision: Sequence[bool] | Bools) -> Counts:
    """Counts of two equally long boolean sequences."""
    g, d = np.asarray(gold, dtype=bool), np.asarray(decision, dtype=bool)
    if g.shape != d.shape:
        raise ValueError(f"expected as many decisions as gold labels ({g.size}), came {d.size}")
    return Counts(int((g & d).sum()), int((g & ~d).sum()), int((~g & d).sum()), int((~g & ~d).sum()))


def decision_metrics(c: Counts) -> dict[str, float]:
    """accuracy, acc_true (recall of true), acc_false (recall of false), f1 of true, balanced accuracy, macro-F1; in [0, 1] or nan."""
    f1_true = ratio(2 * c.tp, 2 * c.tp + c.fp + c.fn)
    f1_false = ratio(2 * c.tn, 2 * c.tn + c.fn + c.fp)
    acc_true, acc_false = ratio(c.tp, c.tp + c.fn), ratio(c.tn, c.tn + c.fp)
    return {
        "accuracy": ratio(c.tp + c.tn, c.n),
        "acc_true": acc_true,
        "acc_false": acc_false,
        "f1": f1_true,
        "balanced_accuracy": (acc_true + acc_false) / 2,
        "macro_f1": (f1_true + f1_false) / 2,
    }


def auroc(gold: Sequence[bool] | Bools, score: Sequence[float] | Floats) -> float:
    """Area under the ROC curve (ties count half); nan without both classes."""
    from scipy.stats import rankdata

    g, s = np.asarray(gold, dtype=bool), np.asarray(score, dtype=np.float64)
    positives, negatives = int(g.sum()), int((~g).sum())
    if not positives or not negatives:
        return math.nan
    ranks = rankdata(s)
    return float((ranks[g].sum() - positives * (positives + 1) / 2) / (positives * negatives))


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
    candidates = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [np.nextafter(1.0, 2.0)]])
    order = np.sort(s[g]), np.sort(s[~g])
    recall_true = 1 - np.searchsorted(order[0], candidates, side="left") / positives
    recall_false = np.searchsorted(order[1], candidates, side="left") / negatives
    balanced = recall_true + recall_false
    best = np.flatnonzero(balanced >= balanced.max() - 1e-12)
    return float(candidates[best[np.argmin(np.abs(candidates[best] - 0.5))]])
