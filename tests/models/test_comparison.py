"""Comparison after late interaction: what it adds, what it reads, and how it is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from citeverifier.models.checkpoint import CheckpointConfig, load_checkpoint, load_tokenizer, save_checkpoint
from citeverifier.models.comparison import Comparison
from citeverifier.models.cut_points import Calibration, fold_into, margin_loss, token_loss
from citeverifier.models.inputs import LateInteractionInputs
from citeverifier.models.late_interaction import LateInteraction
from citeverifier.models.late_interaction_engine import LateInteractionEngine
from citeverifier.records import Document, Pair, Support

RIVER = Pair("a", "a", "a", "en", "g", "The Vistula flows north.", (Document("", "The Vistula flows north."),), "k")
PAIRS = [RIVER, replace(RIVER, id="b", documents=(Document("Kraków", "Kraków is old."), *RIVER.documents))]


def scores(model: LateInteraction, inputs: LateInteractionInputs) -> Any:
    return LateInteractionEngine(model.eval(), inputs).logits(PAIRS, Support.FULL).values


@pytest.fixture
def parts(tiny: Any) -> tuple[Any, LateInteractionInputs]:
    folder = str(tiny("bert"))
    inputs = LateInteractionInputs.of(load_tokenizer(folder, 512), window=48, limit=512, context=True)
    return AutoModel.from_pretrained(folder, attn_implementation="eager"), inputs


def test_it_is_added_to_the_logit_of_the_matches(parts: tuple[Any, LateInteractionInputs]) -> None:
    encoder, inputs = parts
    torch.manual_seed(0)
    model = LateInteraction(encoder)
    without = scores(model, inputs)
    model.comparison = Comparison(encoder, 1)
    together = scores(model, inputs)
    assert not np.allclose(together, without, atol=1e-3)
    batch = inputs.collate([inputs.prepare(pair) for pair in PAIRS])
    assert set(model.eval()(**batch)) == {"logits"}
    assert set(model.train()(**batch)) == {"logits", "compared", "support"}
    with torch.no_grad():
        model.comparison.output.weight.zero_()
    assert np.allclose(scores(model, inputs), without, atol=1e-6)


def test_what_is_not_known_of_a_premise_is_not_read(parts: tuple[Any, LateInteractionInputs]) -> None:
    encoder, _ = parts
    torch.manual_seed(0)
    comparison = Comparison(encoder, 1).eval()
    size = encoder.config.hidden_size
    tokens, premise = torch.randn(1, 3, 2 * size), torch.randn(1, 4, 2 * size)
    premise[:, 3] = tokens[:, 1]  # the nearest of all, where it is known
    premise[..., :size] = torch.nn.functional.normalize(premise[..., :size], dim=-1)
    every, known = torch.ones(1, 3, dtype=torch.bool), torch.tensor([[True, True, True, False]])
    with torch.inference_mode():
        short, _ = comparison(tokens, every, every, premise[:, :3], known[:, :3])
        assert torch.allclose(comparison(tokens, every, every, premise, known)[0], short, atol=1e-6)
        all_known = comparison(tokens, every, every, premise, torch.ones_like(known))
        assert not torch.allclose(all_known[0], short, atol=1e-4)


def test_a_checkpoint_keeps_it(tiny: Any, parts: tuple[Any, LateInteractionInputs], tmp_path: Path) -> None:
    encoder, inputs = parts
    torch.manual_seed(0)
    model = LateInteraction(encoder, comparison=Comparison(encoder, 1))
    before = scores(model, inputs)
    calibration = Calibration(temperature=2.0, cut_partial=0.5, cut_full=1.5)
    fold_into(model.head.output, calibration)
    fold_into(model.comparison.output, Calibration(2.0, 0.0, 0.0))  # type: ignore[union-attr]
    config = CheckpointConfig(
        shape="late_interaction", delta=0.5, temperature=2.0, thresholds={"partial": 0.5, "full": 0.5}, max_length=48,
        reads_context=True, comparison_layers=1,
    )  # fmt: skip
    save_checkpoint(tmp_path, model, load_tokenizer(str(tiny("bert")), 512), config)
    again, _, read = load_checkpoint(tmp_path, torch.float32)
    assert read == config
    assert np.allclose(scores(again, inputs), calibration.fold(before), atol=1e-5)


def test_gradients_reach_the_layers_and_not_a_frozen_encoder(parts: tuple[Any, LateInteractionInputs]) -> None:
    encoder, inputs = parts
    encoder.requires_grad_(False)
    model = LateInteraction(encoder, comparison=Comparison(encoder, 1))
    model(**inputs.collate([inputs.prepare(pair) for pair in PAIRS]))["logits"].sum().backward()
    assert model.comparison.layers[0].attention.self.key.weight.grad.abs().sum() > 0  # type: ignore[union-attr]
    assert all(parameter.grad is None for parameter in encoder.parameters())


@pytest.mark.parametrize(("count", "architecture"), [(2, "bert"), (0, "bert"), (1, "modernbert")])
def test_refuses_what_it_cannot_be_made_of(tiny: Any, count: int, architecture: str) -> None:
    with pytest.raises(ValueError, match="comparison_layers: expected"):
        Comparison(AutoModel.from_pretrained(tiny(architecture)), count)


def test_margin_compares_a_supported_pair_with_those_of_its_example() -> None:
    full, below, open_ = [2.0, 2.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0], [0.0, 2.0, 1.0, 1.0]
    labels = torch.tensor([[*full, 0.0], [*below, 0.0], [*open_, 0.0], [*below, 1.0]])
    losses = margin_loss(torch.tensor([3.0, 1.0, 9.0, 9.0]), labels)
    assert losses.tolist() == pytest.approx([np.log1p(np.exp(1 - 2.0)), 0.0, 0.0, 0.0])


def test_token_loss_counts_both_kinds_alike_and_leaves_the_rest_out() -> None:
    support, labels = torch.tensor([[0.0, 2.0, 9.0], [-1.0, 5.0, 5.0]]), torch.tensor([[1, 1, -1], [0, -1, -1]])
    borne_out, altered = (np.log(2) + np.log1p(np.exp(-2.0))) / 2, np.log1p(np.exp(-1.0))
    assert float(token_loss(support, labels)) == pytest.approx(borne_out + altered)
    assert float(token_loss(support, torch.full((2, 3), -1))) == 0.0
