"""report.md of one eval run: tables, pictures, what was measured on what, with which thresholds, at which cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from citeverifier.evaluation.reporting.mistakes import mistakes_table
from citeverifier.evaluation.reporting.pictures import plot_reliability, plot_settings
from citeverifier.evaluation.reporting.tables import audit_rows, headline_rows, markdown, part_rows
from citeverifier.evaluation.schemes.base import Table, value_text
from citeverifier.evaluation.schemes.trials import Prediction

UNSCORED_WARNING = 0.05


def unscored_warning(summary: Mapping[str, Any]) -> str | None:
    """A line to print where more than one trial in twenty is unscored."""
    share = summary["unscored"] / summary["n"] if summary["n"] else 0.0
    if share <= UNSCORED_WARNING:
        return None
    return (
        f"WARNING: {summary['unscored']} of {summary['n']} trials ({share:.0%}) are unscored; the numbers speak of the "
        "rest only. The reasons stand in predictions.jsonl."
    )


def write_report(
    folder: Path, summary: Mapping[str, Any], predictions: Sequence[Prediction], details: Iterable[Table] = ()
) -> Path:
    """Write report.md with its two pictures and return its path."""
    plot_settings(folder / "settings.png", summary, predictions)
    plot_reliability(folder / "reliability.png", predictions)
    twins = {
        k.removeprefix("twin_accuracy_"): v for k, v in summary["metrics"].items() if k.startswith("twin_accuracy_")
    }
    parts = [
        f"# {summary['scheme']}, {summary['lang']}: {summary['verifier']}",
        f"> **{warning}**" if (warning := unscored_warning(summary)) else "",
        "All numbers are measured, with 95 % intervals by bootstrap over questions.",
        markdown(*headline_rows(summary)),
        "## By setting",
        markdown(*part_rows("setting", "settings", summary)),
        "![scores by setting](settings.png)",
        "## By kind of statement",
        markdown(*part_rows("kind", "kinds", summary)),
    ]
    if twins:
        intervals = summary["intervals"]
        rows = [[edit, value_text(value, intervals.get(f"twin_accuracy_{edit}"))] for edit, value in twins.items()]
        parts += ["## Twins told apart, by kind of edit", markdown(["edit", "twin accuracy"], rows)]
    for title, header, rows in (*details, mistakes_table(predictions)):
        parts += [f"## {title}", markdown(header, rows)] if rows else []
    if summary["audit"]:
        parts += ["## Audit", markdown(*audit_rows(summary["audit"]))]
    parts += [
        "## Calibration",
        "![reliability](reliability.png)",
        "## Thresholds, data, cost",
        markdown(
            ["level", "threshold", "where from"],
            [[level, f"{t['value']:.4f}", t["source"]] for level, t in summary["thresholds"].items()],
        ),
        "```json\n" + json.dumps({"data": summary["data"], "cost": summary["cost"]}, indent=2) + "\n```",
    ]
    report = folder / "report.md"
    report.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return report
