"""Scoring by late interaction: pairs in, folded logits out.

Each distinct statement and document is encoded once, and a pair's score does not depend on what it is scored with.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize
from tqdm.auto import tqdm

from citeverifier.models.bert_layers import attend_by_products
from citeverifier.models.inputs import LateInteractionInputs, StatementTooLong, pad
from citeverifier.models.late_interaction import LateInteraction
from citeverifier.models.token_batches import Batches, Logits
from citeverifier.records import Pair, Support
from citeverifier.text.rendering import render_document

CHUNK = 512  # documents whose vectors are held at a time
CACHE_BYTES = 512 * 2**20  # of vectors kept across calls


class Vectors:
    """Token vectors by key, the least recently used dropped first once they take more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self._known: OrderedDict[Any, list[Tensor]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Any) -> list[Tensor] | None:
        """The vectors of a key, None where they are not known."""
        vectors = self._known.get(key)
        if vectors is not None:
            self._known.move_to_end(key)
        return vectors

    def put(self, key: Any, vectors: list[Tensor]) -> None:
        """Keep the vectors of a new key."""
        self._known[key] = vectors
        self.held += sum(v.nbytes for v in vectors)
        while self.held > self.limit and len(self._known) > 1:
            self.held -= sum(v.nbytes for v in self._known.popitem(last=False)[1])


Key = tuple[str, str]  # a statement and the context that it is read with


class LateInteractionEngine:
    """Encodes each distinct statement and document once; a premise's match is the maximum over its documents' matches,
    a document's that of its best window.

    Vectors are kept across calls, up to `cache_bytes` of them, in float16 where the model runs in bfloat16. No length
    limit for premises.
    """

    def __init__(self, model: LateInteraction, inputs: LateInteractionInputs, cache_bytes: int = CACHE_BYTES) -> None:
        self.model, self.inputs = model, inputs
        parameter = next(model.parameters())
        self.device = parameter.device
        self.dtype = torch.float32 if parameter.dtype == torch.float32 else torch.float16
        self.batches = Batches(self.device)
        self.cache = Vectors(cache_bytes)
        attend_by_products(model.encoder)

    @torch.inference_mode()
    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs; the same for both levels."""
        result = Logits(np.full(len(pairs), np.nan))
        groups: dict[Key, list[int]] = {}
        for i, pair in enumerate(pairs):
            groups.setdefault(self.inputs.statement_key(pair), []).append(i)
        texts = [[render_document(document) for document in pair.documents] for pair in pairs]
        chunks = list(_chunks([i for group in groups.values() for i in group], texts))
        for chunk in tqdm(chunks, desc="scoring", disable=len(chunks) < 2 or None, leave=False):
            self._chunk(chunk, pairs, texts, result)
        return result

    def _chunk(
        self, positions: Sequence[int], pairs: Sequence[Pair], texts: Sequence[Sequence[str]], result: Logits
    ) -> None:
        asked: dict[Key, list[int]] = {}
        for i in positions:
            asked.setdefault(self.inputs.statement_key(pairs[i]), []).append(i)
        statements, too_long = self._statements(list(asked), result)
        for key, reason in too_long.items():
            result.reasons |= dict.fromkeys(asked.pop(key), reason)
        kept = [i for group in asked.values() for i in group]
        documents = self._documents(list(dict.fromkeys(text for i in kept for text in texts[i])), result)
        logits: list[Tensor] = []
        for key, group in asked.items():
            statement = statements[key].float()
            wanted = list(dict.fromkeys(text for i in group for text in texts[i]))
            best = dict(zip(wanted, self._matches(statement, [documents[text] for text in wanted]), strict=True))
            matches = torch.stack([torch.stack([best[text] for text in texts[i]]).amax(dim=0) for i in group])
            every = torch.ones(1, len(statement), dtype=torch.bool, device=self.device)
            logits.append(self.model.head(statement.unsqueeze(0), every, matches).squeeze(1))
        if kept:
            result.values[kept] = torch.cat(logits).double().cpu().numpy()

    def _matches(self, statement: Tensor, documents: Sequence[list[Tensor]]) -> Tensor:
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

    def _encode(self, ids: Sequence[list[int]], keep: Callable[[int, Tensor], Tensor]) -> list[Tensor]:
        """What `keep` makes of the position and the token vectors (tokens, h), in float32, of each row."""
        kept: dict[int, Tensor] = {}

        def forward(batch: list[int]) -> None:
            rows = [ids[i] for i in batch]
            tokens = self.model.encode(
                pad(rows, self.inputs.tokenizer.pad_token_id).to(self.device),
                pad([[1] * len(row) for row in rows], 0).to(self.device),
            ).float()
            for at, i in enumerate(batch):
                kept[i] = keep(i, tokens[at, : len(ids[i])]).to(self.dtype)

        self.batches.run([len(row) for row in ids], forward)
        return [kept[i] for i in range(len(ids))]

    def _statements(self, keys: Sequence[Key], result: Logits) -> tuple[dict[Key, Tensor], dict[Key, str]]:
        """The vectors of the tokens that count, of each statement; and why some have none."""
        vectors = {key: known[0] for key in keys if (known := self.cache.get(key)) is not None}
        reasons: dict[Key, str] = {}
        new: dict[Key, tuple[list[int], list[bool]]] = {}
        for key in keys:
            if key not in vectors:
                try:
                    new[key] = self.inputs.statement(key)
                except StatementTooLong as error:
                    reasons[key] = str(error)
        ids, masks = [row for row, _ in new.values()], [torch.tensor(mask) for _, mask in new.values()]
        result.tokens += sum(map(len, ids))
        for key, encoded in zip(new, self._encode(ids, lambda i, t: t[masks[i].to(self.device)]), strict=True):
            vectors[key] = encoded
            self.cache.put(key, [encoded])
        return vectors, reasons

    def _documents(self, texts: Sequence[str], result: Logits) -> dict[str, list[Tensor]]:
        """The normalised token vectors of each window of each document."""
        known = {text: vectors for text in texts if (vectors := self.cache.get(text)) is not None}
        missing = [text for text in texts if text not in known]
        windows = dict(zip(missing, self.inputs.documents(missing), strict=True))
        flat = [window for text in missing for window in windows[text]]
        result.tokens += sum(map(len, flat))
        before, after = len(self.inputs.before), len(self.inputs.after)
        encoded = iter(self._encode(flat, lambda _, t: normalize(t[before : len(t) - after], dim=-1)))
        new = {text: [next(encoded) for _ in windows[text]] for text in missing}
        for text, vectors in new.items():
            self.cache.put(text, vectors)
        result.windowed += sum(len(parts) > 1 for parts in new.values())
        return known | new


def _chunks(order: Sequence[int], texts: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """Positions in runs that ask about CHUNK distinct documents, or a few more."""
    chunk: list[int] = []
    documents: set[str] = set()
    for i in order:
        chunk.append(i)
        documents.update(texts[i])
        if len(documents) >= CHUNK:
            yield chunk
            chunk, documents = [], set()
    if chunk:
        yield chunk
