"""Rows of a dataset on the Hugging Face hub, or of a local folder that holds the same files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any


def stream_rows(
    path: str, name: str | None, split: str, revision: str | None, limit: int | None = None
) -> Iterator[Mapping[str, Any]]:
    """The rows of a split as they come, at most `limit` of them. Gated datasets need `hf auth login` first.

    `name` is the dataset's configuration; `revision` a branch, tag or commit, null = main.
    """
    from datasets import load_dataset

    yield from islice(load_dataset(path, name, split=split, revision=revision, streaming=True), limit)
