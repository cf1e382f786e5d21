"""BARTScore (Yuan et al. 2021; paper 2): how likely is the statement as what a summariser says of its premise?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from citeverifier.models.device import Dtype, pretrained, runs_bf16
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.once import Once


class BartScore(Scorer):
    """exp of the mean log-probability of the statement's tokens (special ones among them), the premise being encoded.

    The original gives the mean log-probability itself: the order is the same, and this lies in [0, 1]. A premise over
    the model's length is read in chunks of whole sentences, the greatest counts (there it is cut). One score answers
    both levels.

    Args:
        path: hub id or folder of an `AutoModelForSeq2SeqLM` of BART's kind.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.
    """

    name = "bartscore"

    def __init__(self, path: str, dtype: Dtype = "auto") -> None:
        from transformers import AutoModelForSeq2SeqLM

        from citeverifier.models.checkpoint import load_tokenizer, position_limit
        from citeverifier.models.grid import MARGIN, Cells, Chunks, Grid, greatest, whole

        self.path = path
        self.bf16 = runs_bf16(dtype)
        self._model = pretrained(AutoModelForSeq2SeqLM, path, self.bf16)
        tokenizer = load_tokenizer(path, None)
        room = position_limit(self._model.config) - tokenizer.num_special_tokens_to_add() - MARGIN

        def encode(chunk: str, part: str) -> Mapping[str, list[int]]:
            read = tokenizer(chunk)
            ids, mask = read["input_ids"], read["attention_mask"]
            return {"input_ids": ids, "attention_mask": mask, "labels": tokenizer(part)["input_ids"]}

        cells = Cells(self._model, encode, mean_likelihood, {"input_ids": tokenizer.pad_token_id, "labels": -100})
        chunks = Chunks(tokenizer, lambda part: room if part <= room else 0)
        self._once = Once(Grid(cells, chunks, whole, greatest).logits, context=False)

    @cached_property
    def fingerprint(self) -> str:
        """Of the model's files (on the hub: its commit) and the number format."""
        from citeverifier.models.checkpoint import model_fingerprint

        return model_fingerprint(self.path, self._model.config, self.name, self.bf16)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """Likelihood a token in [0, 1]; equal pairs are scored once, and known ones not again."""
        return self._once.score(pairs, level)


def mean_likelihood(model: Any, batch: dict[str, Any]) -> Any:
    """exp of the mean log-probability of each row's labels (-100 is padding), (n,)."""
    labels = batch["labels"]
    read = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
    logits = model(**read, decoder_input_ids=model.prepare_decoder_input_ids_from_labels(labels)).logits
    said = labels != -100
    each = logits.float().log_softmax(dim=-1).gather(2, labels.clamp(min=0).unsqueeze(2)).squeeze(2)
    return ((each * said).sum(dim=1) / said.sum(dim=1)).exp()
