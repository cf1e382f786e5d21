"""Pairs of files larger than memory, in numbered parts: parquet or JSONL (plain or .gz), a part at a time.

A part is `size` consecutive rows (lines) of one file; those that are not wanted are passed over without being decoded
into records. A bad record is a row with an error, not the end of the job.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citeverifier.records import Pair, RecordError, decode_line, open_text, pair_from_json

_READ = ("id", "example", "statement_id", "lang", "group", "statement", "documents", "context", "kind")
_BATCH = 1024  # rows of a parquet file that are held decoded


@dataclass(frozen=True)
class CorpusRow:
    """CorpusRow `number` of a file, from 1 (a JSONL file's line): its pair, or why it could not be read."""

    number: int
    pair: Pair | None
    error: str | None


@dataclass(frozen=True)
class Part:
    """Rows of one part; None where the part was not wanted."""

    file: int
    number: int
    rows: list[CorpusRow] | None


def find_files(patterns: Sequence[str]) -> list[Path]:
    """The files that paths and globs name, sorted within each; raises FileNotFoundError where one names none."""
    found: list[Path] = []
    for pattern in patterns:
        names = [pattern] if Path(pattern).is_file() else sorted(glob.glob(pattern, recursive=True))
        files = [Path(name) for name in names if Path(name).is_file()]
        if not files:
            raise FileNotFoundError(f"no such file: {pattern} (expected parquet or JSONL files of pairs, or a glob)")
        found += files
    return list(dict.fromkeys(found))


def parts(
    files: Sequence[Path], size: int, wanted: Callable[[int, int], bool], lang: str | None = None
) -> Iterator[Part]:
    """Every part of the files in order; rows are read where `wanted(file number, part number)`.

    `lang` is the language of records that name none; a record without an id is known by file and row.

    Raises ValueError where a parquet file has no columns `statement` and `documents`, or is none.
    """
    for number, path in enumerate(files):

        def mine(part: int, file: int = number) -> bool:
            return wanted(file, part)

        read = _parquet if path.suffix == ".parquet" else _jsonl
        for part, rows in read(path, size, mine, lang):
            yield Part(number, part, rows)


_Parts = Iterator[tuple[int, list[CorpusRow] | None]]


def _jsonl(path: Path, size: int, wanted: Callable[[int], bool], lang: str | None) -> _Parts:
    part, last = 0, 0
    rows: list[CorpusRow] | None = [] if wanted(0) else None
    with open_text(path) as lines:
        for last, line in enumerate(lines, 1):
            if (last - 1) // size > part:
                yield part, rows
                part += 1
                rows = [] if wanted(part) else None
            if rows is not None and line.strip():
                rows.append(_row(path, last, lang, line))
    if last:
        yield part, rows


def _parquet(path: Path, size: int, wanted: Callable[[int], bool], lang: str | None) -> _Parts:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: expected a parquet file, got: {error}") from None
    with file:
        columns = [name for name in _READ if name in file.schema_arrow.names]
        if not {"statement", "documents"} <= set(columns):
            raise ValueError(
                f"{path}: expected columns statement and documents (a list of title and text), "
                f"got {', '.join(file.schema_arrow.names)}"
            )
        rows: list[CorpusRow] = []
        start, total = 0, file.metadata.num_rows  # of the row group
        for group in range(file.num_row_groups):
            end = start + file.metadata.row_group(group).num_rows
            if any(wanted(part) for part in range(start // size, -(-end // size))):
                at = start
                for batch in file.iter_batches(_BATCH, row_groups=[group], columns=columns, use_threads=False):
                    while batch.num_rows:  # a batch may hold the end of a part and the beginning of the next
                        part = at // size
                        head = batch.slice(0, (part + 1) * size - at)
                        if wanted(part):
                            rows += [_row(path, n, lang, record) for n, record in enumerate(head.to_pylist(), at + 1)]
                        at += head.num_rows
                        batch = batch.slice(head.num_rows)
                        if at == total or at // size > part:
                            yield part, rows if wanted(part) else None
                            rows = []
            else:
                for part in range(start // size, end // size if end < total else -(-end // size)):
                    yield part, None
            start = end


def _row(path: Path, number: int, lang: str | None, record: bytes | Mapping[str, Any]) -> CorpusRow:
    try:
        decoded = decode_line(record) if isinstance(record, bytes) else record
        given = {key: value for key, value in decoded.items() if value is not None}
        defaults = {"id": f"{path.name}:{number}"} | ({} if lang is None else {"lang": lang})
        return CorpusRow(number, pair_from_json(defaults | given), None)
    except RecordError as error:
        return CorpusRow(number, None, str(error))
