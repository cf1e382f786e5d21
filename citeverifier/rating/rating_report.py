"""What a rating run reports: metrics.json (docs/formats.md), tables and report.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from citeverifier.evaluation.reporting.tables import markdown, print_table
from citeverifier.evaluation.schemes.base import value_text
from citeverifier.rating.agreement_with_people import attribution, human_correlations, shape_correlations
from citeverifier.rating.planted import planted_defects
from citeverifier.rating.read_responses import BadRecord
from citeverifier.rating.response_ratings import response_rating, systems
from citeverifier.rating.responses import KINDS, SCENARIOS, RatedResponse, Rater

_PRF = ("precision", "recall", "f1")


class Table(NamedTuple):
    """A table of a report; a column's name is its heading."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def _cells(values: Iterable[Any]) -> list[str]:
    """Names and counts as they are, numbers rounded, an estimate with its interval."""
    cells = []
    for value in values:
        if isinstance(value, Mapping):
            cells.append(value_text(value["mean"] if "mean" in value else value["value"], value["interval"]))
        else:
            cells.append(str(value) if isinstance(value, str | int) else value_text(value, None))
    return cells


def _tables(summary: Mapping[str, Any]) -> list[Table]:
    """The tables there are."""
    systems, planted, needs = summary["systems"], summary["planted"], summary["attribution"]
    tables = [_systems_table(summary)]
    if any(system["edits"][kind] for system in systems.values() for kind in KINDS):
        edits = [_cells([name, *(system["edits"][kind] for kind in KINDS)]) for name, system in systems.items()]
        tables.append(Table("edits", ["system", *KINDS], edits))
    if planted:
        keys = ("planted", "found", "right", *_PRF)
        rows = [_cells([kind, *(one[key] for key in keys)]) for kind, one in planted["kinds"].items()]
        columns = ["edit", "planted", "found", "right", "precision", "recall", "F1"]
        tables.append(Table("planted defects", columns, rows))
        steps = [_cells(step) for step in planted["monotonic"].items()]
        tables.append(Table("steps", ["one more defect ... the rating", "steps"], steps))
    if summary["human"]:
        named = {
            f"{metric}, {scenario.capitalize()}, {level}": correlation
            for metric, scenarios in summary["human"].items()
            for scenario, levels in scenarios.items()
            for level, correlation in levels.items()
        }
        tables.append(_correlations_table("agreement with people", named))
    if needs:
        row = _cells(needs[key] for key in ("n", "unscored", *_PRF))
        columns = ["statements", "unscored", "precision", "recall", "F1"]
        tables.append(Table("needs citations, against people", columns, [row]))
    if summary["improvement"]:
        rows = [_cells(one[key] for key in ("round", "responses", "rating", "edits")) for one in summary["improvement"]]
        tables.append(Table("improvement", ["round", "responses", "mean rating", "edits it asks for"], rows))
    return tables


def _systems_table(summary: Mapping[str, Any]) -> Table:
    """A system a row, with its mean number of statements a response (|R|)."""
    metrics = [(metric, scenario) for metric in summary["metrics"] for scenario in SCENARIOS]
    rows = []
    for name, system in summary["systems"].items():
        unscored = system["unscored"][summary["metrics"][0]]
        shape = [name, system["responses"], f"{system['length']:.2f}", system["missing_citations"], unscored]
        rows.append(_cells([*shape, *(system["ratings"][metric][scenario] for metric, scenario in metrics)]))
    columns = ["system", "responses", "statements", "missing", "unscored"]
    return Table("ratings", columns + [f"{metric}, {scenario.capitalize()}" for metric, scenario in metrics], rows)


def _correlations_table(title: str, named: Mapping[str, Any]) -> Table:
    keys = ("n", "pearson", "spearman", "kendall")
    rows = [_cells([name, *(one[key] for key in keys)]) for name, one in named.items()]
    return Table(title, ["", "n", "Pearson", "Spearman", "Kendall"], rows)


