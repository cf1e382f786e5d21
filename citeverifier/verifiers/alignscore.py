"""AlignScore (Zha et al. 2023; paper 2): is each sentence of the statement aligned with some chunk of the premise?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from citeverifier.models.alignscore import ALIGNED
from citeverifier.models.device import Dtype, pretrained, runs_bf16
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.nli import class_named
from citeverifier.verifiers.once import Once


class AlignScore(Scorer):
    """The mean, over the statement's sentences, of the greatest P(aligned) by any chunk of the premise.

    Chunks are of whole sentences and up to 350 tokens (the original counts words); a pair that would be over the
    model's length gets smaller chunks (there it is cut). The 3-way head is read, as in the original's default. One
    score answers both levels.

    Args:
        path: folder of the converted checkpoint, a plain RoBERTa classifier (`python -m citeverifier.models.alignscore
            AlignScore-base.ckpt roberta-base FOLDER` makes it of the published one).
        chunk: tokens a chunk may have.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.

    Raises:
        FileNotFoundError: no path, with the command that converts.
        ValueError: no class named aligned in the model's config.
    """

    name = "alignscore"

    def __init__(self, path: str | None, chunk: int = 350, dtype: Dtype = "auto") -> None:
        if path is None:
            raise FileNotFoundError(
                "verifier.path: expected the folder of a converted AlignScore checkpoint, came none; make it with "
                "`python -m citeverifier.models.alignscore AlignScore-base.ckpt roberta-base FOLDER` (the .ckpt is on "
                "the hub under yzha/AlignScore)"
            )
        from transformers import AutoModelForSequenceClassification

        from citeverifier.models.checkpoint import load_tokenizer, position_limit
        from citeverifier.models.grid import (
            MARGIN,
            Chunks,
            Grid,
            beside,
            by_sentence,
            classifier_cells,
            mean_of_greatest,
        )

        self.path, self.chunk = path, chunk
        self.bf16 = runs_bf16(dtype)
        self._model = pretrained(AutoModelForSequenceClassification, path, self.bf16)
        tokenizer = load_tokenizer(path, None)
        special = tokenizer.num_special_tokens_to_add(pair=True) + MARGIN
        room = beside(chunk, position_limit(self._model.config), special)
        cells = classifier_cells(self._model, tokenizer, class_named(path, self._model.config.id2label, (ALIGNED,)))
        grid = Grid(cells, Chunks(tokenizer, room), by_sentence, mean_of_greatest)
        self._once = Once(grid.logits, context=False)

    @cached_property
    def fingerprint(self) -> str:
        """Of the model's files, the size of a chunk and the number format."""
        from citeverifier.models.checkpoint import model_fingerprint

        return model_fingerprint(self.path, self._model.config, self.name, self.chunk, self.bf16)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """Scores in [0, 1]; equal pairs are scored once, and known ones not again."""
        return self._once.score(pairs, level)
