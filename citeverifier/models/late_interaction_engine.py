"""Scoring by late interaction with torch; what it shares with onnxruntime is in `late_interaction_scoring.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pad_sequence

from citeverifier.models.bert_layers import attend_by_products
from citeverifier.models.inputs import LateInteractionInputs
from citeverifier.models.late_interaction import LateInteraction
from citeverifier.models.late_interaction_scoring import CACHE_BYTES, EncodedStatement, LateInteractionScoring
from citeverifier.models.late_interaction_tokens import pad
from citeverifier.models.logits import Logits
from citeverifier.models.token_batches import Batches
from citeverifier.records import Pair, Support

COMPARISON_BUDGET = 4  # times as many padded tokens a batch of it as one of encoding: only the statement's pass layers


class LateInteractionEngine(LateInteractionScoring):
    """Runs a model on its device; vectors are kept in float16 where it runs in bfloat16."""

    def __init__(self, model: LateInteraction, inputs: LateInteractionInputs, cache_bytes: int = CACHE_BYTES) -> None:
        super().__init__(inputs, cache_bytes)
        self.model = model
        parameter = next(model.parameters())
        self.device = parameter.device
        self.dtype = torch.float32 if parameter.dtype == torch.float32 else torch.float16
        self.batches, self.comparison_batches = Batches(self.device), Batches(self.device)
        self.comparison_batches.budget *= COMPARISON_BUDGET
        attend_by_products(model.encoder)

    @torch.inference_mode()
    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs; the same for both levels."""
        return super().logits(pairs, level)

    def encode(self, ids: Sequence[list[int]], keep: Callable[[Tensor], Tensor]) -> list[Tensor]:
        """What `keep` makes of the token vectors (tokens, h or 2h), in float32, of each row."""
        kept: dict[int, Tensor] = {}

        def forward(batch: list[int]) -> None:
            rows = [ids[i] for i in batch]
            tokens = self.model.encode(
                pad(rows, self.inputs.pad_id).to(self.device),
                pad([[1] * len(row) for row in rows], 0).to(self.device),
            ).float()
            for at, i in enumerate(batch):
                kept[i] = keep(tokens[at, : len(ids[i])]).to(self.dtype, copy=True)  # not a view of the batch

        self.batches.run([len(row) for row in ids], forward)
        return [kept[i] for i in range(len(ids))]

    def as_statement(self, tokens: Tensor, counted: Sequence[bool]) -> EncodedStatement:
        """A statement of its vectors."""
        return EncodedStatement(tokens, torch.tensor(counted, device=self.device))

    def as_premise(self, tokens: Tensor) -> Tensor:
        """What is kept of a document window."""
        return self.model.as_premise(tokens)

    def compare(
        self, statement: EncodedStatement, documents: Sequence[Sequence[Tensor]], premises: Sequence[Sequence[int]]
    ) -> tuple[Tensor, list[Tensor]]:
        """Logits (n,) of a statement with n premises, and the best window of each document."""
        tokens = self.model.last(statement.tokens[statement.counted]).float()
        by_document, windows = self._matches(tokens, documents)
        matches = torch.stack([by_document[list(premise)].amax(dim=0) for premise in premises])
        every = torch.ones(1, len(tokens), dtype=torch.bool, device=self.device)
        return self.model.head(tokens.unsqueeze(0), every, matches).squeeze(1), windows

    def joined(
        self, logits: list[Tensor], statements: Sequence[EncodedStatement], premises: Sequence[Sequence[Tensor]]
    ) -> NDArray[np.float64]:
        """The logits of all pairs; a comparison adds its own."""
        values: NDArray[np.float64] = torch.cat(logits).double().cpu().numpy()
        return values if self.model.comparison is None else values + self._compared(statements, premises)

    def _compared(
        self, statements: Sequence[EncodedStatement], premises: Sequence[Sequence[Tensor]]
    ) -> NDArray[np.float64]:
        """What the comparison adds to the logit of each statement with the windows of its premise, (n,)."""
        added = np.zeros(len(statements))
        lengths = [
            len(statement.tokens) + sum(map(len, premise))
            for statement, premise in zip(statements, premises, strict=True)
        ]

        def padded(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
            every = [torch.ones(len(row), dtype=torch.bool, device=self.device) for row in rows]
            return pad_sequence(list(rows), batch_first=True), pad_sequence(every, batch_first=True)

        def forward(batch: list[int]) -> None:
            tokens, attention = padded([statements[i].tokens for i in batch])
            counted, _ = padded([statements[i].counted for i in batch])
            premise, known = padded([torch.cat(list(premises[i])) for i in batch])
            logits, _support = self.model.comparison(tokens, attention, counted, premise, known)  # type: ignore[misc]
            added[batch] = logits.squeeze(1).double().cpu().numpy()

        self.comparison_batches.run(lengths, forward)
        return added

    def _matches(self, statement: Tensor, documents: Sequence[Sequence[Tensor]]) -> tuple[Tensor, list[Tensor]]:
        """The match of each statement token (s) with the best window of each document, (documents, s); the windows."""
        windows = [window for document in documents for window in document]
        similarity = torch.cat([self.model.last(window) for window in windows]).float() @ normalize(statement, dim=-1).T
        lengths = torch.tensor([len(window) for window in windows], device=self.device)
        by_window = torch.segment_reduce(similarity, "max", lengths=lengths, axis=0, initial=-1.0)
        if len(windows) == len(documents):
            return by_window, windows
        every = torch.ones(1, len(statement), dtype=torch.bool, device=self.device)
        weight = self.model.head.log_weights(statement.unsqueeze(0), every).exp().squeeze(0)
        mean = (by_window @ weight).tolist()
        chosen, start = [], 0
        for document in documents:
            end = start + len(document)
            chosen.append(max(range(start, end), key=mean.__getitem__))
            start = end
        return by_window[chosen], [windows[i] for i in chosen]
