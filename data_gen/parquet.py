"""JSONL datasets as parquet, by the library `datasets`, with features of their own: no column's type is guessed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

TEXT, NUMBER = "string", "int64"
_MADE = [dict.fromkeys(("stage", "model", "fingerprint", "prompt", "version"), TEXT)]
_PAIR = {
    **dict.fromkeys(("id", "example", "statement_id", "lang", "group", "statement"), TEXT),
    "documents": [{"title": TEXT, "text": TEXT}],
    **dict.fromkeys(("context", "support_min", "support_max", "kind"), TEXT),
    "meta": {"source": TEXT, "made": _MADE},
}
_STATEMENT = {
    "text": TEXT, "citations": [NUMBER], "kind": TEXT, "span": TEXT, "evidence": [{"document": NUMBER, "text": TEXT}],
    "corrupted": TEXT, "altered_in": [NUMBER], "edit": TEXT,
}  # fmt: skip
_EXAMPLE = {
    **dict.fromkeys(("id", "lang", "group", "question", "answer"), TEXT),
    "documents": [{"title": TEXT, "text": TEXT, "score": "float64"}],
    "statements": [_STATEMENT],
    "meta": {
        **dict.fromkeys(("source", "type", "split", "reference"), TEXT),
        "hard_negatives": [NUMBER],
        "made": _MADE,
        "review": [dict.fromkeys(("decision", "reviewer", "time"), TEXT)],
    },
}


def write_parquet(folder: Path, names: Sequence[str]) -> list[str]:
    """Write `parquet/pairs_SPLIT.parquet` and `parquet/examples_SPLIT.parquet` from the JSONL files; returns names."""
    from datasets import Dataset, Features
    from datasets.utils import disable_progress_bars

    disable_progress_bars()
    (folder / "parquet").mkdir(exist_ok=True)
    written = []
    for name in names:
        stem = name.removesuffix(".jsonl")
        examples = stem.startswith("examples_")
        path = folder / "parquet" / f"{stem if examples else f'pairs_{stem}'}.parquet"
        features = Features(_features(_EXAMPLE if examples else _PAIR))
        with tempfile.TemporaryDirectory() as cache:
            rows = Dataset.from_generator(
                _rows, features=features, cache_dir=cache, gen_kwargs={"path": str(folder / name)}
            )
            rows.to_parquet(path)
        written.append(f"parquet/{path.name}")
    return written


def _rows(path: str) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _features(kinds: Any) -> Any:
    from datasets import List, Value

    if isinstance(kinds, str):
        return Value(kinds)
    if isinstance(kinds, list):
        return List(_features(kinds[0]))
    return {name: _features(kind) for name, kind in kinds.items()}
