"""A last layer that computes only the first token gives the classifier's own logits."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from citeverifier.models.first_token import compute_first_token_only


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("architecture", ["bert", "xlm-roberta"])
def test_the_logits_stay_the_same_and_one_token_is_handed_on(tiny: Any, architecture: str, attention: str) -> None:
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained(
        tiny(architecture), num_labels=1, attn_implementation=attention
    ).eval()
    with torch.no_grad():  # as initialised, it says nearly the same of everything
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(8)
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
    before = model.base_model.layers[-1].forward
    assert not compute_first_token_only(model)
    assert model.base_model.layers[-1].forward == before
