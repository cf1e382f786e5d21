"""predictions.jsonl read back, as arrays: what comparing two runs needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citeverifier.metrics.decisions import Bools, Floats
from citeverifier.records import RecordError, read_jsonl

_KEYS = frozenset({"id", "example", "lang", "setting", "statement_id", "premise", "level", "gold", "decision", "score"})


@dataclass(frozen=True)
class Answers:
    """The n trials of a run, sorted by id: (n,) arrays.

    `asked` is a hash of what was asked and expected, so that equal hashes mean equal trials in the same order.
    `scored` says which trials have a decision; `decision` is False elsewhere, `score` nan where there is none.
    `edit` is the kind of edit of a corrupted statement's trial, "" elsewhere.
    """

    asked: str
    examples: tuple[str, ...]
    gold: Bools
    decision: Bools
    scored: Bools
    score: Floats
    edit: NDArray[np.str_]
    statements: int


def read_answers(path: Path) -> Answers:
    """Read predictions.jsonl; raises FileNotFoundError, or RecordError with file:line at the first bad line."""
    rows = sorted(read_jsonl(path, _checked), key=lambda row: str(row["id"]))
    digest = hashlib.sha256()
    for row in rows:
        told = [row[key] for key in ("id", "setting", "level", "premise", "gold")]
        digest.update(json.dumps(told, ensure_ascii=False).encode())
    decisions = [row["decision"] for row in rows]
    edits = [(row.get("edit") or "edit") if str(row["statement_id"]).endswith("/corrupted") else "" for row in rows]
    return Answers(
        asked=digest.hexdigest(),
        examples=tuple(row["example"] for row in rows),
        gold=np.array([row["gold"] for row in rows], dtype=bool),
        decision=np.array([bool(decision) for decision in decisions], dtype=bool),
        scored=np.array([decision is not None for decision in decisions], dtype=bool),
        score=np.array([np.nan if row["score"] is None else row["score"] for row in rows], dtype=np.float64),
        edit=np.array(edits, dtype=np.str_),
        statements=len({(row["statement_id"], row["lang"]) for row in rows}),
    )


def _checked(row: Mapping[str, Any]) -> Mapping[str, Any]:
    if missing := sorted(_KEYS - row.keys()):
        raise RecordError(
            f"expected a prediction with keys {', '.join(sorted(_KEYS))}, got none of {', '.join(missing)}"
        )
    if not isinstance(row["gold"], bool):
        raise RecordError(f"key 'gold': expected true or false, got {row['gold']!r}")
    return row
