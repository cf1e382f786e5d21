"""Tables and report.md of a rating run; the picture of its improvement."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from citeverifier.evaluation.reporting.pictures import FALSE, TRUE
from citeverifier.evaluation.reporting.tables import markdown, print_table
from citeverifier.evaluation.schemes.base import value_text
from citeverifier.rating.base import KINDS, SCENARIOS
from citeverifier.rating.reading import Bad

Rows = tuple[list[str], list[list[str]]]


def system_rows(summary: Mapping[str, Any]) -> Rows:
    """(header, rows): a system a row, with its mean number of statements a response (|R|)."""
    metrics = [(metric, scenario) for metric in summary["metrics"] for scenario in SCENARIOS]
    titles = [f"{metric}, {scenario.capitalize()}" for metric, scenario in metrics]
    header = ["system", "responses", "statements", "missing", "unscored", *titles]
    rows = []
    for name, system in summary["systems"].items():
        ratings = [system["ratings"][metric][scenario] for metric, scenario in metrics]
        row = [name, str(system["responses"]), f"{system['length']:.2f}", value_text(system["missing_citations"], None)]
        unscored = str(system["unscored"][summary["metrics"][0]])
        rows.append([*row, unscored, *(value_text(r["mean"], r["interval"]) for r in ratings)])
    return header, rows


def edit_rows(summary: Mapping[str, Any]) -> Rows:
    """(header, rows): edits asked for, by system and kind."""
    return ["system", *KINDS], [
        [name, *(str(system["edits"][kind]) for kind in KINDS)] for name, system in summary["systems"].items()
    ]


def planted_rows(summary: Mapping[str, Any]) -> Rows:
    """(header, rows): planted defects against the edits found."""
    rows = [
        [kind, *(str(found[key]) for key in ("planted", "found", "right"))]
        + [value_text(found[key], None) for key in ("precision", "recall", "f1")]
        for kind, found in summary["planted"]["kinds"].items()
    ]
    return ["edit", "planted", "found", "right", "precision", "recall", "F1"], rows


def step_rows(summary: Mapping[str, Any]) -> Rows:
    """(header, rows): what a further planted defect did to the rating."""
    return ["one more defect ... the rating", "steps"], [
        [name, str(count)] for name, count in summary["planted"]["monotonic"].items()
    ]


_MEASURES = ("pearson", "spearman", "kendall")


def correlation_rows(found: Mapping[str, Any]) -> Rows:
    """(header, rows) of named correlations."""
    rows = [
        [name, str(one["n"]), *(value_text(one[m]["value"], one[m]["interval"]) for m in _MEASURES)]
        for name, one in found.items()
    ]
    return ["", "n", "Pearson", "Spearman", "Kendall"], rows


def human_rows(summary: Mapping[str, Any]) -> Rows:
    """(header, rows): agreement with people, by metric, scenario and level."""
    return correlation_rows(
        {
            f"{metric}, {scenario.capitalize()}, {level}": found
            for metric, scenarios in summary["human"].items()
            for scenario, levels in scenarios.items()
            for level, found in levels.items()
        }
    )


def improvement_rows(summary: Mapping[str, Any]) -> Rows:
    """(header, rows): a round a row."""
    return ["round", "responses", "mean rating", "edits it asks for"], [
        [str(r["round"]), str(r["responses"]), value_text(r["rating"], None), str(r["edits"])]
        for r in summary["improvement"]
    ]


def _tables(summary: Mapping[str, Any]) -> list[tuple[str, Rows]]:
    """The tables there are, with their titles."""
    tables = [("ratings", system_rows(summary))]
    if any(count for system in summary["systems"].values() for count in system["edits"].values()):
        tables.append(("edits", edit_rows(summary)))
    if summary["planted"]:
        tables += [("planted defects", planted_rows(summary)), ("steps", step_rows(summary))]
    if summary["human"]:
        tables.append(("agreement with people", human_rows(summary)))
    if summary["attribution"]:
        found = summary["attribution"]
        row = [
            str(found["n"]),
            str(found["unscored"]),
            *(value_text(found[k], None) for k in ("precision", "recall", "f1")),
        ]
        tables.append(
            ("needs citations, against people", (["statements", "unscored", "precision", "recall", "F1"], [row]))
        )
    if summary["improvement"]:
        tables.append(("improvement", improvement_rows(summary)))
    return tables


def print_summary(summary: Mapping[str, Any]) -> None:
    """The tables on the console."""
    for number, (title, (header, rows)) in enumerate(_tables(summary)):
        print_table(f"{summary['rater']}: {title}" if not number else title, header, rows)
    if warning := unscored_warning(summary):
        print(warning)
    print(f"{summary['cost']['ms_per_statement']:,.1f} ms a statement, {summary['cost']['calls']:,} LLM calls")


def unscored_warning(summary: Mapping[str, Any]) -> str | None:
    """What is missing from the ratings; None where all is there."""
    headline = summary["metrics"][0]
    unscored = sum(system["unscored"][headline] for system in summary["systems"].values())
    bad = summary["data"]["bad_records"]
    without = sum(sum(s["ratings"][headline]["full"]["without"].values()) for s in summary["systems"].values())
    parts = [
        f"{unscored:,} statements are unscored" if unscored else "",
        f"{without:,} responses have no rating" if without else "",
        f"{bad:,} records were set aside" if bad else "",
    ]
    said = ", ".join(part for part in parts if part)
    return f"{said}; the reasons stand in ratings.jsonl and bad_records.jsonl" if said else None


def write_report(folder: Path, summary: Mapping[str, Any], bad: Sequence[Bad]) -> Path:
    """Write report.md (and improvement.png) and return its path."""
    low, high = summary["scale"]
    parts = [f"# Citations rated by {summary['rater']}"]
    if warning := unscored_warning(summary):
        parts.append(f"> **{warning}**")
    parts.append(
        f"Ratings from {low:g} to {high:g}, 95 % intervals by bootstrap over questions. Statements: the mean number a "
        "response (|R|); missing: share of the statements needing citations that have none. Full rates every statement "
        "that needs citations, Cited those that have some."
    )
    if "penalties" in summary["settings"]:
        parts.append(f"Weights of the penalties: {summary['settings']['penalties']['source']}.")
    for title, rows in _tables(summary):
        parts += [f"## {title.capitalize()}", markdown(*rows)]
    if summary["improvement"]:
        plot_improvement(folder / "improvement.png", summary)
        parts.append("![mean rating by round](improvement.png)")
    parts += ["## Length, missing citations, ratings", markdown(*correlation_rows(_named(summary["correlations"])))]
    reasons = [
        f"- {count} times: {reason}"
        for system in summary["systems"].values()
        for reason, count in system["reasons"].items()
    ]
    if reasons:
        parts += ["## Why statements are unscored", "\n".join(reasons)]
    if bad:
        parts += ["## Set aside", "\n".join(f"- {entry.where}: {entry.reason}" for entry in bad[:20])]
    shown = {key: summary[key] for key in ("data", "settings", "cost")}
    parts += ["## Settings, data, cost", "```json\n" + json.dumps(shown, indent=2, ensure_ascii=False) + "\n```"]
    report = folder / "report.md"
    report.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return report


def _named(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name.replace("_", " "): value for name, value in found.items()}


def plot_improvement(path: Path, summary: Mapping[str, Any]) -> None:
    """Mean rating and edits asked for, by round."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rounds = summary["improvement"]
    numbers = [one["round"] for one in rounds]
    figure, axis = plt.subplots(figsize=(4.6, 3.4))
    axis.plot(numbers, [one["rating"] for one in rounds], marker="o", color=TRUE)
    axis.set(xlabel="rounds of edits applied", ylabel=f"mean rating ({summary['metrics'][0]})", ylim=summary["scale"])
    axis.set_xticks(numbers)
    other = axis.twinx()
    other.plot(numbers, [one["edits"] for one in rounds], marker="s", color=FALSE, linestyle="--")
    other.set_ylabel("edits asked for (dashed)")
    other.set_ylim(bottom=0)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
