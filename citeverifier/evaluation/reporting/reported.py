"""Rows that papers printed, read from reported.yaml, in the form of metrics.json as far as they go."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from citeverifier.evaluation.reporting.plain import plain
from citeverifier.metrics.decisions import Counts


@cache
def reported_rows() -> tuple[dict[str, Any], ...]:
    """One summary a row: `scheme, lang, verifier, source, table, n, unscored, metrics, intervals, counts`."""
    rows = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return tuple(summary_of(row) for row in rows)


def summary_of(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the file in the form of metrics.json: metrics as printed (`n`, `metrics`), or those of its `counts`."""
    if "metrics" in row:
        kept = {key: row[key] for key in ("scheme", "lang", "verifier", "source", "table", "n", "metrics")}
        return kept | {"unscored": 0, "counts": {}, "intervals": {}}
    counts = Counts(**row["counts"])
    exact = row.get("exact")
    metrics = counts.metrics() | {"exact": exact["right"] / exact["of"] if exact else None}
    kept = {key: row[key] for key in ("scheme", "lang", "verifier", "source", "table", "counts")}
    return kept | {"n": counts.n, "unscored": 0, "metrics": plain(metrics), "intervals": {}}
