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

from citeverifier.records import Pair, RecordError, decode_line, numbered_lines, pair_from_json

_COLUMNS = ("id", "example", "statement_id", "lang", "group", "statement", "documents", "context", "kind")
_BATCH = 1024  # rows of a parquet file that are decoded at once


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
    records: Iterator[tuple[int, Any]] = _parquet(path) if path.suffix == ".parquet" else numbered_lines(path)
    while block := [_row(path, number, record, lang) for number, record in islice(records, size)]:
        yield block


def _parquet(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: expected a parquet file, got: {error}") from None
    with file:
        columns = [name for name in _COLUMNS if name in file.schema_arrow.names]
        if not {"statement", "documents"} <= set(columns):
            raise ValueError(
                f"{path}: expected columns statement and documents (a list of title and text), "
                f"got {', '.join(file.schema_arrow.names)}"
            )
        batches = file.iter_batches(_BATCH, columns=columns, use_threads=False)
        yield from enumerate((record for batch in batches for record in batch.to_pylist()), 1)


def _row(path: Path, number: int, record: bytes | Mapping[str, Any], lang: str | None) -> CorpusRow:
    try:
        decoded = decode_line(record) if isinstance(record, bytes) else record
        given = {key: value for key, value in decoded.items() if value is not None}
        defaults = {"id": f"{path.name}:{number}"} | ({} if lang is None else {"lang": lang})
        return CorpusRow(number, pair_from_json(defaults | given), None)
    except RecordError as error:
        return CorpusRow(number, None, str(error))
