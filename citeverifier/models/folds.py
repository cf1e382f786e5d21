"""Folds: from a matrix of values, chunks of a premise by parts of a statement, to one score."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from citeverifier.metrics.decisions import Floats

Fold = Callable[[Floats], float]

# SummaC's bins of P(entailment), closer where scores are frequent.
BINS = (
    0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, 0.90, 0.91, 0.92, 0.93, 0.94, 0.95, 0.955, 0.96, 0.965, 0.97, 0.975,
    0.98, 0.985, 0.99, 0.995, 1.0,
)  # fmt: skip


def greatest(matrix: Floats) -> float:
    """The greatest value of any chunk, of a statement that is one part."""
    return float(matrix.max())


def mean_of_greatest(matrix: Floats) -> float:
    """The mean, over the statement's parts, of the greatest value of any chunk."""
    return float(matrix.max(axis=0).mean())


def convolution(weights: str | None) -> Fold:
    """SummaC's: a histogram of values for each part of the statement, weighed by a file's weights and averaged.

    Raises FileNotFoundError without the file, with where it is; ValueError on weights of another shape.
    """
    if weights is None or not Path(weights).is_file():
        raise FileNotFoundError(
            f"verifier.weights: expected the file summac_conv_vitc_sent_perc_e.bin of github.com/tingofurro/summac, "
            f"got {weights}; download it, and give its path"
        )
    import torch

    state = torch.load(weights, map_location="cpu", weights_only=True)
    expected = {
        "mlp.weight": (1, len(BINS) - 1), "mlp.bias": (1,), "layer_final.weight": (2, 3), "layer_final.bias": (2,),
    }  # fmt: skip
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    if shapes != expected:
        raise ValueError(f"{weights}: expected tensors {expected}, got {shapes}")
    bins, bias, final, final_bias = (state[name].double().numpy() for name in expected)

    def fold(matrix: Floats) -> float:
        parts = [np.histogram(column, bins=BINS)[0] @ bins[0] + bias[0] for column in matrix.T]
        unsupported, supported = final.sum(axis=1) * np.mean(parts) + final_bias  # its three features are all the mean
        return float(1 / (1 + np.exp(unsupported - supported)))

    return fold
