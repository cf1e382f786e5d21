"""Runs side by side: the metrics.json files below some folders, as a table a scheme and one picture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from citeverifier.reporting.tables import COLUMNS, markdown, print_table, runs_rows

Summary = Mapping[str, Any]


def read_runs(folders: Iterable[Path]) -> list[Summary]:
    """The metrics.json contents below the folders, sorted by scheme, language and verifier.

    Raises FileNotFoundError where there is none.
    """
    folders = list(folders)
    files = sorted({file for folder in folders for file in folder.rglob("metrics.json")})
    if not files:
        raise FileNotFoundError(f"no metrics.json below {', '.join(map(str, folders))}: expected runs of eval.py there")
    order = list(COLUMNS)
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return sorted(found, key=lambda s: (order.index(s["scheme"]), s["lang"], s["verifier"]))


def by_scheme(summaries: Sequence[Summary]) -> dict[str, list[Summary]]:
    """The summaries of each scheme."""
    schemes: dict[str, list[Summary]] = {}
    for summary in summaries:
        schemes.setdefault(summary["scheme"], []).append(summary)
    return schemes


def report_runs(folders: Iterable[Path], out: Path) -> Path:
    """Print a table a scheme; write `report.md` with the tables and a picture to `out`; return the report's path."""
    schemes = by_scheme(read_runs(folders))
    out.mkdir(parents=True, exist_ok=True)
    parts = ["# Runs side by side", "All numbers are measured, with 95 % intervals by bootstrap over questions."]
    for scheme, summaries in schemes.items():
        header, rows = runs_rows(summaries)
        print_table(scheme, header, rows)
        parts += [f"## {scheme}", markdown(header, rows)]
    _plot(out / "runs.png", schemes)
    parts.append("![AUROC and F1 by scheme, language and verifier](runs.png)")
    report = out / "report.md"
    report.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return report


def _plot(path: Path, schemes: Mapping[str, Sequence[Summary]]) -> None:
    """A row a scheme, a column a metric, a bar a run with its interval."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    metrics = {"auroc": "AUROC", "accuracy": "accuracy", "f1": "F1 (true)"}
    height = sum(0.9 + 0.28 * len(runs) for runs in schemes.values())
    figure, axes = plt.subplots(
        len(schemes), len(metrics), figsize=(3.4 * len(metrics), height), squeeze=False, sharex=True,
        height_ratios=[1 + len(runs) for runs in schemes.values()],
    )  # fmt: skip
    colours = plt.get_cmap("tab10")
    verifiers = sorted({s["verifier"] for runs in schemes.values() for s in runs})
    for row, (scheme, runs) in zip(axes, schemes.items(), strict=True):
        labels = [f"{s['verifier']}, {s['lang']}" for s in runs]
        for axis, (metric, title) in zip(row, metrics.items(), strict=True):
            for y, run in enumerate(runs):
                value, interval = run["metrics"].get(metric), run["intervals"].get(metric)
                if value is not None:
                    error = None if interval is None else [[max(0, value - interval[0])], [max(0, interval[1] - value)]]
                    axis.barh(y, value, xerr=error, color=colours(verifiers.index(run["verifier"])), height=0.7)
            axis.set_yticks(range(len(runs)), labels if axis is row[0] else [""] * len(runs), fontsize=8)
            axis.invert_yaxis()
            axis.set_xlim(0, 1)
            axis.set_title(f"{scheme}: {title}", fontsize=9)
            axis.axvline(0.5, color="#bbbbbb", linewidth=0.8, zorder=0)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
