"""Scoring by a cross-encoder: pairs in, folded logits out.

Rows are sorted by length and batched under a token budget; a pair's score does not depend on what it is scored with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from citeverifier.models.bert_layers import attend_by_products, compute_first_token_only
from citeverifier.models.inputs import STRIDE_LONG, CrossEncoderInputs
from citeverifier.models.logits import Logits
from citeverifier.models.token_batches import Batches
from citeverifier.records import Document, Pair, Support
from citeverifier.text.rendering import DOCUMENT_SEPARATOR
from citeverifier.text.sentences import sentences


def one_logit(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """The logit of a one-label classifier, (n,)."""
    logits: Tensor = model(**batch).logits.reshape(-1)
    return logits


_Piece = tuple[int, str]  # a sentence, and the position of its document


def _alone(pair: Pair, piece: _Piece) -> Pair:
    """A pair's statement with one sentence; the same for pairs that share statement and document."""
    document = Document(pair.documents[piece[0]].title, piece[1])
    return Pair.of(pair.statement, [document], pair.lang, context=pair.context)


def _with_pieces(pair: Pair, pieces: Sequence[_Piece]) -> Pair:
    texts: dict[int, list[str]] = {}
    for d, sentence in pieces:
        texts.setdefault(d, []).append(sentence)
    documents = tuple(Document(pair.documents[d].title, " ".join(parts)) for d, parts in texts.items())
    return replace(pair, documents=documents)


class CrossEncoderEngine:
    """Scores statement and premise together; `values` makes one number a row of a model and its batch.

    A premise over the limit is windowed at level partial (greatest value of overlapping windows) and packed at level
    full (its sentences are scored, the best that fit are scored once, together, in their order).
    """

    def __init__(
        self, model: Any, inputs: CrossEncoderInputs, values: Callable[[Any, dict[str, Tensor]], Tensor] = one_logit
    ) -> None:
        self.model, self.inputs, self.values = model, inputs, values
        self.batches = Batches(next(model.parameters()).device)
        attend_by_products(model)
        compute_first_token_only(model)

    @torch.inference_mode()
    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs at a level."""
        result = Logits(np.full(len(pairs), np.nan))
        rows: list[dict[str, Any]] = []
        owners: list[int] = []
        long: list[int] = []
        for i, (pair, row) in enumerate(zip(pairs, self.inputs.prepare_all(pairs), strict=True)):
            if row["length"] <= self.inputs.limit:
                rows.append(row)
                owners.append(i)
            elif self.inputs.room(pair) < STRIDE_LONG:
                result.reasons[i] = f"the statement leaves no room for documents within {self.inputs.limit} tokens"
            elif level == Support.FULL:
                long.append(i)
                result.apart.add(i)
            else:
                result.apart.add(i)
                windows = self.inputs.windows(pair)
                rows += windows
                owners += [i] * len(windows)
                result.windowed += 1
        for owner, value in zip(owners, self._forward(rows, result), strict=True):
            result.values[owner] = np.nanmax([result.values[owner], value])
        if long:
            packed = dict(zip(long, self._packed([pairs[i] for i in long], result), strict=True))
            empty = [i for i in long if not packed[i].documents]
            result.reasons |= dict.fromkeys(empty, f"no sentence of the documents fits {self.inputs.limit} tokens")
            kept = [i for i in long if packed[i].documents]
            result.values[kept] = self._forward(self.inputs.prepare_all([packed[i] for i in kept]), result)
            result.packed += len(kept)
        return result

    def _packed(self, pairs: Sequence[Pair], result: Logits) -> list[Pair]:
        """Each pair with the best sentences of its documents, as many as fit, in their order."""
        pieces = [
            [(d, text) for d, document in enumerate(pair.documents) for text in sentences(document.text, pair.lang)]
            for pair in pairs
        ]
        each = zip(pairs, pieces, strict=True)
        probes = list(dict.fromkeys(_alone(pair, piece) for pair, own in each for piece in own))
        rows = self.inputs.prepare_all(probes)
        for i, probe in enumerate(probes):
            if rows[i]["length"] > self.inputs.limit:
                rows[i] = self.inputs.windows(probe)[0]  # its first window: it only ranks
        scores = dict(zip(probes, self._forward(rows, result), strict=True))
        packed = []
        for pair, own in zip(pairs, pieces, strict=True):
            values = [scores[_alone(pair, piece)] for piece in own]
            packed.append(self._best_that_fit(pair, own, sorted(range(len(own)), key=lambda k: -values[k])))
        return packed

    def _best_that_fit(self, pair: Pair, pieces: Sequence[_Piece], order: Sequence[int]) -> Pair:
        """The pair with as many of the pieces as fit, taken in that order."""
        separator, *titles = self.inputs.lengths([DOCUMENT_SEPARATOR, *(f"{d.title}:" for d in pair.documents)])
        lengths = self.inputs.lengths([text for _, text in pieces])
        room, taken = self.inputs.room(pair), 0
        chosen: list[int] = []
        titled: set[int] = set()
        for k in order:
            d = pieces[k][0]
            heading = 0 if d in titled else separator + (titles[d] if pair.documents[d].title else 0)
            if taken + heading + lengths[k] <= room:
                taken += heading + lengths[k]
                titled.add(d)
                chosen.append(k)
        # A text may have more tokens than its parts: what counts is how many it has.
        while True:
            packed = _with_pieces(pair, [pieces[k] for k in sorted(chosen)])
            if not chosen or self.inputs.prepare(packed)["length"] <= self.inputs.limit:
                return packed
            chosen.pop()

    @torch.inference_mode()
    def _forward(self, rows: Sequence[dict[str, Any]], result: Logits) -> NDArray[np.float64]:
        lengths = [len(row["input_ids"]) for row in rows]
        result.tokens += sum(lengths)
        return self.batches.values(
            lengths,
            lambda batch: self.inputs.collate([rows[i] for i in batch]),
            lambda inputs: self.values(self.model, inputs),
        )
