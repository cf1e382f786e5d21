"""Attention of BERT's kinds of encoder on a processor in bfloat16: two batched products and a softmax between them.

PyTorch's fused attention takes 1.4 times as long there, at the lengths and head sizes of small models
(docs/performance.md). Elsewhere it is the faster one and stays.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

BERT_KINDS = ("bert", "camembert", "roberta", "xlm-roberta")  # layers of the same names, every token attends to all
PRODUCTS = "batched_products"  # its name in transformers


def attend_by_products(encoder: Any) -> bool:
    """Give an encoder this attention, in place, where it is the faster one for inference; whether it did."""
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
        hidden = torch.zeros(n, 1, 1, keys, dtype=q.dtype).masked_fill(~mask[:, :, :1], float("-inf"))
        scores = torch.baddbmm(
            hidden.expand(n, heads, 1, keys).reshape(rows, 1, keys), q, k.transpose(1, 2), alpha=scaling
        )
    attended = torch.bmm(scores.softmax(dim=-1), v)
    return attended.view(n, heads, queries, d).transpose(1, 2).contiguous(), None
