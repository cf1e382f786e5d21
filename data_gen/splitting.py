"""Which split a record belongs to: the one that its source names, else a share by hash of its group."""

from __future__ import annotations

from collections.abc import Mapping

from citeverifier.data.splits import split_of
from citeverifier.records import Example


def split(example: Example, shares: Mapping[str, float]) -> str:
    """The record's split; its languages, twins and everything of its group fall into the same."""
    own = example.meta.get("split")
    return own if isinstance(own, str) and own in shares else split_of(example.group, shares)
