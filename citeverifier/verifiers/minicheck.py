"""MiniCheck (Tang et al. 2024): a small model trained to check a claim against a document; encoder or Flan-T5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from citeverifier.models.device import Dtype, pretrained, runs_bf16
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.once import Once

_RELATIVE = ("t5", "deberta-v2")  # no limit of positions


class MiniCheck(Scorer):
    """P(supported) of the whole statement, the greatest of any chunk of the premise, for both levels.

    Chunk and statement are read as one text, the end-of-text token between; a Flan-T5 gets "predict: " before and
    answers 1 or 0, an encoder's second class is "supported". The statement is not split, as in the original; chunks are
    counted in the model's own tokens (there words for Flan-T5).

    Args:
        path: hub id or folder (lytang/MiniCheck-RoBERTa-Large, -DeBERTa-v3-Large, -Flan-T5-Large).
        chunk: tokens a chunk may have.
        max_length: tokens chunk and statement may have together; less where the model takes less.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.

    Raises:
        ValueError: not two classes; or "1" and "0" do not begin with tokens of their own.
    """

    name = "minicheck"

    def __init__(self, path: str, chunk: int = 400, max_length: int = 2048, dtype: Dtype = "auto") -> None:
        from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoModelForSequenceClassification

        from citeverifier.models.checkpoint import load_tokenizer, position_limit
        from citeverifier.models.grid import MARGIN, Cells, Chunks, Grid, beside, class_probability, greatest, whole

        self.path, self.chunk, self.max_length = path, chunk, max_length
        self.bf16 = runs_bf16(dtype)
        config = AutoConfig.from_pretrained(path)
        answers = config.is_encoder_decoder
        self._model = pretrained(
            AutoModelForSeq2SeqLM if answers else AutoModelForSequenceClassification, path, self.bf16
        )
        tokenizer = load_tokenizer(path, None)
        between = tokenizer.eos_token or tokenizer.sep_token
        before = "predict: " if answers else ""
        if answers:
            values = _one_or_zero(path, tokenizer, config.decoder_start_token_id)
        elif config.num_labels == 2:
            values = class_probability(1)
        else:
            raise ValueError(f"{path}: expected a classifier of two classes, came {config.num_labels}")

        def encode(text: str, part: str) -> Mapping[str, list[int]]:
            return dict(tokenizer(f"{before}{text}{between}{part}"))

        limit = max_length if config.model_type in _RELATIVE else min(max_length, position_limit(config))
        room = beside(chunk, limit, len(tokenizer(f"{before}{between}")["input_ids"]) + MARGIN)
        cells = Cells(self._model, encode, values, {"input_ids": tokenizer.pad_token_id})
        self._once = Once(Grid(cells, Chunks(tokenizer, room), whole, greatest).logits, context=False)

    @cached_property
    def fingerprint(self) -> str:
        """Of the model's files (on the hub: its commit), sizes and the number format."""
        from citeverifier.models.checkpoint import model_fingerprint

        settings = self.name, self.chunk, self.max_length, self.bf16
        return model_fingerprint(self.path, self._model.config, *settings)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """P(supported); equal pairs are scored once, and known ones not again."""
        return self._once.score(pairs, level)


def _one_or_zero(path: str, tokenizer: Any, start: int) -> Any:
    """P(1) against P(0) by the token that each answer begins with."""
    import torch

    one, zero = (tokenizer(answer, add_special_tokens=False)["input_ids"][0] for answer in ("1", "0"))
    if one == zero:
        raise ValueError(f"{path}: expected '1' and '0' to begin with different tokens, came {one} for both")

    def values(model: Any, batch: dict[str, Any]) -> Any:
        first = torch.full((len(batch["input_ids"]), 1), start, device=batch["input_ids"].device)
        logits = model(**batch, decoder_input_ids=first).logits[:, 0].float()
        return logits[:, [zero, one]].softmax(dim=-1)[:, 1]

    return values
