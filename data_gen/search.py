"""BM25 over texts as words, by the library bm25s."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from citeverifier.text.language import language
from citeverifier.text.words import words


class Search:
    """An index of texts, found again by their positions."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)
        self._count = len(texts)
        self._index = bm25s.BM25()
        self._index.index([list(text) for text in texts], show_progress=False)

    def nearest(self, query: Sequence[str], count: int) -> list[int]:
        """The positions of the `count` texts that score highest, best first; all of them where there are fewer."""
        found, _ = self._index.retrieve([list(query)], k=min(count, self._count), show_progress=False)
        positions: list[int] = found[0].tolist()
        return positions


def search_words(text: str, lang: str) -> list[str]:
    """The words of a text that may find others: without stop words, and never none."""
    return [word for word in words(text) if word not in language(lang).stop_words] or ["?"]
