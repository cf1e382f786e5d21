"""TRUE: a sequence-to-sequence model that answers 1 where the premise entails the hypothesis (paper 2: AutoAIS)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from citeverifier.models.device import Dtype, pretrained, runs_bf16
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.once import Once


class TrueT5(Scorer):
    """P("1") as the first token of the answer to "premise: ... hypothesis: ...", for both levels.

    The probability is over the whole vocabulary: a model that answers in other words scores near 0 everywhere, rather
    than by noise between two tokens it never says. A premise over `max_length` tokens is windowed at level partial (the
    greatest probability) and packed at level full (its best sentences together); the statement is never cut.

    Args:
        path: hub id or folder of an `AutoModelForSeq2SeqLM`, any T5 that was taught to answer 1 and 0.
        max_length: tokens of the text, which T5's relative positions do not limit.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.

    Raises:
        ValueError: "1" is not one token of the model's.
    """

    name = "true_t5"

    def __init__(self, path: str, max_length: int = 2048, dtype: Dtype = "auto") -> None:
        import torch
        from transformers import AutoModelForSeq2SeqLM

        from citeverifier.models.checkpoint import load_tokenizer
        from citeverifier.models.cross_encoder_engine import CrossEncoderEngine
        from citeverifier.models.inputs import TextToTextInputs

        self.path, self.max_length = path, max_length
        self.bf16 = runs_bf16(dtype)
        self._model = pretrained(AutoModelForSeq2SeqLM, path, self.bf16)
        tokenizer = load_tokenizer(path, None)
        answer = tokenizer("1", add_special_tokens=False)["input_ids"]
        if len(answer) != 1:
            raise ValueError(f"{path}: expected '1' to be one token, came {len(answer)}; use a T5 that answers 1 and 0")
        start = self._model.config.decoder_start_token_id

        def probability(model: Any, batch: dict[str, Any]) -> Any:
            first = torch.full((len(batch["input_ids"]), 1), start, device=batch["input_ids"].device)
            return model(**batch, decoder_input_ids=first).logits[:, 0].float().softmax(dim=-1)[:, answer[0]]

        inputs = TextToTextInputs(tokenizer, max_length)
        self._once = Once(CrossEncoderEngine(self._model, inputs, probability).logits, context=False)

    @cached_property
    def fingerprint(self) -> str:
        """Of the model's files (on the hub: its commit), the length limit and the number format."""
        from citeverifier.models.checkpoint import model_fingerprint

        return model_fingerprint(self.path, self._model.config, self.name, self.max_length, self.bf16)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """P("1"); equal pairs are scored once, and known ones not again."""
        return self._once.score(pairs, level)
