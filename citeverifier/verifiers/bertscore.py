"""BERTScore's precision (paper 2): are a statement's tokens near ones of its premise?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from citeverifier.models.device import Dtype, pretrained, runs_bf16
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.once import Once


class BertScore(Scorer):
    """The mean, over the statement's tokens, of their greatest cosine to any token of the premise, cut to [0, 1].

    That is BERTScore with the statement as candidate and the premise as reference, precision only. It differs from the
    bert-score package in this: token vectors are the last layer's (there a layer tuned per model), special tokens do
    not count, nothing is weighted by idf or rescaled by a baseline, documents are encoded apart and in overlapping
    windows (there a reference is cut at 512 tokens). One score answers both levels.

    Args:
        path: any `AutoModel` encoder: hub id, folder, or `package:NAME/FOLDER`.
        window: tokens a document window may have; less where the model takes less.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.
    """

    name = "bertscore"

    def __init__(self, path: str, window: int = 512, dtype: Dtype = "auto") -> None:
        from transformers import AutoModel

        from citeverifier.models.checkpoint import backbone_path, load_tokenizer, position_limit
        from citeverifier.models.inputs import LateInteractionInputs
        from citeverifier.models.late_interaction import LateInteraction, MeanOfMatches
        from citeverifier.models.late_interaction_engine import LateInteractionEngine

        self.path, self.window = backbone_path(path), window
        self.bf16 = runs_bf16(dtype)
        encoder = pretrained(AutoModel, self.path, self.bf16)
        self._model = LateInteraction(encoder, MeanOfMatches()).eval()
        limit = position_limit(encoder.config)
        inputs = LateInteractionInputs(load_tokenizer(self.path, None), min(window, limit), limit, context=False)
        self._once = Once(LateInteractionEngine(self._model, inputs).logits, context=False)

    @cached_property
    def fingerprint(self) -> str:
        """Of the model's files (on the hub: its commit), the window and the number format."""
        from citeverifier.models.checkpoint import model_fingerprint

        return model_fingerprint(self.path, self._model.config, self.name, self.window, self.bf16)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """Precision in [0, 1]; each text is encoded once."""
        return self._once.score(pairs, level)
