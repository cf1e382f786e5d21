"""How far scores follow people's levels (paper 2): correlations, ROC-AUC of one level against another, ranking.

All but `ndcg` take `weights` (r, n), how often an item is drawn in each of r resamples, and give r values at once:
those of the items repeated so often, exactly. nan where a resample leaves nothing to tell.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citeverifier.metrics.decisions import Floats, auroc, ratio

LEVELS = {"fs_ns": (2, 0), "fs_ps": (2, 1), "ps_ns": (1, 0)}  # full, partial, none


def pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson's r of two (n,) arrays, (r,). `x` and `y` may be (r, n): other values in each resample."""
    total = weights.sum(axis=1)
    a, b = (_centred(values, weights, total) for values in (x, y))
    variance = (weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1)
    near = 1e-12 * total**2  # what is left of a constant
    return ratio((weights * a * b).sum(axis=1), np.sqrt(np.where(variance > near**2, variance, 0.0)))


def spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Spearman's rho, (r,): Pearson's r of the ranks, ties sharing their mean rank."""
    return pearson(_ranks(x, weights), _ranks(y, weights), weights)


def kendall(score: Floats, label: NDArray[Any], weights: Floats) -> Floats:
    """Kendall's tau-b of scores with labels (or other values, few of them distinct), (r,)."""
    above = np.zeros(len(weights))  # concordant minus discordant pairs
    levels = np.unique(label).tolist()
    for i, low in enumerate(levels):
        for high in levels[i + 1 :]:
            sizes = [weights[:, label == level].sum(axis=1) for level in (low, high)]
            area = np.nan_to_num(_against(score, label, high, low, weights), nan=0.5)
            above += (2 * area - 1) * sizes[0] * sizes[1]
    pairs = [_untied(values, weights) for values in (score, label.astype(np.float64))]
    return ratio(above, np.sqrt(pairs[0] * pairs[1]))


def one_against_one(score: Floats, label: NDArray[np.int64], weights: Floats) -> dict[str, Floats]:
    """ROC-AUC, (r,) each, of telling the higher from the lower of two levels; "overall" is the mean of the three."""
    areas = {name: _against(score, label, high, low, weights) for name, (high, low) in LEVELS.items()}
    return {**areas, "overall": sum(areas.values(), np.zeros(len(weights))) / len(areas)}


def ndcg(gain: Floats, score: Floats, k: int) -> float:
    """NDCG@k of n items ranked by score, in [0, 1]; nan where no item has a gain.

    Gains count as they are; tied items share the mean of their gains, the expectation over every order of them.
    """
    from sklearn.metrics import ndcg_score

    if not gain.any():
        return math.nan
    return 1.0 if gain.size == 1 else float(ndcg_score([gain], [score], k=k))


def _against(score: Floats, label: NDArray[Any], high: float, low: float, weights: Floats) -> Floats:
    chosen = (label == high) | (label == low)
    return auroc(label[chosen] == high, score[chosen], weights[:, chosen])


def _centred(values: Floats, weights: Floats, total: Floats) -> Floats:
    centred: Floats = values - ratio((weights * values).sum(axis=1), total)[:, None]
    return centred


def _ties(values: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The order of values, and where in it each run of equal ones starts."""
    order = np.argsort(values, kind="stable")
    return order, np.flatnonzero(np.concatenate([[True], np.diff(values[order]) > 0]))


def _ranks(values: Floats, weights: Floats) -> Floats:
    """The mean rank of each value in each resample, (r, n)."""
    order, starts = _ties(values)
    sizes = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(sizes, axis=1) - sizes / 2 + 0.5
    ranks = np.empty_like(weights)
    ranks[:, order] = np.repeat(middle, np.diff(np.append(starts, len(values))), axis=1)
    return ranks


def _untied(values: Floats, weights: Floats) -> Floats:
    """How many pairs of items differ in value, (r,)."""
    order, starts = _ties(values)
    sizes = np.add.reduceat(weights[:, order], starts, axis=1)
    total = weights.sum(axis=1)
    untied: Floats = (total**2 - (sizes**2).sum(axis=1)) / 2
    return untied