def print_summary(summary: Mapping[str, Any]) -> None:
    """The tables on the console."""
    for number, table in enumerate(_tables(summary)):
        title = table.title if number else f"{summary['rater']}: {table.title}"
        print_table(title, list(table.columns), table.rows)
    if warning := unscored_warning(summary):
        print(warning)
    print(f"{summary['cost']['ms_per_statement']:,.1f} ms a statement, {summary['cost']['calls']:,} LLM calls")


def unscored_warning(summary: Mapping[str, Any]) -> str | None:
    """What is missing from the ratings; None where all is there."""
    headline = summary["metrics"][0]
    systems = summary["systems"].values()
    counts = {
        "statements are unscored": sum(system["unscored"][headline] for system in systems),
        "responses have no rating": sum(sum(s["ratings"][headline]["full"]["without"].values()) for s in systems),
        "records were set aside": summary["data"]["bad_records"],
    }
    missing = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    return f"{missing}; the reasons stand in ratings.jsonl and bad_records.jsonl" if missing else None


def write_report(folder: Path, summary: Mapping[str, Any], bad: Sequence[BadRecord]) -> Path:
    """Write report.md and return its path."""
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
    for table in _tables(summary):
        parts += [f"## {table.title.capitalize()}", markdown(table.columns, table.rows)]
    shape = {name.replace("_", " "): value for name, value in summary["correlations"].items()}
    lengths = _correlations_table("Length, missing citations, ratings", shape)
    parts += [f"## {lengths.title}", markdown(lengths.columns, lengths.rows)]
    reasons = [
        f"- {count} times: {reason}"
        for system in summary["systems"].values()
        for reason, count in system["reasons"].items()
    ]
    if reasons:
        parts += ["## Why statements are unscored", "\n".join(reasons)]
    if bad:
        parts += ["## Set aside", "\n".join(f"- {record.where}: {record.reason}" for record in bad[:20])]
    shown = {key: summary[key] for key in ("data", "settings", "cost")}
    parts += ["## Settings, data, cost", "```json\n" + json.dumps(shown, indent=2, ensure_ascii=False) + "\n```"]
    report = folder / "report.md"
    report.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return report


def summarise(
    history: Sequence[Sequence[RatedResponse]], rater: Rater, *, lang: str, data: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Of the first round; `improvement` tells of the others."""
    rated, cost = history[0], rater.cost
    statements = sum(len(one.statements) for one in rated)
    return {
        "rater": rater.name,
        "metrics": list(rater.metrics),
        "scale": list(rater.scale),
        "lang": lang,
        "data": dict(data),
        "settings": rater.settings(),
        "systems": systems(rated, rater, seed),
        "correlations": shape_correlations(rated, rater, seed),
        "human": human_correlations(rated, rater, seed),
        "attribution": attribution(rated),
        "planted": planted_defects(rated, rater),
        "improvement": [_round(number, one, rater) for number, one in enumerate(history)] if len(history) > 1 else [],
        "cost": {
            "seconds": round(cost.seconds, 3),
            "statements": statements,
            "ms_per_statement": round(1000 * cost.seconds / max(1, statements * len(history)), 3),
            "pairs": cost.distinct_pairs,
            "calls": cost.calls,
            "tokens": cost.tokens,
            **({} if cost.money is None else {"money": round(cost.money, 6)}),
        },
    }


def _round(number: int, rated: Sequence[RatedResponse], rater: Rater) -> dict[str, Any]:
    """Mean headline rating in Full, and how many edits the round asks for."""
    ratings = [response_rating(one, rater.metrics[0], "full", rater.scale)[0] for one in rated]
    known = [rating for rating in ratings if rating is not None]
    edits = sum(len(statement.edits or ()) for one in rated for statement in one.statements)
    mean = sum(known) / len(known) if known else None
    return {"round": number, "rating": mean, "responses": len(known), "edits": edits}
