"""What is counted of training: tokens without padding, seconds of steps; what frozen parts and checkpointing do."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from citeverifier.training.build import attention_of, build_model, encoder_of
from citeverifier.training.hyperparameters import Backbone, TrainingOptions
from citeverifier.training.throughput import Throughput


@pytest.fixture
def options(tiny: Any) -> TrainingOptions:
    return TrainingOptions(output_dir="", shape="cross_encoder", backbone=Backbone(str(tiny("bert"))))


def test_frozen_layers_end_the_backward_pass(options: TrainingOptions) -> None:
    model, _ = build_model(replace(options, frozen_layers=1))
    ids = torch.tensor([[2, 5, 6, 3]])
    hidden = model.bert(input_ids=ids, output_hidden_states=True).hidden_states
    assert [bool(h.requires_grad) for h in hidden] == [False, False, True]


@pytest.mark.parametrize("shape", ["late_interaction", "cross_encoder"])
def test_gradient_checkpointing_works_in_both_shapes(shape: Any, options: TrainingOptions) -> None:
    model, _ = build_model(replace(options, shape=shape, gradient_checkpointing=True))
    encoder = encoder_of(model)
    assert encoder.is_gradient_checkpointing
    model.train()
    ids = torch.tensor([[2, 5, 6, 3]])
    encoder(input_ids=ids).last_hidden_state.sum().backward()
    assert encoder.encoder.layer[0].attention.self.query.weight.grad is not None


def test_steps_are_timed_and_tokens_counted_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("citeverifier.training.throughput.time.perf_counter", lambda: now[0])
    throughput = Throughput()
    control = SimpleNamespace(should_evaluate=False, should_save=False, should_training_stop=False)
    mask = torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0]])

    def step(seconds: float) -> None:
        throughput.count({"attention_mask": mask, "input_ids": mask})
        now[0] += seconds
        throughput.on_step_end(None, None, control)

    step(50.0)  # warms up
    assert throughput.report() == {}
    step(2.0)
    now[0] += 30.0
    throughput.on_evaluate(None, None, control)
    step(3.0)
    report = throughput.report()
    assert (report["tokens"], report["seconds"], report["tokens_per_second"]) == (8.0, 5.0, 1.6)


def test_attention_is_chosen_by_device_or_as_told(options: TrainingOptions) -> None:
    if not torch.cuda.is_available():
        assert attention_of(options) == "eager"
    assert attention_of(replace(options, attention="sdpa")) == "sdpa"
