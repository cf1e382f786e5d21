"""Everyday statements with false twins, written by us to measure on: never to train, tune or fit thresholds on.

`everyday/everyday.jsonl` holds the pairs, `everyday/README.md` is the dataset card.
"""

from __future__ import annotations

from pathlib import Path

from citeverifier.data.claims import measured_only
from citeverifier.records import Pair, pair_from_json, read_jsonl

EVERYDAY = Path(__file__).parent / "everyday" / "everyday.jsonl"


def load_everyday(split: str | None = "test") -> list[Pair]:
    """The pairs in both languages; a twin follows its statement. Raises ValueError on another split than test."""
    measured_only("everyday", split)
    return list(read_jsonl(EVERYDAY, pair_from_json))
