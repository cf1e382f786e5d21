"""The last layer of a classifier, computed for the one token that its head reads.

BERT's kinds of classifier read the first token's vector. In the last layer all others only serve as keys and values;
their own queries, outputs and feed-forward products, ten twelfths of the layer's arithmetic, change nothing.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor

from citeverifier.models.attention import BERT_KINDS, PRODUCTS

_ATTENTION = ("eager", "sdpa", PRODUCTS)


def compute_first_token_only(model: Any) -> bool:
    """Make the last layer of a classifier hand on its first token alone, of the same value; whether it could.

    Changes the model in place, for inference without hidden states; models of other kinds stay as they are.
    """
    config = model.config
    classifier = type(model).__name__.endswith("ForSequenceClassification")
    if not classifier or config.model_type not in BERT_KINDS or config._attn_implementation not in _ATTENTION:
        return False
    layer = model.base_model.encoder.layer[-1]
    layer.forward = partial(_first_token, layer)
    return True


def _first_token(layer: Any, tokens: Tensor, mask: Tensor | None = None, *_: Any, **__: Any) -> Tensor:
    """(n, 1, h) from (n, t, h) and a mask that broadcasts to (n, heads, t, t)."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    from transformers.models.bert.modeling_bert import eager_attention_forward

    attention = layer.attention.self
    heads = (len(tokens), -1, attention.num_attention_heads, attention.attention_head_size)
    first = tokens[:, :1]
    attend = ALL_ATTENTION_FUNCTIONS.get_interface(attention.config._attn_implementation, eager_attention_forward)
    attended, _weights = attend(
        attention,
        attention.query(first).view(heads).transpose(1, 2),
        attention.key(tokens).view(heads).transpose(1, 2),
        attention.value(tokens).view(heads).transpose(1, 2),
        None if mask is None else mask[:, :, :1],
        dropout=0.0,
        scaling=attention.scaling,
    )
    output = layer.attention.output(attended.reshape(len(tokens), 1, -1), first)
    made: Tensor = layer.feed_forward_chunk(output)
    return made
