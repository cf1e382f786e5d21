"""JSONL datasets as parquet, row group by row group, with a schema of their own: no column's type is guessed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_ROWS = 1000  # of one row group


def write_parquet(folder: Path, names: Sequence[str]) -> None:
    """Write `parquet/pairs_SPLIT.parquet` and `parquet/examples_SPLIT.parquet` from the JSONL files named."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "parquet").mkdir(exist_ok=True)
    for name in names:
        stem = name.removesuffix(".jsonl")
        examples = stem.startswith("examples_")
        schema = _examples(pa) if examples else _pairs(pa)
        path = folder / "parquet" / f"{stem if examples else f'pairs_{stem}'}.parquet"
        partial = path.with_name(path.name + ".partial")
        with pq.ParquetWriter(partial, schema, compression="zstd") as out:
            for rows in _batches(folder / name):
                out.write_table(pa.Table.from_pylist(rows, schema=schema))
        partial.replace(path)


def _batches(path: Path) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            rows.append(json.loads(line))
            if len(rows) == _ROWS:
                yield rows
                rows = []
    if rows:
        yield rows


def _strings(pa: Any, *names: str) -> list[tuple[str, Any]]:
    return [(name, pa.string()) for name in names]


def _made(pa: Any) -> Any:
    return pa.list_(pa.struct(_strings(pa, "stage", "model", "fingerprint", "prompt", "version")))


def _pairs(pa: Any) -> Any:
    document = pa.struct(_strings(pa, "title", "text"))
    return pa.schema(
        [
            *_strings(pa, "id", "example", "statement_id", "lang", "group", "statement"),
            ("documents", pa.list_(document)),
            *_strings(pa, "context", "support_min", "support_max", "kind"),
            ("meta", pa.struct([("source", pa.string()), ("made", _made(pa))])),
        ]
    )


def _examples(pa: Any) -> Any:
    document = pa.struct([*_strings(pa, "title", "text"), ("score", pa.float64())])
    evidence = pa.struct([("document", pa.int64()), ("text", pa.string())])
    statement = pa.struct(
        [
            ("text", pa.string()),
            ("citations", pa.list_(pa.int64())),
            *_strings(pa, "kind", "span"),
            ("evidence", pa.list_(evidence)),
            ("corrupted", pa.string()),
            ("altered_in", pa.list_(pa.int64())),
            ("edit", pa.string()),
        ]
    )
    meta = pa.struct(
        [
            *_strings(pa, "source", "type", "split", "reference"),
            ("hard_negatives", pa.list_(pa.int64())),
            ("made", _made(pa)),
            ("review", pa.list_(pa.struct(_strings(pa, "decision", "reviewer", "time")))),
        ]
    )
    return pa.schema(
        [
            *_strings(pa, "id", "lang", "group", "question", "answer"),
            ("documents", pa.list_(document)),
            ("statements", pa.list_(statement)),
            ("meta", meta),
        ]
    )
