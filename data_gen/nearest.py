"""Stages `documents` and `nearest`: every document once, and beside it its n-th nearest one (BM25 over all of them).

Paper 4's hard pairs: the smaller n, the more alike the two, and the harder it is to see which of them a statement is
about.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from citeverifier.records import Document, Example, example_from_json
from citeverifier.text.words import normalise, words
from data_gen.search import Search, search_words
from data_gen.splitting import split
from data_gen.stage import Outcome, Step, drop, in_batches, keep
from data_gen.tools import Tools


def distinct(tools: Tools, *, min_words: int = 20) -> Step:
    """One record for each distinct document of the questions; questions whose documents are all known go."""

    def run(records: Iterator[Example]) -> Iterator[Outcome]:
        seen: set[bytes] = set()
        for example in records:
            new = []
            for document in example.documents:
                text = f"{example.lang}:{normalise(document.text)}"
                key = hashlib.sha256(text.encode()).digest()[:12]
                if key not in seen and len(words(document.text)) >= min_words:
                    seen.add(key)
                    new.append(_alone(example, document, key.hex()))
            yield keep(*new) if new else drop("no new document of enough words")

    return Step(run)


def _alone(example: Example, document: Document, key: str) -> Example:
    meta = {name: example.meta[name] for name in ("source", "split") if name in example.meta}
    return Example(
        id=f"document-{key}",
        lang=example.lang,
        group=f"document-{key}",
        question="",
        documents=(replace(document, score=None),),
        statements=(),
        meta=meta,
    )


def nth_nearest(tools: Tools, *, ns: Sequence[int] = (14, 11, 8, 5, 4, 3), batch: int = 256) -> Step:
    """For each document one record for each n: the document, and its n-th nearest other one of the same split.

    A document with fewer than n others is left without that n, counted; without any, it goes.
    """
    if not ns or min(ns) < 1:
        raise ValueError(f"nearest.ns: expected numbers from 1, came {list(ns)}")

    def run(records: Iterator[Example]) -> Iterator[Outcome]:
        first = next(records, None)
        if first is None:
            return
        if tools.before is None:
            raise ValueError("nearest: expected a stage before it whose file holds the documents, came none")
        index = _Documents(tools.before, tools)
        yield index.outcome(first, ns)
        for examples in in_batches(records, batch):
            for example in examples:
                yield index.outcome(example, ns)

    return Step(run)


class _Documents:
    """The documents of a stage's file, by split and language, with where to read them again."""

    def __init__(self, path: Path, tools: Tools) -> None:
        self._path, self._tools = path, tools
        self._places: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._own: dict[str, int] = {}
        texts: dict[tuple[str, str], list[list[str]]] = {}
        with path.open("rb") as file:
            offset = 0
            for line in file:
                for number, record in enumerate(json.loads(line)["records"]):
                    example = example_from_json(record)
                    key = (split(example, tools.shares), example.lang)
                    places = self._places.setdefault(key, [])
                    self._own[example.id] = len(places)
                    places.append((offset, number))
                    texts.setdefault(key, []).append(_query(example))
                offset += len(line)
        self._indexes = {key: Search(tokens) for key, tokens in texts.items()}

    def outcome(self, example: Example, ns: Sequence[int]) -> Outcome:
        key = (split(example, self._tools.shares), example.lang)
        places = self._places[key]
        found = self._indexes[key].nearest(_query(example), max(ns) + 1)
        others = [i for i in found if i != self._own[example.id]]
        records = []
        for n in ns:
            if n <= len(others):
                other = self._at(*places[others[n - 1]])
                meta = {**example.meta, "nearest": n}
                both = (example.documents[0], other.documents[0])
                records.append(replace(example, id=f"{example.id}/{n}", documents=both, meta=meta))
        counts = {"fewer documents than n": len(ns) - len(records)} if len(records) < len(ns) else {}
        return keep(*records, counts=counts) if records else drop("fewer documents than n", None, counts)

    def _at(self, offset: int, number: int) -> Example:
        with self._path.open("rb") as file:
            file.seek(offset)
            return example_from_json(json.loads(file.readline())["records"][number])


def _query(example: Example) -> list[str]:
    document = example.documents[0]
    return search_words(f"{document.title} {document.text}", example.lang)
