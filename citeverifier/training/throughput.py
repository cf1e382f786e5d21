"""How fast a run trains: real tokens a second.

Real tokens are those that are encoded, without padding; late interaction encodes what a batch shares once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from transformers import TrainerCallback

from citeverifier.processes import gather

_MASKS = ("attention_mask", "statement_attention", "document_attention")


class Throughput(TrainerCallback):
    """Counts tokens and seconds of training steps, collating included; not evaluations, saving and the first step."""

    def __init__(self) -> None:
        self.seconds, self._since = 0.0, 0.0
        self._tokens: Tensor | None = None  # on the device, so that nothing waits for it

    def count(self, batch: Mapping[str, Tensor]) -> None:
        """Count a batch that is trained on."""
        for mask in (batch[name] for name in _MASKS if name in batch):
            self._tokens = mask.sum() if self._tokens is None else self._tokens + mask.sum()

    def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """A step is over: take its time, but drop what the first one took to warm up."""
        pausing = control.should_evaluate or control.should_save or control.should_training_stop
        if pausing and torch.cuda.is_available():
            torch.cuda.synchronize()
        now = time.perf_counter()
        if self._since:
            self.seconds += now - self._since
        else:
            self._tokens = None
        self._since = now

    def on_evaluate(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Evaluating is no training, nor is saving."""
        self._since = time.perf_counter()

    on_save = on_evaluate

    def report(self) -> dict[str, float]:
        """`tokens`, `seconds` and `tokens_per_second` of all processes; every process must call it.

        Empty where only one step was made.
        """
        parts = gather((0.0 if self._tokens is None else float(self._tokens), self.seconds))
        tokens, seconds = sum(part[0] for part in parts), max(part[1] for part in parts)
        if not tokens or not seconds:
            return {}
        return {"tokens": tokens, "seconds": seconds, "tokens_per_second": tokens / seconds}
