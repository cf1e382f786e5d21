"""Models trained on natural language inference: does the premise entail the statement?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from citeverifier.models.device import Dtype, pretrained, runs_bf16
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.once import Once


class Nli(Scorer):
    """P(entailment) of an NLI classifier (entailment, neutral, contradiction; or entailment or not), for both levels.

    The classes' names are read from the model's config. A premise over `max_length` tokens is windowed at level partial
    (the greatest probability) and packed at level full (its best sentences together); the statement is never cut.

    Args:
        path: hub id or folder of an `AutoModelForSequenceClassification`.
        max_length: tokens a pair may have; less where the model takes less.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.

    Raises:
        ValueError: no class named entailment in the model's config.
    """

    name = "nli"

    def __init__(self, path: str, max_length: int = 512, dtype: Dtype = "auto") -> None:
        from transformers import AutoModelForSequenceClassification

        from citeverifier.models.checkpoint import load_tokenizer, position_limit
        from citeverifier.models.cross_encoder_engine import CrossEncoderEngine
        from citeverifier.models.inputs import CrossEncoderInputs

        self.path, self.max_length = path, max_length
        self.bf16 = runs_bf16(dtype)
        self._model = pretrained(AutoModelForSequenceClassification, path, self.bf16)
        entailment = entailment_class(path, self._model.config.id2label)

        def probability(model: Any, batch: dict[str, Any]) -> Any:
            return model(**batch).logits.float().softmax(dim=-1)[:, entailment]

        limit = min(max_length, position_limit(self._model.config))
        inputs = CrossEncoderInputs(load_tokenizer(path, None), limit, context=False, premise_first=True)
        self._once = Once(CrossEncoderEngine(self._model, inputs, probability).logits, context=False)

    @cached_property
    def fingerprint(self) -> str:
        """Of the model's files (on the hub: its commit), the length limit and the number format."""
        from citeverifier.models.checkpoint import model_fingerprint

        return model_fingerprint(self.path, self._model.config, self.name, self.max_length, self.bf16)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """P(entailment); equal pairs are scored once, and known ones not again."""
        return self._once.score(pairs, level)


def entailment_class(path: str, names: Mapping[int, str]) -> int:
    """The class that is named entailment; raises ValueError where none is, or several are."""
    return class_named(path, names, ("entailment", "entail", "entailed"))


def class_named(path: str, names: Mapping[int, str], wanted: tuple[str, ...]) -> int:
    """The class with one of the wanted names, in any case; raises ValueError where none has one, or several have."""
    found = [position for position, name in names.items() if name.lower() in wanted]
    if len(found) != 1:
        raise ValueError(
            f"{path}: expected one class named {wanted[0]!r} in config.json's id2label, came {list(names.values())}; "
            "use a model trained for this, or name its classes there"
        )
    return int(found[0])
