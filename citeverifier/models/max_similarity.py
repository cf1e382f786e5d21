"""Untrained late interaction: the mean, over a statement's tokens, of their greatest cosine to any premise token."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class MeanOfMatches(nn.Module):
    """Pools matches by their plain mean, where the trained head weighs them."""

    def log_weights(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Equal weights (n, s) of the tokens that count."""
        scores = torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, float("-inf"))
        return torch.log_softmax(scores, dim=1)

    def forward(self, tokens: Tensor, mask: Tensor, matches: Tensor) -> Tensor:
        """Means (n, 1) of the matches (n, s) that count by `mask` (n or 1, s), in [0, 1]; `tokens` are not read."""
        counted = matches.float().masked_fill(~mask, 0.0)
        mean = counted.sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        return mean.clamp(0.0, 1.0).unsqueeze(1)
