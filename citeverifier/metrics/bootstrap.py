"""Confidence intervals by bootstrap over questions: a question's trials, in both languages, are drawn together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def intervals(
    items: Sequence[Item],
    unit: Callable[[Item], Hashable],
    metrics: Callable[[Sequence[Item]], Mapping[str, float]],
    *,
    rounds: int = 500,
    seed: int = 13,
    confidence: float = 0.95,
) -> dict[str, tuple[float, float]]:
    """Percentile intervals of each metric over resamples of units, each drawn with all of its items.

    A metric that is nan in a resample (a class missing) is left out of that resample; one that is nan in all has no
    interval.
    """
    units: dict[Hashable, list[Item]] = {}
    for item in items:
        units.setdefault(unit(item), []).append(item)
    groups = list(units.values())
    if not groups:
        return {}
    rng = np.random.default_rng(seed)
    drawn: dict[str, list[float]] = {}
    for _ in range(rounds):
        sample = [item for i in rng.integers(len(groups), size=len(groups)) for item in groups[i]]
        for name, value in metrics(sample).items():
            if not np.isnan(value):
                drawn.setdefault(name, []).append(value)
    tail = 100 * (1 - confidence) / 2
    return {
        name: (float(np.percentile(values, tail)), float(np.percentile(values, 100 - tail)))
        for name, values in drawn.items()
    }
