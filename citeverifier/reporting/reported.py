"""Rows that papers printed, read from reported.yaml, in the form of metrics.json as far as they go."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from citeverifier.metrics.decisions import Counts
from citeverifier.reporting.plain import plain


@cache
def reported_rows() -> tuple[dict[str, Any], ...]:
    """One summary a row: `scheme, lang, verifier, source, table, n, unscored, metrics, intervals, counts`."""
    rows = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return tuple(_summary(row) for row in rows)


def _summary(row: dict[str, Any]) -> dict[str, Any]:
    counts = Counts(**row["counts"])
    exact = row.get("exact")
    metrics = counts.metrics() | {"exact": exact["right"] / exact["of"] if exact else None}
    kept = {key: row[key] for key in ("scheme", "lang", "verifier", "source", "table", "counts")}
    return kept | {"n": counts.n, "unscored": 0, "metrics": plain(metrics), "intervals": {}}
