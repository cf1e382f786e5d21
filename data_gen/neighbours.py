"""The records of a stage's file that are most like one, by BM25 (the library bm25s) within its split and language."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from citeverifier.records import Example, example_from_json
from citeverifier.text.language import language
from citeverifier.text.words import words
from data_gen.tools import Tools, split


class Neighbours:
    """An index of the stage before; records lie in its file and are read again when they are found."""

    def __init__(self, tools: Tools, text: Callable[[Example], str]) -> None:
        import bm25s

        if tools.before is None:
            raise ValueError("expected a stage before this one, whose file holds what is searched, got none")
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        self._file, self._tools, self._text = tools.before, tools, text
        self._places: dict[tuple[str, str], list[tuple[str, int, int]]] = {}
        texts: dict[tuple[str, str], list[list[str]]] = {}
        for offset, number, example in _with_places(self._file):
            key = self._key(example)
            self._places.setdefault(key, []).append((example.id, offset, number))
            texts.setdefault(key, []).append(self._words(example))
        self._indexes = {key: bm25s.BM25() for key in texts}
        for key, index in self._indexes.items():
            index.index(texts[key], show_progress=False)

    def near(self, example: Example, count: int) -> Iterator[Example]:
        """The records most like the example, nearest first, without itself; it counts among the `count` looked at."""
        key = self._key(example)
        places = self._places[key]
        query, most = [self._words(example)], min(count, len(places))
        positions, _ = self._indexes[key].retrieve(query, k=most, show_progress=False)
        for position in positions[0].tolist():
            identity, offset, number = places[position]
            if identity != example.id:
                with self._file.open("rb") as file:
                    file.seek(offset)
                    yield example_from_json(json.loads(file.readline())["records"][number])

    def _key(self, example: Example) -> tuple[str, str]:
        return split(example, self._tools.shares), example.lang

    def _words(self, example: Example) -> list[str]:
        """The words that may find others: without stop words, and never none."""
        stop_words = language(example.lang).stop_words
        return [word for word in words(self._text(example)) if word not in stop_words] or ["?"]


def _with_places(path: Path) -> Iterator[tuple[int, int, Example]]:
    """Where the line of each record begins, its number in the line, and the record."""
    with path.open("rb") as file:
        offset = 0
        for line in file:
            for number, record in enumerate(json.loads(line)["records"]):
                yield offset, number, example_from_json(record)
            offset += len(line)
