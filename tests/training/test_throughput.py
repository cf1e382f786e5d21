"""What is counted of training: tokens without padding, arithmetic of what is trained, frozen parts as such."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from citeverifier.training.build import attention_of, build_model, encoder_of
from citeverifier.training.hyperparameters import Backbone, Lora, TrainingOptions
from citeverifier.training.throughput import Throughput, flops_per_token, gemm_peak

# the tiny backbones: two layers of four 32x32 projections and a 32x48 feed-forward pair
WEIGHTS = 2 * (4 * 32 * 32 + 2 * 32 * 48)


@pytest.fixture
def options(tiny: Any) -> TrainingOptions:
    return TrainingOptions(output_dir="", shape="cross_encoder", backbone=Backbone(str(tiny("bert"))))


@pytest.mark.parametrize("shape", ["late_interaction", "cross_encoder"])
def test_flops_are_six_a_weight_and_less_where_frozen(shape: Any, options: TrainingOptions) -> None:
    def linear(**changes: Any) -> float:
        model, _ = build_model(replace(options, shape=shape, **changes))
        return flops_per_token(encoder_of(model)).linear

    assert linear() == 6 * WEIGHTS
    assert linear(frozen_layers=1) == WEIGHTS / 2 * (2 + 6)
    assert linear(lora=Lora(r=4)) > 4 * WEIGHTS, "LoRA goes backward through weights it does not train"
    assert linear(lora=Lora(r=4)) < 6 * WEIGHTS


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


def test_steps_are_timed_and_tokens_counted_after_the_first(
    options: TrainingOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("citeverifier.training.throughput.time.perf_counter", lambda: now[0])
    monkeypatch.setattr("citeverifier.training.throughput.gemm_peak", lambda *_: 1e9)
    model, _ = build_model(options)
    throughput = Throughput(encoder_of(model), bf16=False)
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
    flops = flops_per_token(encoder_of(model))
    assert report["mfu"] == pytest.approx((flops.linear * 8 + flops.attention * 20) / 5 / 1e9)


def test_the_peak_is_a_rate_and_attention_is_chosen_by_shape(options: TrainingOptions) -> None:
    assert gemm_peak(torch.device("cpu"), bf16=False) > 1e8
    if not torch.cuda.is_available():
        assert attention_of(options) == "eager"
    assert attention_of(replace(options, attention="sdpa")) == "sdpa"
