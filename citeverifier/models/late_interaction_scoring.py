"""What the engines of late interaction share: pairs in, folded logits out.

Each distinct statement and document is encoded once, and a pair's score does not depend on what it is scored with. An
engine (torch: `late_interaction_engine.py`, onnxruntime: `onnx_engine.py`) says how texts become vectors, and how
those are compared. No torch here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from citeverifier.models.inputs import LateInteractionInputs
from citeverifier.models.late_interaction_tokens import StatementTooLong
from citeverifier.models.logits import Logits
from citeverifier.records import Pair, Support
from citeverifier.text.rendering import render_document

CHUNK = 512  # documents whose vectors are held at a time
CACHE_BYTES = 512 * 2**20  # of vectors kept across calls

Key = tuple[str, str]  # a statement and the context that it is read with
Vectors = Any  # (tokens, h), an array of the engine's own kind


class VectorCache:
    """What was encoded by key, the least recently used dropped first once it takes more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self._known: OrderedDict[Any, Sequence[Any]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Any) -> Sequence[Any] | None:
        """The vectors of a key, None where they are not known."""
        vectors = self._known.get(key)
        if vectors is not None:
            self._known.move_to_end(key)
        return vectors

    def put(self, key: Any, vectors: Sequence[Any]) -> None:
        """Keep the vectors of a new key."""
        self._known[key] = vectors
        self.held += sum(v.nbytes for v in vectors)
        while self.held > self.limit and len(self._known) > 1:
            self.held -= sum(v.nbytes for v in self._known.popitem(last=False)[1])


class LateInteractionScoring(ABC):
    """A premise's match is the maximum over its documents' matches, a document's that of its best window.

    Vectors are kept across calls, up to `cache_bytes` of them. No length limit for premises.
    """

    def __init__(self, inputs: LateInteractionInputs, cache_bytes: int) -> None:
        self.inputs, self.cache = inputs, VectorCache(cache_bytes)

    @abstractmethod
    def encode(self, ids: Sequence[list[int]], keep: Callable[[Vectors], Vectors]) -> list[Vectors]:
        """What `keep` makes of the token vectors of each row of ids."""

    @abstractmethod
    def as_premise(self, tokens: Vectors) -> Vectors:
        """What is kept of a document window: normalised."""

    @abstractmethod
    def compare(
        self, statement: Vectors, documents: Sequence[Sequence[Vectors]], premises: Sequence[Sequence[int]]
    ) -> Any:
        """Logits (n,) of a statement with n premises, each given as positions in `documents` (windows of each)."""

    @abstractmethod
    def joined(self, logits: list[Any]) -> NDArray[np.float64]:
        """What `compare` gave of each statement, one after the other."""

    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs; the same for both levels."""
        result = Logits(np.full(len(pairs), np.nan))
        texts = [[render_document(document) for document in pair.documents] for pair in pairs]
        place = {text: number for number, text in enumerate(dict.fromkeys(text for own in texts for text in own))}
        # all that is asked about a document together: more documents than the cache holds are still read once
        order = sorted(range(len(pairs)), key=lambda i: place[texts[i][-1]])
        chunks = list(_chunks(order, texts))
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
        logits: list[Any] = []
        for key, group in asked.items():
            wanted = list(dict.fromkeys(text for i in group for text in texts[i]))
            place = {text: position for position, text in enumerate(wanted)}
            chosen = [[place[text] for text in texts[i]] for i in group]
            logits.append(self.compare(statements[key], [documents[text] for text in wanted], chosen))
        if kept:
            result.values[kept] = self.joined(logits)

    def _statements(self, keys: Sequence[Key], result: Logits) -> tuple[dict[Key, Vectors], dict[Key, str]]:
        """The vectors of each statement's own tokens; and why some have none."""
        encoded = {key: known[0] for key in keys if (known := self.cache.get(key)) is not None}
        reasons: dict[Key, str] = {}
        new: dict[Key, tuple[list[int], list[bool]]] = {}
        for key in keys:
            if key not in encoded:
                try:
                    new[key] = self.inputs.statement(key)
                except StatementTooLong as error:
                    reasons[key] = str(error)
        ids = [row for row, _ in new.values()]
        result.tokens += sum(map(len, ids))
        for (key, (_, counted)), tokens in zip(new.items(), self.encode(ids, lambda tokens: tokens), strict=True):
            encoded[key] = tokens[np.array(counted)]  # without special tokens and context
            self.cache.put(key, [encoded[key]])
        return encoded, reasons

    def _documents(self, texts: Sequence[str], result: Logits) -> dict[str, Sequence[Vectors]]:
        """The normalised token vectors of each window of each document."""
        known = {text: vectors for text in texts if (vectors := self.cache.get(text)) is not None}
        missing = [text for text in texts if text not in known]
        windows = dict(zip(missing, self.inputs.documents(missing), strict=True))
        flat = [window for text in missing for window in windows[text]]
        result.tokens += sum(map(len, flat))
        before, after = len(self.inputs.before), len(self.inputs.after)
        encoded = iter(self.encode(flat, lambda t: self.as_premise(t[before : len(t) - after])))
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
