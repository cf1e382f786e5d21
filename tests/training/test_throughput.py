"""What is counted of training: tokens without padding, seconds of steps but not of warming up and evaluations."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from citeverifier.training.throughput import Throughput


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
