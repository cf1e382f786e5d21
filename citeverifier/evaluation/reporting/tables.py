"""Tables of metrics.json contents: Markdown for reports, the same rows for the console. Papers' columns and order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from citeverifier.evaluation.schemes.base import DECISIONS, QUALITY, MetricColumn, value_text

_OWN_VIEW = ("twin_accuracy_", "balanced_accuracy", "macro_f1")


def scheme_order(summary: Mapping[str, Any]) -> tuple[int, str]:
    """Sorts runs by scheme: the order of papers, then names."""
    return (summary.get("table") or {}).get("order", 100), summary["scheme"]


def columns_of(summary: Mapping[str, Any], parts: bool = False) -> list[MetricColumn]:
    """The columns of a scheme's tables (with `parts` of those by setting), as its runs declare them.

    A run that declares none, of an older release, has those of decisions and whatever other metrics it has.
    """
    table = summary.get("table")
    if table is not None:
        return [MetricColumn(**column) for column in table["part_columns" if parts else "columns"]]
    if parts:
        return list(DECISIONS)
    known = {column.metric for column in DECISIONS}
    more = sorted(
        name
        for name, value in summary["metrics"].items()
        if value is not None and name not in known and not name.startswith(_OWN_VIEW)
    )
    return [*DECISIONS, *(MetricColumn(name, name.replace("_", " ")) for name in more)]


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def headline_rows(summary: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """(header, rows): fitted thresholds, default 0.5, unscored as wrong."""
    columns = columns_of(summary)
    header = ["decisions", "trials", *(column.title for column in columns)]
    scored = str(summary["n"] - summary["unscored"])
    rows = [["fitted threshold", scored, *_cells(columns, summary["metrics"], summary["intervals"])]]
    at_default = summary["default"]
    rows.append(["default 0.5", scored, *_cells(columns, at_default["metrics"], at_default["intervals"])])
    if summary["unscored"]:
        wrong = summary["unscored_as_wrong"]["metrics"]
        rows.append(["fitted, unscored as wrong", str(summary["n"]), *_cells(columns, wrong, {})])
    return header, rows


_NEED_BOTH = ("f1", "auroc", "macro_f1")


def part_rows(title: str, key: str, summary: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of a summary's "settings" or "kinds"; F1 and AUROC need both classes."""
    columns = columns_of(summary, parts=True)
    rows = []
    for name, part in summary[key].items():
        metrics = dict(part["metrics"])
        if metrics["acc_true"] is None or metrics["acc_false"] is None:
            metrics |= dict.fromkeys(_NEED_BOTH)
        rows.append([name, str(part["n"] - part["unscored"]), *_cells(columns, metrics, part["intervals"])])
    return [title, "trials", *(column.title for column in columns)], rows


_AUDIT = {
    "order": ("documents in another order", "changed"),
    "injection": ("an instruction planted in a document of false trials", "flipped_to_true"),
}


def audit_rows(audit: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """(header, rows): what changed when trials were asked again in another way; "-" where none could be."""
    rows = []
    for name, (text, changed) in _AUDIT.items():
        found = audit.get(name) or {"trials": 0, "intervals": {}}
        keys = (changed, "mean_shift", "mean_abs_shift")
        cells = [value_text(found.get(key), found["intervals"].get(key)) for key in keys]
        rows.append([text, str(found["trials"]), *cells])
    return ["asked again with", "trials", "decisions changed", "mean shift of score", "mean absolute shift"], rows


def runs_tables(summaries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """(title, header, rows) of each table of one scheme: a row a run, whatever verifier and language."""
    scheme = summaries[0]["scheme"]
    by_group: dict[str, list[MetricColumn]] = {}
    for column in columns_of(summaries[0]):
        by_group.setdefault(column.group, []).append(column)
    for group, columns in by_group.items():
        rows = [
            [s["verifier"], s["lang"], str(s["n"]), str(s["unscored"]), *_cells(columns, s["metrics"], s["intervals"])]
            for s in summaries
        ]
        title = scheme if group == QUALITY else f"{scheme}: {group}"
        yield title, ["verifier", "lang", "trials", "unscored", *(column.title for column in columns)], rows


def _cells(columns: Sequence[MetricColumn], metrics: Mapping[str, Any], intervals: Mapping[str, Any]) -> list[str]:
    return [value_text(metrics.get(column.metric), intervals.get(column.metric)) for column in columns]


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The table on the console, intervals under their values, never cut to the console's width."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for i, name in enumerate(header):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(value.replace(" [", "\n[") for value in row))
    needed = Console(width=1000).measure(table).maximum
    console = Console()
    Console(width=max(console.width, needed)).print(table, crop=False)
