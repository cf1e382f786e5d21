"""The cross-encoder shape: an ordinary `AutoModelForSequenceClassification` with one label.

The head stays transformers' own, so that sentence-transformers, vLLM and text-embeddings-inference load a checkpoint
as it is. Labels are never handed to the model: with one label it would take the task for regression.
"""

from __future__ import annotations

from torch import nn


def last_linear(model: nn.Module) -> nn.Linear:
    """The layer that makes the logit; raises ValueError where the head has no linear layer with one output."""
    heads = [m for m in model.modules() if isinstance(m, nn.Linear) and m.out_features == 1]
    if not heads:
        raise ValueError(f"expected {type(model).__name__} to end in a linear layer with one output, found none")
    return heads[-1]
