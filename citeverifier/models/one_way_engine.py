"""Scoring by one-way reading: pairs in, folded logits out; pairs that share documents stand in one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from citeverifier.models.inputs import LateInteractionInputs
from citeverifier.models.late_interaction_tokens import StatementTooLong
from citeverifier.models.logits import Logits
from citeverifier.models.one_way import OneWay
from citeverifier.models.token_batches import Batches
from citeverifier.records import Pair, Support

COPIES = 4  # budgets of tokens whose keys and values a batch may copy


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

        def read(rows: list[int]) -> None:
            tensors = self.inputs.collate([items[i] for i in rows])
            logits = self.model(**{name: tensor.to(self.device) for name, tensor in tensors.items()})["logits"]
            result.values[rows] = logits.reshape(-1).double().cpu().numpy()

        def forward(batch: list[int]) -> None:
            for number in batch:
                _in_halves(groups[number], read)

        self.batches.run([self.batches.budget] * len(groups), forward)
        result.tokens += sum(
            sum(map(len, {tuple(window) for i in group for window in items[i]["windows"]}))
            + sum(len(items[i]["statement"][0]) for i in group)
            for group in groups
        )
        return result


def _in_halves(rows: list[int], read: Callable[[list[int]], None]) -> None:
    """Read rows together, or where memory runs out each half of them; torch.OutOfMemoryError where one is too much."""
    try:
        read(rows)
    except torch.OutOfMemoryError:
        if len(rows) == 1:
            raise
        half = len(rows) // 2
        _in_halves(rows[:half], read)
        _in_halves(rows[half:], read)


def _groups(items: Mapping[int, Mapping[str, Any]], budget: int) -> Iterator[list[int]]:
    """Positions of pairs in batches of about `budget` padded tokens, those of equal documents together.

    Each distinct window counts once. As each pair attends to a copy of its windows' keys and values, these are bounded
    too, by COPIES budgets.
    """

    def key(i: int) -> tuple[Any, ...]:
        windows = items[i]["windows"]
        return len(windows), max(map(len, windows)), windows, len(items[i]["statement"][0])

    group: list[int] = []
    distinct: set[tuple[int, ...]] = set()
    most = widest = statement = 0  # windows of a pair, tokens of a window and of a statement
    for i in sorted(items, key=key):
        own = {tuple(window) for window in items[i]["windows"]}
        wider = max(widest, max(map(len, own)))
        longer = max(statement, len(items[i]["statement"][0]))
        more = max(most, len(items[i]["windows"]))
        rows = len(group) + 1
        padded, copied = wider * len(distinct | own) + longer * rows, wider * more * rows
        if group and (padded > budget or copied > COPIES * budget):
            yield group
            group, distinct = [], set()
            wider, longer, more = max(map(len, own)), len(items[i]["statement"][0]), len(items[i]["windows"])
        group.append(i)
        distinct |= own
        most, widest, statement = more, wider, longer
    if group:
        yield group
