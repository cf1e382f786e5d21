"""One-way reading: the ordinal verifier whose statements read their documents, word by word.

One encoder of BERT's kind reads each document of a batch by itself, once for all statements on it. A statement's
tokens attend to themselves and, in every layer, to the tokens of its documents; documents never see a statement. What
a token then is tells whether the documents bear it out: a logit a token, pooled with learnt salience, and one of the
whole.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from citeverifier.models.bert_layers import BERT_KINDS, attend

FIRST_POSITION = 32  # of a document: what stands early in it is told from what stands early in the statement
SHARPNESS = 2.0  # of the soft minimum over token logits
UNTOLD_WEIGHT = 3.0  # of a token that is not borne out, beside one that is


class OneWayHead(nn.Module):
    """From a statement's read tokens to token logits and one ordinal logit."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.segment = nn.Parameter(torch.zeros(hidden_size))  # added to a statement's tokens: they are no document's
        self.token, self.salience = nn.Linear(hidden_size, 1), nn.Linear(hidden_size, 1)
        self.pool, self.whole = nn.Linear(hidden_size, hidden_size), nn.Linear(hidden_size, 1)
        self.output = nn.Linear(3, 1)
        for layer in (self.token, self.salience, self.whole):
            nn.init.normal_(layer.weight, std=0.04)
            nn.init.zeros_(layer.bias)
        nn.init.constant_(self.output.weight, 0.6)
        nn.init.zeros_(self.output.bias)

    def forward(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(logits (n, 1), token logits (n, s)) from tokens (n, s, h) and which of them count (n, s)."""
        tokens = tokens.float()
        borne_out = self.token(tokens).squeeze(-1).masked_fill(~mask, 0.0)
        log_weight = self.salience(tokens).squeeze(-1).masked_fill(~mask, float("-inf")).log_softmax(dim=1)
        mean = (log_weight.exp() * borne_out).sum(dim=1)
        soft_minimum = -torch.logsumexp(log_weight - SHARPNESS * borne_out, dim=1) / SHARPNESS
        whole = self.whole(torch.tanh(self.pool(tokens[:, 0]))).squeeze(-1)
        logits: Tensor = self.output(torch.stack([mean, soft_minimum, whole], dim=1))
        return logits, borne_out


class OneWay(nn.Module):
    """An encoder of BERT's kind with a `OneWayHead`."""

    def __init__(self, encoder: Any, head: OneWayHead | None = None) -> None:
        super().__init__()
        if encoder.config.model_type not in BERT_KINDS:
            raise ValueError(
                f"one-way reading: expected an encoder of {', '.join(BERT_KINDS)}, got {encoder.config.model_type}"
            )
        self.encoder = encoder
        self.head = head or OneWayHead(encoder.config.hidden_size)

    @property
    def config(self) -> Any:
        """The encoder's config."""
        return self.encoder.config

    def forward(
        self,
        statement_ids: Tensor,
        statement_attention: Tensor,
        statement_mask: Tensor,
        document_ids: Tensor,
        document_attention: Tensor,
        statement_index: Tensor,
        document_index: Tensor,
        borne_out: Tensor | None = None,
        **_: Tensor,
    ) -> dict[str, Tensor]:
        """Logits of a batch of pairs over its distinct statements and documents, as `LateInteractionTokens` makes it.

        Args:
            statement_ids, statement_attention, statement_mask: (S, s); the mask marks tokens that count.
            document_ids, document_attention: (D, t), of each distinct document (window).
            statement_index: (n,) the statement of each pair.
            document_index: (n, k) the document windows of each pair, -1 where it has fewer than k.
            borne_out: (n, s) whether the documents bear a token out, 1 or 0, -1 where that is not known.

        Returns:
            {"logits": (n, 1)}; in training with `borne_out` also "token_losses": (n,).
        """
        documents = self._embedded(document_ids, FIRST_POSITION)
        statements = self._embedded(statement_ids, 0)
        statements = (statements + self.head.segment.to(statements.dtype)).index_select(0, statement_index)
        inside = document_attention.bool()
        chosen = document_index.clamp(min=0)
        read = (inside[chosen] & (document_index >= 0).unsqueeze(-1)).flatten(1)
        seen = torch.cat([read, statement_attention.bool()[statement_index]], dim=1)[:, None, None]
        inside = inside[:, None, None]
        layers = self.encoder.encoder.layer
        for layer in layers:
            own = layer.attention.self
            key, value = own.key(documents), own.value(documents)
            keys = torch.cat([_of(key, chosen), own.key(statements)], dim=1)
            values = torch.cat([_of(value, chosen), own.value(statements)], dim=1)
            statements = attend(layer, statements, keys, values, seen)
            if layer is not layers[-1]:
                documents = attend(layer, documents, key, value, inside)
        logits, tokens = self.head(statements, statement_mask[statement_index])
        if borne_out is None or not self.training:
            return {"logits": logits}
        return {"logits": logits, "token_losses": token_losses(tokens, borne_out)}

    def _embedded(self, ids: Tensor, first: int) -> Tensor:
        padding = self.config.pad_token_id + 1 if self.config.model_type != "bert" else 0  # RoBERTa's kind counts on
        positions = torch.arange(first + padding, first + padding + ids.shape[1], device=ids.device)
        vectors: Tensor = self.encoder.embeddings(input_ids=ids, position_ids=positions.expand_as(ids))
        return vectors


def token_losses(logits: Tensor, borne_out: Tensor) -> Tensor:
    """The mean cross-entropy of the tokens of each pair whose label is known, (n,); 0 where none is.

    Tokens that are not borne out count UNTOLD_WEIGHT times: they are few.
    """
    known = borne_out >= 0
    weight = known * torch.where(borne_out == 0, UNTOLD_WEIGHT, 1.0)
    losses = binary_cross_entropy_with_logits(logits, borne_out.clamp(min=0).float(), reduction="none")
    return (weight * losses).sum(dim=1) / weight.sum(dim=1).clamp(min=1.0)


def _of(documents: Tensor, chosen: Tensor) -> Tensor:
    """Vectors (n, k * t, h) of the windows (D, t, h) that `chosen` (n, k) names."""
    n, k = chosen.shape
    return documents.index_select(0, chosen.flatten()).reshape(n, k * documents.shape[1], -1)
