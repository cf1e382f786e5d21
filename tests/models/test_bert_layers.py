"""Attention by batched products is PyTorch's own; a last layer for the first token alone gives the same logits."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import AutoModel, AutoModelForSequenceClassification

from citeverifier.models.bert_layers import PRODUCTS, attend_by_products, batched_products, compute_first_token_only


def _parts(queries: int, keys: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    made = [torch.randn(3, length, 4 * 8).view(3, length, 4, 8).transpose(1, 2) for length in (queries, keys, keys)]
    return made[0], made[1], made[2]


@pytest.mark.parametrize("queries", [7, 1])
@pytest.mark.parametrize("padded", [False, True])
def test_it_is_the_attention_of_pytorch(queries: int, padded: bool) -> None:
    query, key, value = _parts(queries, 7)
    mask = (torch.arange(7) < torch.tensor([[7], [4], [1]])).view(3, 1, 1, 7).expand(3, 1, queries, 7)
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, mask if padded else None)
    found, weights = batched_products(None, query, key, value, mask if padded else None, scaling=8**-0.5)
    torch.testing.assert_close(found, expected.transpose(1, 2))
    assert weights is None


def _louder(model: Any) -> Any:
    """The model with greater weights: as initialised, its attention hardly changes anything."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(8)
    return model.eval()


@pytest.mark.parametrize("architecture", ["bert", "xlm-roberta"])
def test_an_encoder_in_bfloat16_makes_the_same_of_every_token(tiny: Any, architecture: str) -> None:
    model = _louder(AutoModel.from_pretrained(tiny(architecture), dtype=torch.bfloat16))
    ids = torch.randint(5, 500, (3, 40), generator=torch.Generator().manual_seed(0))
    mask = (torch.arange(40) < torch.tensor([[40], [31], [7]])).long()
    with torch.inference_mode():
        expected = model(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()].float()
        assert attend_by_products(model)
        assert model.config._attn_implementation == PRODUCTS
        found = model(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()].float()
        unmasked = model(input_ids=ids).last_hidden_state[mask.bool()].float()
    assert (unmasked - expected).abs().max() > 0.5  # what a lost mask would do
    torch.testing.assert_close(found, expected, atol=0.04, rtol=0.02)


def test_the_first_token_alone_works_with_it(tiny: Any) -> None:
    torch.manual_seed(0)
    model = _louder(
        AutoModelForSequenceClassification.from_pretrained(tiny("bert"), num_labels=1, dtype=torch.bfloat16)
    )
    ids = torch.randint(5, 500, (4, 40), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        assert attend_by_products(model)
        expected = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        assert compute_first_token_only(model)
        found = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
    assert expected.std() > 0.2
    torch.testing.assert_close(found, expected, atol=0.04, rtol=0.04)


def test_elsewhere_the_fused_one_stays(tiny: Any) -> None:
    assert not attend_by_products(AutoModel.from_pretrained(tiny("bert"), dtype=torch.float32))
    assert not attend_by_products(AutoModel.from_pretrained(tiny("modernbert"), dtype=torch.bfloat16))
    eager = AutoModel.from_pretrained(tiny("bert"), dtype=torch.bfloat16, attn_implementation="eager")
    assert not attend_by_products(eager)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("architecture", ["bert", "xlm-roberta"])
def test_the_logits_stay_the_same_and_one_token_is_handed_on(tiny: Any, architecture: str, attention: str) -> None:
    torch.manual_seed(0)
    model = _louder(
        AutoModelForSequenceClassification.from_pretrained(
            tiny(architecture), num_labels=1, attn_implementation=attention
        )
    )
    ids = torch.randint(5, 500, (4, 60))
    mask = (torch.arange(60) < torch.tensor([[60], [60], [31], [7]])).long()
    with torch.inference_mode():
        expected = model(input_ids=ids, attention_mask=mask).logits
        assert compute_first_token_only(model)
        found = model(input_ids=ids, attention_mask=mask).logits
        handed_on = model.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
    assert expected.std() > 0.01
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    assert handed_on.shape[:2] == (4, 1)


def test_a_model_of_another_kind_stays_as_it_is(tiny: Any) -> None:
    model = AutoModelForSequenceClassification.from_pretrained(tiny("modernbert"), num_labels=1).eval()
    before = model.base_model.layers[-1]
    assert not compute_first_token_only(model)
    assert model.base_model.layers[-1] is before
