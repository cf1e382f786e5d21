"""Scoring by one-way reading: pairs in, folded logits out; pairs that share documents stand in one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from citeverifier.models.inputs import LateInteractionInputs
from citeverifier.models.late_interaction_tokens import StatementTooLong
from citeverifier.models.logits import Logits
from citeverifier.models.one_way import OneWay
from citeverifier.models.token_batches import Batches
from citeverifier.records import Pair, Support


class OneWayEngine:
    """Runs a model on its device."""

    def __init__(self, model: OneWay, inputs: LateInteractionInputs) -> None:
        self.model, self.inputs = model, inputs
        self.device = next(model.parameters()).device
        self.batches = Batches(self.device)

    @torch.inference_mode()
    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs; the same for both levels."""
        result = Logits(np.full(len(pairs), np.nan))
        items: dict[int, dict[str, Any]] = {}
        for i, pair in enumerate(pairs):
            try:
                items[i] = self.inputs.prepare(pair)
            except StatementTooLong as error:
                result.reasons[i] = str(error)
            else:
                result.windowed += len(items[i]["windows"]) > len(pair.documents)
        groups = list(_groups(items, self.batches.budget))

        def forward(batch: list[int]) -> None:
            rows = [i for g in batch for i in groups[g]]
            tensors = self.inputs.collate([items[i] for i in rows])
            logits = self.model(**{name: tensor.to(self.device) for name, tensor in tensors.items()})["logits"]
            result.values[rows] = logits.reshape(-1).double().cpu().numpy()

        self.batches.run([self.batches.budget] * len(groups), forward)
        return result


def _groups(items: dict[int, dict[str, Any]], budget: int) -> Iterator[list[int]]:
    """Positions of pairs in batches of about `budget` tokens: those of equal documents together, of like length side
    by side, each distinct window counted once."""

    def key(i: int) -> tuple[Any, ...]:
        windows = items[i]["windows"]
        return len(windows), max(map(len, windows)), windows, len(items[i]["statement"][0])

    group: list[int] = []
    windows: set[tuple[int, ...]] = set()
    statements = 0
    for i in sorted(items, key=key):
        own = {tuple(window) for window in items[i]["windows"]}
        longest = max(map(len, items[i]["windows"]))
        statement = len(items[i]["statement"][0])
        if group and longest * len(windows | own) + max(statements, statement * (len(group) + 1)) > budget:
            yield group
            group, windows, statements = [], set(), 0
        group.append(i)
        windows |= own
        statements = max(statements, statement * len(group))
    if group:
        yield group
