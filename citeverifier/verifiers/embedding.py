"""Sentence embeddings: is the statement near a passage of its premise?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citeverifier.cost import Cost
from citeverifier.models.device import own_device
from citeverifier.models.late_interaction_tokens import overlapping
from citeverifier.records import Pair, Support
from citeverifier.text.rendering import render_document
from citeverifier.verifiers.base import Scorer, Scores, score_each

OVERLAP = 32  # tokens that neighbouring windows share
KEPT = 50_000  # vectors kept for pairs to come, some 150 MB; the oldest go first


class Embedding(Scorer):
    """The greatest cosine of the statement to any window of any document, cut to [0, 1], for both levels.

    Documents over the model's length (`max_seq_length`) become overlapping windows; a statement over it is unscored. As
    a maximum over documents it cannot see that two of them are needed: a floor.

    Args:
        path: any sentence-transformers model: hub id, folder, or `package:NAME/FOLDER`.
        batch_size: texts encoded together.
    """

    name = "embedding"

    def __init__(self, path: str, batch_size: int = 64) -> None:
        from sentence_transformers import SentenceTransformer

        from citeverifier.models.checkpoint import backbone_path, load_tokenizer

        self.path, self.batch_size = backbone_path(path), batch_size
        self._model: Any = SentenceTransformer(self.path, device=str(own_device()))
        self._tokenizer = load_tokenizer(self.path, None)
        self._vectors: dict[str, NDArray[np.float64]] = {}

    @cached_property
    def fingerprint(self) -> str:
        """Of the model's files (on the hub: its commit)."""
        from citeverifier.models.checkpoint import model_fingerprint

        return model_fingerprint(self.path, self._model[0].auto_model.config, self.name, self._limit)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """Cosines in [0, 1]; each text is encoded once."""
        windows = {text: self._windows(text) for pair in pairs for text in map(render_document, pair.documents)}
        long = {pair.statement: n for pair in pairs if (n := len(self._tokens(pair.statement))) > self._limit}
        statements = {pair.statement for pair in pairs} - long.keys()
        asked = [*statements, *(window for parts in windows.values() for window in parts)]
        if new := [text for text in dict.fromkeys(asked) if text not in self._vectors]:
            vectors = self._model.encode(
                new, batch_size=self.batch_size, normalize_embeddings=True, show_progress_bar=False
            )
            self._vectors |= dict(zip(new, np.asarray(vectors, dtype=np.float64), strict=True))

        def nearest(pair: Pair) -> float | str:
            if pair.statement in long:
                return f"statement of {long[pair.statement]} tokens, the model takes {self._limit}"
            parts = [window for document in pair.documents for window in windows[render_document(document)]]
            cosine = np.stack([self._vectors[part] for part in parts]) @ self._vectors[pair.statement]
            return float(np.clip(cosine.max(), 0.0, 1.0))

        scores = score_each(pairs, nearest)
        for text in list(self._vectors)[: max(0, len(self._vectors) - KEPT)]:
            del self._vectors[text]
        windowed = Cost(notes={"windowed": sum(len(parts) > 1 for parts in windows.values())})
        return replace(scores, cost=scores.cost + windowed)

    @property
    def _limit(self) -> int:
        """Tokens a text may have besides the special ones."""
        return int(self._model.max_seq_length or 512) - 2

    def _tokens(self, text: str) -> list[tuple[int, int]]:
        """The character spans of a text's tokens."""
        encoded = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        spans: list[tuple[int, int]] = encoded["offset_mapping"]
        return spans

    def _windows(self, text: str) -> list[str]:
        """The text, or overlapping parts of it that the model takes whole."""
        spans, limit = self._tokens(text), self._limit
        if len(spans) <= limit:
            return [text]
        windows = overlapping(spans, limit, min(OVERLAP, limit // 2))
        return [text[window[0][0] : window[-1][1]] for window in windows]
