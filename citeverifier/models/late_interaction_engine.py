"""Scoring by late interaction with torch; what it shares with onnxruntime is in `late_interaction_scoring.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pad_sequence

from citeverifier.models.bert_layers import attend_by_products
from citeverifier.models.inputs import LateInteractionInputs
from citeverifier.models.late_interaction import LateInteraction
from citeverifier.models.late_interaction_scoring import CACHE_BYTES, Encoded, LateInteractionScoring, Read
from citeverifier.models.late_interaction_tokens import pad
from citeverifier.models.logits import Logits
from citeverifier.models.token_batches import Batches
from citeverifier.records import Pair, Support


class LateInteractionEngine(LateInteractionScoring):
    """Runs a model on its device; vectors are kept in float16 where it runs in bfloat16, what is read as it is."""

    def __init__(
        self,
        model: LateInteraction,
        inputs: LateInteractionInputs,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        super().__init__(inputs, cache_bytes, model.reader is not None)
        self.model = model
        parameter = next(model.parameters())
        self.device = parameter.device
        self.dtype = torch.float32 if parameter.dtype == torch.float32 else torch.float16
        self.batches, self.reading = Batches(self.device), Batches(self.device)
        attend_by_products(model.encoder)

    @torch.inference_mode()
    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs; the same for both levels."""
        return super().logits(pairs, level)

    def statements(self, ids: Sequence[list[int]], counted: Sequence[Sequence[bool]]) -> list[Encoded]:
        """Statements; a reader takes them embedded."""
        kept: dict[int, Encoded] = {}

        def forward(batch: list[int]) -> None:
            rows, attention = self._batch(ids, batch)
            tokens = self.model.encode(rows, attention).float()
            embedded = self.model.reader.embedded(self.model.encoder, rows) if self.model.reader else None
            for at, i in enumerate(batch):
                own = torch.tensor(counted[i], device=self.device)
                reading = () if embedded is None else (embedded[at, : len(own)].clone(), own)
                kept[i] = Encoded(tokens[at, : len(own)][own].to(self.dtype), reading)

        self.batches.run([len(row) for row in ids], forward)
        return [kept[i] for i in range(len(ids))]

    def windows(self, ids: Sequence[list[int]]) -> list[Encoded]:
        """Document windows; a reader takes their keys and values, special tokens included."""
        before, after = len(self.inputs.before), len(self.inputs.after)
        kept: dict[int, Encoded] = {}

        def forward(batch: list[int]) -> None:
            rows, attention = self._batch(ids, batch)
            reader: Any = self.model.reader
            if reader is None:
                tokens, both = self.model.encode(rows, attention), []
            else:
                *below, tokens = self.model.encode_below(rows, attention)
                both = [(reader.by_head(k), reader.by_head(v)) for k, v in reader.keys_and_values(below)]
            for at, i in enumerate(batch):
                length = len(ids[i])
                vectors = normalize(tokens[at, before : length - after].float(), dim=-1)
                own = [part[at, :, :length] for pair in both for part in pair]
                kept[i] = Encoded(vectors.to(self.dtype, copy=True), (torch.stack(own),) if own else ())

        self.batches.run([len(row) for row in ids], forward)
        return [kept[i] for i in range(len(ids))]

    def _batch(self, ids: Sequence[list[int]], batch: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Padded ids and attention of some rows, on the device."""
        rows = [ids[i] for i in batch]
        attention = pad([[1] * len(row) for row in rows], 0)
        return pad(rows, self.inputs.pad_id).to(self.device), attention.to(self.device)

    def read(self, asked: Sequence[tuple[Encoded, Sequence[Encoded]]], lengths: Sequence[int]) -> Read:
        """What the reader makes of statements with their windows."""
        reader: Any = self.model.reader
        values, contradicted, words = np.empty(len(asked)), np.empty(len(asked)), [np.empty(0)] * len(asked)

        def forward(batch: list[int]) -> None:
            statements, counted = zip(*(asked[i][0].reading for i in batch), strict=True)
            embedded, mask = (pad_sequence(list(part), batch_first=True) for part in (statements, counted))
            own = _there([len(tokens) for tokens in statements], self.device)
            documents, read = _one_after_the_other([[window.reading[0] for window in asked[i][1]] for i in batch])
            tokens = reader.tokens(embedded, own, documents, read)
            logits, borne_out, against = reader.head(tokens, mask)
            values[batch] = logits.squeeze(1).double().cpu().numpy()
            contradicted[batch] = against.squeeze(1).double().cpu().numpy()
            for i, row, counts in zip(batch, borne_out.double().cpu().numpy(), mask.cpu().numpy(), strict=True):
                words[i] = row[counts]

        self.reading.run(lengths, forward)
        return values, words, contradicted

    def compare(
        self, statement: Encoded, documents: Sequence[Sequence[Encoded]], premises: Sequence[Sequence[int]]
    ) -> Tensor:
        """Logits (n,) of a statement with n premises, by its matches."""
        tokens = statement.vectors.float()
        by_document = self._matches(tokens, documents)
        matches = torch.stack([by_document[list(premise)].amax(dim=0) for premise in premises])
        every = torch.ones(1, len(tokens), dtype=torch.bool, device=self.device)
        logits: Tensor = self.model.head(tokens.unsqueeze(0), every, matches).squeeze(1)
        return logits

    def joined(self, logits: list[Tensor]) -> NDArray[np.float64]:
        """The logits of all statements; a GPU is waited for once."""
        values: NDArray[np.float64] = torch.cat(logits).double().cpu().numpy()
        return values

    def mean_matches(self, statement: Encoded, windows: Sequence[Encoded]) -> list[float]:
        """How well each window matches a statement."""
        tokens = statement.vectors.float()
        means: list[float] = (self._by_window(tokens, windows) @ self._weight(tokens)).tolist()
        return means

    def _matches(self, statement: Tensor, documents: Sequence[Sequence[Encoded]]) -> Tensor:
        """The match of each statement token (s) with the best window of each document, (documents, s)."""
        by_window = self._by_window(statement, [window for document in documents for window in document])
        if len(by_window) == len(documents):
            return by_window
        mean = (by_window @ self._weight(statement)).tolist()
        chosen, start = [], 0
        for document in documents:
            end = start + len(document)
            chosen.append(max(range(start, end), key=mean.__getitem__))
            start = end
        return by_window[chosen]

    def _by_window(self, statement: Tensor, windows: Sequence[Encoded]) -> Tensor:
        """The match of each statement token (s) with each window, (windows, s)."""
        similarity = torch.cat([window.vectors for window in windows]).float() @ normalize(statement, dim=-1).T
        lengths = torch.tensor([len(window.vectors) for window in windows], device=self.device)
        return torch.segment_reduce(similarity, "max", lengths=lengths, axis=0, initial=-1.0)

    def _weight(self, statement: Tensor) -> Tensor:
        """The salience (s,) of a statement's tokens."""
        every = torch.ones(1, len(statement), dtype=torch.bool, device=self.device)
        weight: Tensor = self.model.head.log_weights(statement.unsqueeze(0), every).exp().squeeze(0)
        return weight


def _there(lengths: Sequence[int], device: torch.device) -> Tensor:
    """(n, longest) which places of padded rows of these lengths are their own."""
    return torch.arange(max(lengths), device=device) < torch.tensor(lengths, device=device).unsqueeze(1)


def _one_after_the_other(premises: Sequence[Sequence[Tensor]]) -> tuple[Iterable[tuple[Tensor, Tensor]], Tensor]:
    """Padded premises from the keys and values (2 x layers, heads, t, d) of their windows.

    Returns:
        Of each layer keys and values (n, heads, t, d); (n, t) which of their tokens are there.
    """
    lengths = [sum(window.shape[2] for window in premise) for premise in premises]
    parts, heads, _, d = premises[0][0].shape
    padded = premises[0][0].new_zeros(parts, len(premises), heads, max(lengths), d)
    for row, premise in enumerate(premises):
        start = 0
        for window in premise:
            end = start + window.shape[2]
            padded[:, row, :, start:end] = window
            start = end
    return zip(padded[::2], padded[1::2], strict=True), _there(lengths, padded.device)
