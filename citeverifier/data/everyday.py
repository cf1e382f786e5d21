"""Everyday statements with false twins, written by us to measure on: never to train, tune or fit thresholds on.

`everyday/everyday.jsonl` holds the pairs, `everyday/README.md` is the dataset card.
"""

from __future__ import annotations

from pathlib import Path

from citeverifier.records import Pair, pair_from_json, read_jsonl

EVERYDAY = Path(__file__).parent / "everyday" / "everyday.jsonl"


def load_everyday(lang: str = "all") -> list[Pair]:
    """The pairs in one language or, with "all", in both; a twin follows its statement."""
    return [pair for pair in read_jsonl(EVERYDAY, pair_from_json) if lang in ("all", pair.lang)]
