"""Scoring by late interaction with torch; what it shares with onnxruntime is in `late_interaction_scoring.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from citeverifier.models.bert_layers import attend_by_products
from citeverifier.models.inputs import LateInteractionInputs
from citeverifier.models.late_interaction import LateInteraction
from citeverifier.models.late_interaction_scoring import CACHE_BYTES, LateInteractionScoring
from citeverifier.models.late_interaction_tokens import pad
from citeverifier.models.logits import Logits
from citeverifier.models.token_batches import Batches
from citeverifier.records import Pair, Support


class LateInteractionEngine(LateInteractionScoring):
    """Runs a model on its device; vectors are kept in float16 where it runs in bfloat16."""

    def __init__(self, model: LateInteraction, inputs: LateInteractionInputs, cache_bytes: int = CACHE_BYTES) -> None:
        super().__init__(inputs, cache_bytes)
        self.model = model
        parameter = next(model.parameters())
        self.device = parameter.device
        self.dtype = torch.float32 if parameter.dtype == torch.float32 else torch.float16
        self.batches = Batches(self.device)
        attend_by_products(model.encoder)

    @torch.inference_mode()
    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs; the same for both levels."""
        return super().logits(pairs, level)

    def encode(self, ids: Sequence[list[int]], keep: Callable[[Tensor], Tensor]) -> list[Tensor]:
        """What `keep` makes of the token vectors (tokens, h), in float32, of each row."""
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

    def as_premise(self, tokens: Tensor) -> Tensor:
        """What is kept of a document window."""
        return normalize(tokens, dim=-1)

    def compare(
        self, statement: Tensor, documents: Sequence[Sequence[Tensor]], premises: Sequence[Sequence[int]]
    ) -> Tensor:
        """Logits (n,) of a statement with n premises."""
        tokens = statement.float()
        by_document = self._matches(tokens, documents)
        matches = torch.stack([by_document[list(premise)].amax(dim=0) for premise in premises])
        every = torch.ones(1, len(tokens), dtype=torch.bool, device=self.device)
        logits: Tensor = self.model.head(tokens.unsqueeze(0), every, matches).squeeze(1)
        return logits

    def joined(self, logits: list[Tensor]) -> NDArray[np.float64]:
        """The logits of all statements; a GPU is waited for once."""
        values: NDArray[np.float64] = torch.cat(logits).double().cpu().numpy()
        return values

    def _matches(self, statement: Tensor, documents: Sequence[Sequence[Tensor]]) -> Tensor:
        """The match of each statement token (s) with the best window of each document, (documents, s)."""
        windows = [window for document in documents for window in document]
        similarity = torch.cat(windows).float() @ normalize(statement, dim=-1).T
        lengths = torch.tensor([len(window) for window in windows], device=self.device)
        by_window = torch.segment_reduce(similarity, "max", lengths=lengths, axis=0, initial=-1.0)
        if len(windows) == len(documents):
            return by_window
        every = torch.ones(1, len(statement), dtype=torch.bool, device=self.device)
        weight = self.model.head.log_weights(statement.unsqueeze(0), every).exp().squeeze(0)
        mean = (by_window @ weight).tolist()
        chosen, start = [], 0
        for document in documents:
            end = start + len(document)
            chosen.append(max(range(start, end), key=mean.__getitem__))
            start = end
        return by_window[chosen]
