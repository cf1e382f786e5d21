"""Weights of the number check (models/number_check.py), fitted on dev beside the calibration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from citeverifier.models.cut_points import interval_loss

PRIOR = 2.0  # pairs' worth of pull of each weight towards 0


def fit_number_weights(
    logits: NDArray[np.float64], labels: NDArray[np.float32], features: NDArray[np.float32], delta: float
) -> NDArray[np.float64]:
    """The weights of greatest likelihood, jointly with a scale and a cut point, which calibration fits anew after them.

    Args:
        logits: (n,) training logits of the dev pairs, without the check.
        labels: rows [min, max, weight, ...].
        features: (n, k) of the pairs: answers of the number check, 0 or 1; beside a reader also the matches' logits.
        delta: distance of the cut points in training.

    Returns:
        (k,) weights in training logits; 0 for a feature that no pair has.
    """
    if not features.shape[1]:
        return np.zeros(0)
    import torch
    from scipy.optimize import minimize

    z, x, rows = (torch.as_tensor(np.asarray(part, dtype=np.float64)) for part in (logits, features, labels))

    def objective(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        p = torch.tensor(parameters, requires_grad=True)
        loss = interval_loss(z * p[0].exp() + x @ p[2:] - p[1], rows, delta).sum()
        loss = loss + p[:2].square().sum() + PRIOR / 2 * p[2:].square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach()), np.asarray(p.grad)

    best = minimize(objective, np.zeros(2 + features.shape[1]), jac=True, method="L-BFGS-B").x
    weights: NDArray[np.float64] = best[2:] / np.exp(best[0])
    return weights
