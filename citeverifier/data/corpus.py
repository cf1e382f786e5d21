"""Pairs of files larger than memory, a block of rows at a time: parquet or JSONL (plain or .gz).

A bad record is a row with an error, not the end of the job.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from citeverifier.data.rows import parquet_rows
from citeverifier.records import Pair, RecordError, decode_line, numbered_lines, pair_from_json

_COLUMNS = ("id", "example", "statement_id", "lang", "group", "statement", "documents", "context", "kind")


@dataclass(frozen=True)
class CorpusRow:
    """Row `number` of a file, from 1 (a JSONL file's line): its pair, or why it could not be read."""

    number: int
    pair: Pair | None
    error: str | None


def find_files(patterns: Sequence[str]) -> list[Path]:
    """The files that paths and globs name, sorted within each; raises FileNotFoundError where one names none."""
    files: list[Path] = []
    for pattern in patterns:
        names = [pattern] if Path(pattern).is_file() else sorted(glob.glob(pattern, recursive=True))
        matches = [Path(name) for name in names if Path(name).is_file()]
        if not matches:
            raise FileNotFoundError(f"no such file: {pattern} (expected parquet or JSONL files of pairs, or a glob)")
        files += matches
    return list(dict.fromkeys(files))


def read_blocks(path: Path, size: int, lang: str | None = None) -> Iterator[list[CorpusRow]]:
    """The rows of a file in order, `size` at a time.

    `lang` is the language of records that name none; a record without an id is known by file and row.

    Raises ValueError where a parquet file has no columns `statement` and `documents`, or is none.
    """
    records: Iterator[tuple[int, Any]] = numbered_lines(path)
    if path.suffix == ".parquet":
        records = enumerate(parquet_rows(path, ("statement", "documents"), _COLUMNS), 1)
    while block := [_row(path, number, record, lang) for number, record in islice(records, size)]:
        yield block


def _row(path: Path, number: int, record: bytes | Mapping[str, Any], lang: str | None) -> CorpusRow:
    try:
        decoded = decode_line(record) if isinstance(record, bytes) else record
        given = {key: value for key, value in decoded.items() if value is not None}
        defaults = {"id": f"{path.name}:{number}"} | ({} if lang is None else {"lang": lang})
        return CorpusRow(number, pair_from_json(defaults | given), None)
    except RecordError as error:
        return CorpusRow(number, None, str(error))
