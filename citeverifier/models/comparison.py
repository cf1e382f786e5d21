"""Comparison: after late interaction each statement token is set beside what it matches, and they are read together.

How near a token's match is cannot tell who did what, or a fact from its negation. So each token's vector is compared
with the vectors that it matches (a soft alignment by cosine), and the compared tokens of the statement, and only they,
pass a few layers of self-attention, started from the encoder's top ones. What comes out is added to the logit of the
matches. Documents are still encoded once, alone.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, layer_norm, normalize

from citeverifier.models.bert_layers import BERT_KINDS, attend

ALIGNMENT = 40.0  # inverse temperature of the alignment at the start: E5's cosines lie within .2
SHARPNESS = 2.0  # inverse temperature of the soft minimum over tokens
FEATURES = 4  # vectors that are compared: the token's, its match's, their product and difference
COSINE_SCALE = 5.0  # makes cosines about as large as the normalised vectors beside them


class Comparison(nn.Module):
    """Compares a statement's tokens with their matches; `count` layers started from the top of `encoder`.

    Raises ValueError for an encoder that is not of BERT's kind, or with fewer layers.
    """

    def __init__(self, encoder: Any, count: int) -> None:
        super().__init__()
        config = encoder.config
        if config.model_type not in BERT_KINDS:
            raise ValueError(
                f"comparison_layers: expected an encoder of {', '.join(BERT_KINDS)}, got {config.model_type}"
            )
        if not 1 <= count <= config.num_hidden_layers:
            raise ValueError(f"comparison_layers: expected 1 to {config.num_hidden_layers}, got {count}")
        size = config.hidden_size
        self.layers = nn.ModuleList(copy.deepcopy(layer) for layer in encoder.encoder.layer[-count:])
        self.layers.requires_grad_(True)
        self.alignment = nn.Parameter(torch.tensor(math.log(ALIGNMENT)))  # log of its inverse temperature
        self.compare = nn.Linear(FEATURES * size + 2, size)
        self.compared = nn.Linear(size, size)
        self.support = nn.Linear(size, 1)
        self.salience = nn.Linear(size, 1)
        self.whole = nn.Linear(size, 1)
        self.output = nn.Linear(3, 1)
        for linear in (self.support, self.salience, self.whole):
            nn.init.normal_(linear.weight, std=2 * config.initializer_range)  # from zero the layers would not learn
            nn.init.zeros_(linear.bias)
        nn.init.ones_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(self, tokens: Tensor, attention: Tensor, counted: Tensor, premise: Tensor, known: Tensor) -> Tensor:
        """What is added to the logits, (n, 1).

        Args:
            tokens: (n, s, h) vectors of statements, special tokens and context included.
            attention: (n, s), true but for padding.
            counted: (n, s), true for the statement's own tokens.
            premise: (n, t, h) normalised vectors of the premises' tokens.
            known: (n, t), true where a premise's token counts.
        """
        number_format = self.compare.weight.dtype
        tokens, premise = tokens.to(number_format), premise.to(number_format)
        cosines = normalize(tokens, dim=-1) @ premise.transpose(1, 2)
        cosines = cosines.float().masked_fill(~known[:, None], -1.0)
        weights = (cosines * self.alignment.exp()).softmax(dim=-1)
        match = weights.to(number_format) @ premise
        nearest = torch.stack([cosines.amax(dim=-1), (weights * cosines).sum(dim=-1)], dim=-1) * COSINE_SCALE
        size = tokens.shape[-1:]
        own, other = layer_norm(tokens, size), layer_norm(match, size)
        features = torch.cat([own, other, own * other, own - other, nearest.to(number_format)], dim=-1)
        tokens = tokens + self.compared(gelu(self.compare(features)))
        mask = attention[:, None, None]
        for layer in self.layers:
            own_attention: Any = layer.attention.self  # type: ignore[union-attr]
            tokens = attend(layer, tokens, own_attention.key(tokens), own_attention.value(tokens), mask)
        return self._logits(tokens.to(self.support.weight.dtype), counted)

    def _logits(self, tokens: Tensor, counted: Tensor) -> Tensor:
        weight = self.salience(tokens).squeeze(-1).masked_fill(~counted, float("-inf")).log_softmax(dim=1)
        support = self.support(tokens).squeeze(-1).masked_fill(~counted, 0.0)
        mean = (weight.exp() * support).sum(dim=1)
        soft_minimum = -torch.logsumexp(weight - SHARPNESS * support, dim=1) / SHARPNESS
        logits: Tensor = self.output(torch.stack([mean, soft_minimum, self.whole(tokens[:, 0]).squeeze(-1)], dim=1))
        return logits
