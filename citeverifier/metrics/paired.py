"""Two verifiers on the same trials: the difference of a metric with interval and p-value, by bootstrap over questions.

Both are resampled together: what makes a question hard for both does not blur their difference.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from citeverifier.metrics.bootstrap import Estimate, Resamples, auroc_samples, decision_samples, estimate
from citeverifier.metrics.decisions import Bools, Floats


@dataclass(frozen=True)
class Difference(Estimate):
    """A metric of the one minus that of the other, with its interval; `p` two-sided, nan undefined."""

    p: float


def metric_samples(
    gold: Bools, decision: Bools, score: Floats | None, units: Sequence[Hashable], sampled: Resamples
) -> dict[str, Floats]:
    """accuracy, f1 and (with scores) auroc of one verifier: (1 + rounds,) each, the point estimate first."""
    unit = sampled.of(units)
    samples = decision_samples(gold, decision, unit, sampled)
    kept = {name: samples[name] for name in ("accuracy", "f1")}
    return kept if score is None else kept | {"auroc": auroc_samples(gold, score, unit, sampled)}


def difference(first: Floats, second: Floats) -> Difference:
    """Of two rows of `metric_samples`, made with the same resamples of the same trials.

    p is twice the smaller share of resamples on either side of 0 (ties on both), one resample added to each so that it
    is never 0: the level at which the percentile interval just reaches 0.
    """
    values = first - second
    estimated = estimate(values)
    drawn = values[1:][~np.isnan(values[1:])]
    if np.isnan(estimated.value) or not len(drawn):
        return Difference(estimated.value, float("nan"), float("nan"), float("nan"))
    near = 1e-12  # sums in another order differ in the last digit
    sides = [(1 + int((side <= near).sum())) / (1 + len(drawn)) for side in (drawn, -drawn)]
    return Difference(estimated.value, estimated.low, estimated.high, min(1.0, 2 * min(sides)))
