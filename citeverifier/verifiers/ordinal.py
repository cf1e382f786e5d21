"""The trained ordinal verifier, whichever its shape: the one that users train, publish and load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from citeverifier.paths import LATEST
from citeverifier.records import Pair, Support
from citeverifier.text.rendering import render_document
from citeverifier.verifiers.base import Scores

_LEVELS = (Support.PARTIAL, Support.FULL)
_Key = tuple[str, str | None, tuple[str, ...]]


def latest_checkpoint() -> str:
    """The folder of the last finished training run; raises FileNotFoundError with the remedy."""
    if not LATEST.is_file():
        raise FileNotFoundError(
            f"no trained checkpoint: expected {LATEST} to name one; run `python train.py` first, or give "
            "verifier.path=FOLDER_OR_HUB_ID"
        )
    return LATEST.read_text(encoding="utf-8").strip()


class OrdinalVerifier:
    """Scores pairs with a checkpoint at both levels from one forward pass (within a cross-encoder's length limit).

    Args:
        path: checkpoint folder or hub id; None takes the last finished training run.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.

    Raises:
        FileNotFoundError: no checkpoint there, with the command that makes one.
        ValueError: not one of ours, or rendered in another way than this release does.
    """

    name = "citeverifier"

    def __init__(self, path: str | None = None, dtype: Literal["auto", "float32", "bfloat16"] = "auto") -> None:
        import torch

        from citeverifier.models.checkpoint import load_checkpoint, position_limit
        from citeverifier.models.device import native_bf16
        from citeverifier.models.inputs import CrossEncoderInputs, LateInteractionInputs
        from citeverifier.models.scoring import CrossEncoderEngine, LateInteractionEngine

        self.path = path or latest_checkpoint()
        self.bf16 = dtype == "bfloat16" or (dtype == "auto" and native_bf16())
        model, tokenizer, self.config = load_checkpoint(self.path, torch.bfloat16 if self.bf16 else torch.float32)
        model.to("cuda" if torch.cuda.is_available() else "cpu")
        if self.config.shape == "late_interaction":
            limit = position_limit(model.config)
            inputs = LateInteractionInputs(tokenizer, self.config.max_length, limit, self.config.reads_context)
            self._engine: Any = LateInteractionEngine(model, inputs)
        else:
            pair_inputs = CrossEncoderInputs(tokenizer, self.config.max_length, self.config.reads_context)
            self._engine = CrossEncoderEngine(model, pair_inputs)
        self._known: dict[tuple[_Key, Support], tuple[float, str | None]] = {}

    @property
    def thresholds(self) -> Mapping[Support, float]:
        """The thresholds fitted on dev, saved with the checkpoint."""
        return {level: self.config.threshold(level) for level in _LEVELS}

    @cached_property
    def fingerprint(self) -> str:
        """Of the checkpoint's files and the number format."""
        from citeverifier.models.checkpoint import files_fingerprint, local_folder

        return files_fingerprint(local_folder(self.path), self.name, self.bf16)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """P(support >= level); equal pairs are scored once, and known ones not again."""
        from citeverifier.models.ordinal import probability

        keys = [self._key(pair) for pair in pairs]
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if (key, level) not in self._known}
        found = self._engine.logits(list(new.values()), level)
        for position, key in enumerate(new):
            entry = float(found.values[position]), found.reasons.get(position)
            for known_level in (level,) if position in found.apart else _LEVELS:
                self._known[key, known_level] = entry
        logits = np.array([self._known[key, level][0] for key in keys])
        reasons = {i: reason for i, key in enumerate(keys) if (reason := self._known[key, level][1]) is not None}
        notes = {"windowed": found.windowed, "packed": found.packed}
        return Scores(
            probability(logits, level, self.config.delta), reasons, len(new), tokens=found.tokens, notes=notes
        )

    def _key(self, pair: Pair) -> _Key:
        """What of a pair decides its score."""
        context = pair.context if self.config.reads_context else None
        return pair.statement, context, tuple(render_document(document) for document in pair.documents)
