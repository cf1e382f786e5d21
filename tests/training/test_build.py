"""A model ready to train: heads that go on from a checkpoint, and heads that read only a part of the matches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import tiny_checkpoint

from citeverifier.models.checkpoint import HEAD, POOLING
from citeverifier.training.build import build_model, build_optimizer
from citeverifier.training.options import Backbone, TrainingOptions


@pytest.fixture
def options(tiny: Any) -> TrainingOptions:
    return TrainingOptions(output_dir="", shape="late_interaction", backbone=Backbone(str(tiny("bert"))))


def test_training_goes_on_with_the_head_of_a_late_interaction_checkpoint(
    options: TrainingOptions, tmp_path: Path
) -> None:
    folder = tiny_checkpoint(tmp_path, Path(options.backbone.name), "late_interaction")
    state = {name: value + 0.25 for name, value in load_file(str(folder / HEAD)).items()}
    save_file(state, str(folder / HEAD))
    model, _ = build_model(replace(options, backbone=Backbone(str(folder))))
    for name, value in model.head.state_dict().items():
        torch.testing.assert_close(value, state[name])


@pytest.mark.parametrize("pooling", [("mean",), ("soft_minimum", "coverage")])
def test_matches_that_are_not_pooled_stay_out_of_the_logit(options: TrainingOptions, pooling: tuple[str, ...]) -> None:
    chosen = replace(options, pooling=pooling)
    model, _ = build_model(chosen)
    optimizer = build_optimizer(model, chosen)
    tokens, matches = torch.randn(3, 4, 32), torch.rand(3, 4)
    model.head(tokens, torch.ones(3, 4, dtype=torch.bool), matches).sum().backward()
    before = model.head.output.weight.detach().clone()
    optimizer.step()
    after = model.head.output.weight.detach()
    for i, name in enumerate(POOLING):
        if name in pooling:
            assert after[0, i] != before[0, i] != 0
        else:
            assert after[0, i] == before[0, i] == 0


def test_without_salience_every_token_keeps_its_weight(options: TrainingOptions) -> None:
    model, _ = build_model(replace(options, salience=False))
    assert not any(parameter.requires_grad for parameter in model.head.salience.parameters())
    assert model.head.output.weight.requires_grad


@pytest.mark.parametrize("pooling", [(), ("mean", "maximum")])
def test_an_unknown_pooling_is_named(options: TrainingOptions, pooling: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"training\.pooling: expected some of mean, soft_minimum, coverage, came"):
        build_model(replace(options, pooling=pooling))
