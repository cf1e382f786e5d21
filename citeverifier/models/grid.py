"""Premises in chunks against statements in parts: a matrix of values a pair, folded into one.

What paper 2's metrics share. Nothing is cut: what is longer than a model takes becomes more chunks, a statement that
leaves no room is unscored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from citeverifier.models.folds import Fold
from citeverifier.models.late_interaction_tokens import StatementTooLong, pad
from citeverifier.models.logits import Logits
from citeverifier.models.token_batches import Batches
from citeverifier.records import Pair, Support
from citeverifier.text.rendering import render_document, render_pair
from citeverifier.text.sentences import sentences

LEAST_ROOM = 32  # tokens that a statement must leave for a chunk
MARGIN = 4  # tokens that a text may have more than its parts

Cell = tuple[str, str]


class Cells:
    """Values of (chunk, part) texts, each distinct one once, in batches of like length.

    Args:
        model: on its device, in eval mode.
        encode: token id lists of a cell by input name, "input_ids" among them.
        values: one number a row of the model and a padded batch.
        padding: by input name what it is padded with, 0 elsewhere.
    """

    def __init__(
        self,
        model: Any,
        encode: Callable[[str, str], Mapping[str, list[int]]],
        values: Callable[[Any, dict[str, Tensor]], Tensor],
        padding: Mapping[str, int],
    ) -> None:
        self.model, self.encode, self.values, self.padding = model, encode, values, padding
        self.device = next(model.parameters()).device
        self.batches = Batches(self.device)

    @torch.inference_mode()
    def __call__(self, cells: Sequence[Cell]) -> tuple[dict[Cell, float], int]:
        """(value by cell, tokens read)."""
        distinct = list(dict.fromkeys(cells))
        rows = [self.encode(*cell) for cell in distinct]
        lengths = [max(map(len, row.values())) for row in rows]
        values_by_cell: dict[Cell, float] = {}

        def forward(batch: list[int]) -> None:
            inputs = {
                name: pad([rows[i][name] for i in batch], self.padding.get(name, 0)).to(self.device)
                for name in rows[batch[0]]
            }
            values = self.values(self.model, inputs).double().cpu().tolist()
            values_by_cell.update({distinct[i]: value for i, value in zip(batch, values, strict=True)})

        self.batches.run(lengths, forward)
        return values_by_cell, sum(lengths)


@dataclass(frozen=True)
class Chunks:
    """Cuts a pair's premise at sentence ends.

    `room`: tokens a chunk may have beside a part of so many tokens. A premise that fits is one chunk as it is; else its
    sentences are packed in their order; with `by_sentence` each is a chunk. A sentence over the room is cut in parts.
    """

    tokenizer: Any
    room: Callable[[int], int]
    by_sentence: bool = False

    def __call__(self, pair: Pair, parts: Sequence[str]) -> list[str]:
        """The chunks; raises StatementTooLong where the longest part leaves no room."""
        longest = max(map(self._length, parts))
        room = self.room(longest)
        if room < LEAST_ROOM:
            raise StatementTooLong(f"a statement of {longest} tokens leaves no room for documents beside it")
        _, premise = render_pair(pair, context=False)
        if not self.by_sentence and self._length(premise) <= room:
            return [premise]
        chunks: list[str] = []
        for document in pair.documents:
            for sentence in sentences(render_document(document), pair.lang):
                for piece in self._pieces(sentence, room):
                    joined = f"{chunks[-1]} {piece}" if chunks and not self.by_sentence else ""
                    if joined and self._length(joined) <= room:
                        chunks[-1] = joined
                    else:
                        chunks.append(piece)
        return chunks

    def _length(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _pieces(self, text: str, room: int) -> list[str]:
        spans = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        if len(spans) <= room:
            return [text]
        size = room - MARGIN
        return [
            text[spans[start][0] : spans[min(start + size, len(spans)) - 1][1]] for start in range(0, len(spans), size)
        ]


class Grid:
    """An engine for `Once`: each pair's chunks by parts, their values folded by `fold` ((chunks, parts) -> number)."""

    def __init__(
        self,
        cells: Cells,
        chunks: Chunks,
        parts: Callable[[Pair], list[str]],
        fold: Fold,
    ) -> None:
        self.cells, self.chunks, self.parts, self.fold = cells, chunks, parts, fold

    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Values of pairs; the same for both levels."""
        result = Logits(np.full(len(pairs), np.nan))
        grids: dict[int, tuple[list[str], list[str]]] = {}
        for i, pair in enumerate(pairs):
            parts = self.parts(pair)
            try:
                chunks = self.chunks(pair, parts)
            except StatementTooLong as error:
                result.reasons[i] = str(error)
                continue
            grids[i] = chunks, parts
            result.windowed += len(chunks) > 1
        values, result.tokens = self.cells([(c, p) for chunks, parts in grids.values() for c in chunks for p in parts])
        for i, (chunks, parts) in grids.items():
            result.values[i] = self.fold(np.array([[values[c, p] for p in parts] for c in chunks]))
        return result


def whole_statement(pair: Pair) -> list[str]:
    """The statement as one part."""
    return [pair.statement]


def statement_sentences(pair: Pair) -> list[str]:
    """The statement's sentences."""
    return sentences(pair.statement, pair.lang) or [pair.statement]
