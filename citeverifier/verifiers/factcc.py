"""FactCC (Kryściński et al. 2020; paper 2): a BERT that tells consistent summaries from altered ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from citeverifier.models.device import Dtype, pretrained, runs_bf16
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.nli import class_named
from citeverifier.verifiers.once import Once

CORRECT = ("correct", "consistent")


class FactCC(Scorer):
    """P(correct) of the statement with its premise; both levels get it.

    A premise over the limit is read in chunks of whole sentences, the greatest counts (the original cuts at 512
    tokens).

    Args:
        path: hub id or folder of an `AutoModelForSequenceClassification` with a class named correct.
        max_length: tokens a pair may have; less where the model takes less.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.

    Raises:
        ValueError: no class named correct in the model's config.
    """

    name = "factcc"

    def __init__(self, path: str, max_length: int = 512, dtype: Dtype = "auto") -> None:
        from transformers import AutoModelForSequenceClassification

        from citeverifier.models.checkpoint import load_tokenizer, position_limit
        from citeverifier.models.grid import MARGIN, Chunks, Grid, beside, classifier_cells, greatest, whole

        self.path, self.max_length = path, max_length
        self.bf16 = runs_bf16(dtype)
        self._model = pretrained(AutoModelForSequenceClassification, path, self.bf16)
        tokenizer = load_tokenizer(path, None)
        limit = min(max_length, position_limit(self._model.config))
        room = beside(limit, limit, tokenizer.num_special_tokens_to_add(pair=True) + MARGIN)
        cells = classifier_cells(self._model, tokenizer, class_named(path, self._model.config.id2label, CORRECT))
        self._once = Once(Grid(cells, Chunks(tokenizer, room), whole, greatest).logits, context=False)

    @cached_property
    def fingerprint(self) -> str:
        """Of the model's files (on the hub: its commit), the length limit and the number format."""
        from citeverifier.models.checkpoint import model_fingerprint

        return model_fingerprint(self.path, self._model.config, self.name, self.max_length, self.bf16)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """P(correct); equal pairs are scored once, and known ones not again."""
        return self._once.score(pairs, level)
