"""Splits that keep what belongs together together, and training data free of what it is tested on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

from citeverifier.records import Example, Pair
from citeverifier.text.words import normalise

Item = TypeVar("Item")

SHARES: Mapping[str, float] = {"train": 0.8, "dev": 0.1, "test": 0.1}


def number_of(key: str) -> int:
    """A number below 2**64 for a key: the same in every run, evenly spread."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")


def split_of(group: str, shares: Mapping[str, float] = SHARES) -> str:
    """The split a group falls into: a hash of its name against cumulative shares, the same in every run."""
    position = number_of(group) / 2**64 * sum(shares.values())
    for name, share in shares.items():
        position -= share
        if position < 0:
            return name
    return list(shares)[-1]


def in_split(
    records: Iterable[Item],
    split: str | None,
    shares: Mapping[str, float] = SHARES,
    group: Callable[[Item], str] = attrgetter("group"),
) -> list[Item]:
    """The records whose group falls into `split`; all of them for None. Raises ValueError on an unknown split."""
    if split is None:
        return list(records)
    if split not in shares:
        raise ValueError(f"expected a split of {', '.join(shares)} (or null for everything), got {split!r}")
    return [record for record in records if split_of(group(record), shares) == split]


def tie(keys: Sequence[Iterable[str]]) -> list[str]:
    """A group name per item, the same for items tied by a shared key, directly or through others (union-find).

    The name is the smallest key of the tied items, so it does not depend on their order.
    """
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    first: list[str] = []
    for position, item in enumerate(keys):
        known = list(item) or [f"item-{position}"]
        first.append(known[0])
        for key in known:
            a, b = sorted((root(known[0]), root(key)))
            parent[b] = a
    return [root(key) for key in first]


@dataclass(frozen=True)
class Leaks:
    """How many training records went, and why."""

    kept: int
    shared_group: int
    shared_document: int
    shared_statement: int


def _statements(record: Example | Pair) -> list[str]:
    if isinstance(record, Pair):
        return [record.statement]
    return [statement.text for statement in record.statements]


def drop_leaks(
    train: Iterable[Example | Pair], held_out: Iterable[Example | Pair]
) -> tuple[list[Example | Pair], Leaks]:
    """The training records that share no group, document text or statement with the held-out ones, and the counts.

    Documents and statements are compared as words, so spacing, case and punctuation hide nothing.
    """
    groups: set[str] = set()
    documents: set[str] = set()
    statements: set[str] = set()
    for record in held_out:
        groups.add(record.group)
        documents.update(normalise(document.text) for document in record.documents)
        statements.update(normalise(text) for text in _statements(record))
    kept: list[Example | Pair] = []
    by_group = by_document = by_statement = 0
    for record in train:
        if record.group in groups:
            by_group += 1
        elif any(normalise(document.text) in documents for document in record.documents):
            by_document += 1
        elif any(normalise(text) in statements for text in _statements(record)):
            by_statement += 1
        else:
            kept.append(record)
    return kept, Leaks(len(kept), by_group, by_document, by_statement)
