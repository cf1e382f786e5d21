"""Two verifiers on the same trials: the difference of a metric with interval and p-value, by bootstrap over questions.

Both are resampled together: what makes a question hard for both does not blur their difference.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from citeverifier.metrics.bootstrap import CONFIDENCE, auroc_samples, decision_samples, resamples
from citeverifier.metrics.decisions import Bools, Floats


@dataclass(frozen=True)
class Difference:
    """A metric of the one minus that of the other; `low`, `high` its 95 % interval; `p` two-sided, nan undefined."""

    value: float
    low: float
    high: float
    p: float


def paired_differences(
    gold: Bools,
    decisions: tuple[Bools, Bools],
    scores: tuple[Floats, Floats] | None,
    units: Sequence[Hashable],
    *,
    seed: int = 13,
) -> dict[str, Difference]:
    """accuracy, f1 and (with scores) auroc of the first minus the second, on n trials that both decided.

    Args:
        gold, decisions, scores: (n,) each, in the same order; `scores` None where either has none.
        units: the question of each trial.
        seed: of the resamples.

    Raises:
        ValueError: lengths that differ.
    """
    lengths = {len(gold), len(units), *map(len, decisions), *map(len, scores or ())}
    if len(lengths) > 1:
        raise ValueError(f"expected gold, decisions, scores and units of one length, came {sorted(lengths)}")
    sampled = resamples(units, seed=seed)
    unit = sampled.of(units)
    first, second = (decision_samples(gold, decision, unit, sampled) for decision in decisions)
    found = {name: _difference(first[name] - second[name]) for name in ("accuracy", "f1")}
    if scores is not None:
        one, other = (auroc_samples(gold, score, unit, sampled) for score in scores)
        found["auroc"] = _difference(one - other)
    return found


def _difference(values: Floats) -> Difference:
    """From (1 + rounds,) differences, the point estimate first.

    p is twice the smaller share of resamples on either side of 0 (ties on both), one resample added to each so that it
    is never 0: the level at which the percentile interval just reaches 0.
    """
    drawn = values[1:][~np.isnan(values[1:])]
    if np.isnan(values[0]) or not len(drawn):
        return Difference(float(values[0]), float("nan"), float("nan"), float("nan"))
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(drawn, [tail, 100 - tail])
    near = 1e-12  # sums in another order differ in the last digit
    sides = [(1 + int((side <= near).sum())) / (1 + len(drawn)) for side in (drawn, -drawn)]
    return Difference(float(values[0]), float(low), float(high), min(1.0, 2 * min(sides)))
