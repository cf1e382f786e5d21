"""Point estimates with 95 % intervals, and differences of two verifiers, by bootstrap over questions.

A question's trials, in both languages, are drawn together; so are both verifiers: what makes a question hard for both
does not blur their difference. A resample is a weight per question: all of them are computed at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citeverifier.metrics.decisions import Bools, Floats, auroc, decision_metrics, ratio

ROUNDS = 1000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A metric with its interval; low and high are nan where no resample defines it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Resamples:
    """`weights` (1 + rounds, units): how often a unit is drawn, in the first row once each; `numbers`: its column."""

    numbers: dict[Hashable, int]
    weights: Floats

    def of(self, units: Sequence[Hashable]) -> NDArray[np.intp]:
        """The unit number of each item."""
        return np.array([self.numbers[unit] for unit in units], dtype=np.intp)


def resamples(units: Sequence[Hashable], rounds: int = ROUNDS, seed: int = 13) -> Resamples:
    """Resamples of the distinct units."""
    numbers = {unit: i for i, unit in enumerate(dict.fromkeys(units))}
    n = len(numbers)
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=rounds) if n else np.empty((rounds, 0))
    return Resamples(numbers, np.concatenate([np.ones((1, n)), drawn.astype(np.float64)]))


def estimate(values: Floats) -> Estimate:
    """The value of the whole (the first) with the interval that the resamples give."""
    drawn = values[1:][~np.isnan(values[1:])]
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(drawn, [tail, 100 - tail]) if len(drawn) else (math.nan, math.nan)
    return Estimate(float(values[0]), float(low), float(high))


def points(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    """The values."""
    return {name: estimate.value for name, estimate in estimates.items()}


def intervals(estimates: Mapping[str, Estimate]) -> dict[str, list[float]]:
    """[low, high] of those that have an interval."""
    return {name: [e.low, e.high] for name, e in estimates.items() if not math.isnan(e.low)}


def decision_samples(gold: Bools, decision: Bools, unit: NDArray[np.intp], sampled: Resamples) -> dict[str, Floats]:
    """`decision_metrics` of n items whose unit numbers are `unit`: (1 + rounds,) each, the point estimate first."""
    n = sampled.weights.shape[1]
    cells = (gold & decision, gold & ~decision, ~gold & decision, ~gold & ~decision)
    sums = [sampled.weights @ np.bincount(unit[cell], minlength=n).astype(np.float64) for cell in cells]
    return decision_metrics(*sums)


def weighted_samples(measure: Callable[[Floats], Floats], unit: NDArray[np.intp], sampled: Resamples) -> Floats:
    """A `measure` of n items by their weights, (r, n) -> (r,), in all resamples: part by part, for memory's sake."""
    return np.concatenate([measure(part[:, unit]) for part in np.array_split(sampled.weights, 20)])


def auroc_samples(gold: Bools, score: Floats, unit: NDArray[np.intp], sampled: Resamples) -> Floats:
    """AUROC, (1 + rounds,), the point estimate first."""
    return weighted_samples(lambda weights: auroc(gold, score, weights), unit, sampled)


def share_samples(right: Bools | Floats, weight: Floats, unit: NDArray[np.intp], sampled: Resamples) -> Floats:
    """The weighted mean of how right items are, whole and in each resample, (1 + rounds,)."""
    n = sampled.weights.shape[1]
    hits = sampled.weights @ np.bincount(unit, weight * right, minlength=n)
    total = sampled.weights @ np.bincount(unit, weight, minlength=n)
    return ratio(hits, total)


def harmonic(a: Floats, b: Floats) -> Floats:
    """The harmonic mean of two shares in each resample; 0 where both are 0, nan where one is."""
    mean: Floats = np.where(a + b == 0, 0.0, ratio(2 * a * b, a + b))
    return mean


def mean_estimate(values: Floats | Bools, unit: NDArray[np.intp], sampled: Resamples) -> Estimate:
    """The mean of n values (of booleans the share that is true) with its interval."""
    return estimate(share_samples(values, np.ones(len(values)), unit, sampled))


# --- two verifiers on the same trials -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference(Estimate):
    """A metric of the one minus that of the other, with its interval; `p` two-sided, nan undefined."""

    p: float


def difference(first: Floats, second: Floats) -> Difference:
    """Of two rows of samples, made with the same resamples of the same trials.

    p is twice the smaller share of resamples on either side of 0 (ties on both), one resample added to each so that it
    is never 0: the level at which the percentile interval just reaches 0.
    """
    values = first - second
    estimated = estimate(values)
    drawn = values[1:][~np.isnan(values[1:])]
    near = 1e-12  # sums in another order differ in the last digit
    sides = [(1 + int((side <= near).sum())) / (1 + len(drawn)) for side in (drawn, -drawn)]
    p = min(1.0, 2 * min(sides)) if len(drawn) else math.nan
    return Difference(estimated.value, estimated.low, estimated.high, p)
