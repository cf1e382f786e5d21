"""Faster layers for BERT's kinds of model, for inference; each does the layer's own arithmetic, where it gains time.

`attend_by_products`: on a processor in bfloat16, attention as two batched products with a softmax between them saves 5
to 7 % of the whole model's time. It is registered with transformers under a name of its own.

`compute_first_token_only`: a classifier reads the first token's vector alone, so the last layer is replaced by one that
computes nothing else: a seventh of the operations of six layers (docs/performance.md).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

BERT_KINDS = ("bert", "camembert", "roberta", "xlm-roberta")  # layers of the same names, every token attends to all
PRODUCTS = "batched_products"  # its name in transformers


def attend_by_products(encoder: Any) -> bool:
    """Give an encoder attention by batched products, in place, where it is faster than SDPA; whether it did."""
    config, parameter = encoder.config, next(encoder.parameters())
    faster = parameter.device.type == "cpu" and parameter.dtype == torch.bfloat16
    if not faster or config.model_type not in BERT_KINDS or config._attn_implementation != "sdpa":
        return False
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    AttentionInterface.register(PRODUCTS, batched_products)
    AttentionMaskInterface.register(PRODUCTS, sdpa_mask)
    encoder.set_attn_implementation(PRODUCTS)
    return True


def batched_products(
    _module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attention as transformers asks for it.

    Args:
        query, key, value: (n, heads, t, d), with another t for queries.
        mask: (n, 1, queries, t), true where a token is attended to, the same for every query; None = all.
        scaling: of the products before the softmax.
        dropout: 0, as in inference.

    Returns:
        ((n, queries, heads, d), None)
    """
    n, heads, queries, d = query.shape
    rows, keys = n * heads, key.shape[2]
    q, k, v = (part.reshape(rows, -1, d) for part in (query, key, value))
    if mask is None:
        scores = torch.bmm(q, k.transpose(1, 2)) * scaling
    else:
        hidden = torch.zeros(n, 1, 1, keys, dtype=q.dtype, device=q.device).masked_fill(~mask[:, :, :1], float("-inf"))
        scores = torch.baddbmm(
            hidden.expand(n, heads, 1, keys).reshape(rows, 1, keys), q, k.transpose(1, 2), alpha=scaling
        )
    attended = torch.bmm(scores.softmax(dim=-1), v)
    return attended.view(n, heads, queries, d).transpose(1, 2).contiguous(), None


def compute_first_token_only(model: Any) -> bool:
    """Make the last layer of a classifier hand on its first token alone, of the same value; whether it could.

    Changes the model in place, for inference without hidden states; models of other kinds stay as they are.
    """
    config = model.config
    classifier = type(model).__name__.endswith("ForSequenceClassification")
    known = config._attn_implementation in ("eager", "sdpa", PRODUCTS)
    if not classifier or config.model_type not in BERT_KINDS or not known:
        return False
    layers = model.base_model.encoder.layer
    if not isinstance(layers[-1], FirstTokenLayer):
        layers[-1] = FirstTokenLayer(layers[-1])
    return True


class FirstTokenLayer(nn.Module):
    """A layer of BERT's kind whose other tokens only serve as keys and values."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, tokens: Tensor, mask: Tensor | None = None, *_: Any, **__: Any) -> Tensor:
        """(n, 1, h) from (n, t, h) and a mask that broadcasts to (n, heads, t, t)."""
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
        from transformers.models.bert.modeling_bert import eager_attention_forward

        own, first = self.layer.attention.self, tokens[:, :1]
        attention = ALL_ATTENTION_FUNCTIONS.get_interface(own.config._attn_implementation, eager_attention_forward)
        heads = (len(tokens), -1, own.num_attention_heads, own.attention_head_size)
        query, key, value = (
            part.view(heads).transpose(1, 2) for part in (own.query(first), own.key(tokens), own.value(tokens))
        )
        mask = None if mask is None else mask[:, :, :1]
        attended, _weights = attention(own, query, key, value, mask, dropout=0.0, scaling=own.scaling)
        output = self.layer.attention.output(attended.reshape(first.shape), first)
        vectors: Tensor = self.layer.feed_forward_chunk(output)
        return vectors
