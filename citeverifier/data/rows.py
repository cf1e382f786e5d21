"""Rows of a source, streamed: a JSONL file, a file that holds one JSON list, or a dataset on the Hugging Face hub."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from citeverifier.records import Interval, RecordError, decode_line, open_text

_FILES = (".json", ".jsonl", ".gz")
_KINDS = {str: "a string", int: "a whole number", list: "a list", dict: "an object"}

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One row; `number` counts from 1 and `where` names its place for errors ("FILE:3", "org/name/train, row 3")."""

    number: int
    where: str
    values: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def interval(self, key: str, labels: Mapping[Any, Interval]) -> Interval:
        """What the label at `key` says; raises RecordError where it is none of those known."""
        if self[key] not in labels:
            known = ", ".join(repr(label) for label in labels)
            raise RecordError(f"{self.where}: key {key!r}: expected one of {known}, got {self[key]!r}")
        return labels[self[key]]

    def check(self, columns: Mapping[str, type]) -> SourceRow:
        """The row itself; raises RecordError where a column is missing or of another kind (`object`: any)."""
        for name, kind in columns.items():
            if name not in self.values:
                raise RecordError(
                    f"{self.where}: key {name!r}: expected a value, got a row with {', '.join(self.values)}"
                )
            if not isinstance(self[name], kind):
                value = f"{type(self[name]).__name__} {str(self[name])[:60]!r}"
                raise RecordError(f"{self.where}: key {name!r}: expected {_KINDS[kind]}, got {value}")
        return self


def is_hub(path: str | Path) -> bool:
    """Whether a path is a hub id, or a folder with a dataset's own files, and not the name of a file."""
    file = Path(path)
    return not file.is_file() and file.suffix not in _FILES and (file.is_dir() or _is_hub_id(str(path)))


def _is_hub_id(path: str) -> bool:
    return path.count("/") == 1 and not path.startswith((".", "/"))


def read_rows(
    path: str | Path,
    columns: Mapping[str, type] | None = None,
    *,
    hub_split: str = "train",
    hub: Mapping[str, str | None] | None = None,
) -> Iterator[SourceRow]:
    """The rows of a file, or of a split on the hub, each with the columns named.

    `hub`: what `datasets.load_dataset` is told besides (name, revision, data_dir ...). Gated datasets need
    `hf auth login` first. Raises FileNotFoundError, or RecordError with the row's place.
    """
    rows = _hub_rows(str(path), hub_split, hub or {}) if is_hub(path) else _file_rows(Path(path))
    for row in rows:
        yield row.check(columns or {})


def _hub_rows(path: str, split: str, hub: Mapping[str, Any]) -> Iterator[SourceRow]:
    from datasets import load_dataset

    for number, values in enumerate(load_dataset(path, split=split, streaming=True, **hub), 1):
        yield SourceRow(number, f"{path}/{split}, row {number}", values)


def _file_rows(path: Path) -> Iterator[SourceRow]:
    with open_text(path) as file:
        is_list = file.read(1) == b"["
    if is_list:
        yield from _list_rows(path)
        return
    number = 0
    with open_text(path) as file:
        for line_number, line in enumerate(file, 1):
            if line.strip():
                number += 1
                where = f"{path}:{line_number}"
                try:
                    yield SourceRow(number, where, decode_line(line))
                except RecordError as error:
                    raise RecordError(f"{where}: {error}") from None


def _list_rows(path: Path) -> Iterator[SourceRow]:
    """HotpotQA's training file is one list of half a gigabyte: ijson holds a row of it at a time."""
    import ijson

    number = 0
    with open_text(path) as file:
        try:
            for number, values in enumerate(ijson.items(file, "item", use_float=True), 1):
                if not isinstance(values, dict):
                    raise RecordError(
                        f"{path}, row {number}: expected an object, got {type(values).__name__} {values!r:.40}"
                    )
                yield SourceRow(number, f"{path}, row {number}", values)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            told = str(error).splitlines()[0]
            raise RecordError(f"{path}, row {number + 1}: expected a whole JSON list of objects, got: {told}") from None


def drawn(items: Iterable[Item], count: int | None) -> list[Item]:
    """All of them, or `count` drawn (the same in every run), in their order."""
    every = list(items)
    if count is None or count >= len(every):
        return every
    return [every[i] for i in sorted(random.Random(13).sample(range(len(every)), count))]
