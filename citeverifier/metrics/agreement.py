"""How far two verifiers decide alike, whatever is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from citeverifier.metrics.decisions import Bools


@dataclass(frozen=True)
class Agreement:
    """Over `n` trials: the share of equal decisions, and Cohen's kappa (nan where chance alone makes all equal)."""

    n: int
    equal: float
    kappa: float


def agreement(first: Bools, second: Bools) -> Agreement:
    """Agreement of two equally long boolean sequences; raises ValueError where their lengths differ."""
    if first.shape != second.shape:
        raise ValueError(f"expected as many decisions of both, got {first.size} and {second.size}")
    n = int(first.size)
    if not n:
        return Agreement(0, float("nan"), float("nan"))
    equal = float(np.mean(first == second))
    a, b = float(first.mean()), float(second.mean())
    chance = a * b + (1 - a) * (1 - b)
    return Agreement(n, equal, (equal - chance) / (1 - chance) if chance < 1 else float("nan"))
