"""Stages `documents` and `nearest`: every document once, and beside it its n-th nearest one (BM25 over all of them).

Paper 4's hard pairs: the smaller n, the more alike the two, and the harder it is to see which of them a statement is
about.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import replace

from citeverifier.records import Document, Example
from citeverifier.text.words import normalise, words
from data_gen.neighbours import Neighbours
from data_gen.stage import Outcome, Step, drop, keep, one_by_one
from data_gen.tools import Tools


def distinct(tools: Tools, *, min_words: int = 20) -> Step:
    """One record for each distinct document of the questions; questions whose documents are all known go."""
    seen: set[str] = set()

    def take(example: Example) -> Outcome:
        new = []
        for document in example.documents:
            text = f"{example.lang}:{normalise(document.text)}"
            key = hashlib.sha256(text.encode()).hexdigest()[:24]
            if key not in seen and len(words(document.text)) >= min_words:
                seen.add(key)
                new.append(_alone(example, document, key))
        return keep(*new) if new else drop("no new document of enough words")

    return replace(one_by_one(take), whole=True)


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


def nth_nearest(tools: Tools, *, ns: Sequence[int] = (14, 11, 8, 5, 4, 3)) -> Step:
    """For each document one record for each n: the document, and its n-th nearest other one of the same split.

    A document with fewer than n others is left without that n, counted; without any, it goes.
    """
    if not ns or min(ns) < 1:
        raise ValueError(f"nearest.ns: expected numbers from 1, got {list(ns)}")
    index = functools.cache(lambda: Neighbours(tools, lambda one: f"{one.documents[0].title} {one.documents[0].text}"))

    def pair(example: Example) -> Outcome:
        others = list(index().near(example, max(ns) + 1))
        records = []
        for n in (n for n in ns if n <= len(others)):
            both = (example.documents[0], others[n - 1].documents[0])
            meta = {**example.meta, "nearest": n}
            records.append(replace(example, id=f"{example.id}/{n}", documents=both, meta=meta))
        counts = {"fewer documents than n": len(ns) - len(records)} if len(records) < len(ns) else {}
        return keep(*records, counts=counts) if records else drop("fewer documents than n", None, counts)

    return one_by_one(pair)
