"""What papers printed (reported.yaml): rows for the boards, and every table as it stands in its paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from citeverifier.metrics.decisions import Counts

_FIGURES = ("metrics", "counts", "exact", "deviates")  # all else in a row is a label


@dataclass(frozen=True)
class PrintedTable:
    """A table of a paper as text: what it is called, what to know of it, header (title, help) and rows."""

    table: str
    title: str
    notes: tuple[str, ...]
    header: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class PrintedPaper:
    """A paper with its data and tables."""

    title: str
    data: str
    tables: tuple[PrintedTable, ...]

    @property
    def count(self) -> int:
        """Rows of all its tables."""
        return sum(len(table.rows) for table in self.tables)


@cache
def reported() -> dict[str, Any]:
    """reported.yaml as it is; its first lines say what stands where."""
    file = Path(__file__).with_name("reported.yaml")
    content: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content


@cache
def reported_rows() -> tuple[dict[str, Any], ...]:
    """The rows that have a scheme of ours, in the form of metrics.json, with `source` and `table`.

    A verifier's rows of several tables are one. `n` is None where figures do not determine it, `unscored` always.
    """
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for table in reported()["tables"]:
        for row in table["rows"] if "scheme" in table else ():
            name = f"{row['verifier']} ({row['prompt']})" if "prompt" in row else row["verifier"]
            new = {
                "scheme": table["scheme"], "lang": table["lang"], "verifier": name, "table": table["table"],
                "source": reported()["papers"][table["paper"]]["title"], "metrics": row["metrics"],
                "n": Counts(**row["counts"]).n if "counts" in row else None, "unscored": None, "intervals": {},
            }  # fmt: skip
            before = rows.setdefault((table["scheme"], table["lang"], name), new)
            if before is not new:
                before["metrics"] = before["metrics"] | row["metrics"]
                before["table"] += f"; {table['table']}"
    return tuple(rows.values())


def printed_papers() -> list[PrintedPaper]:
    """Every paper with all its tables, in the order of the file."""
    return [
        PrintedPaper(
            paper["title"], paper["data"], tuple(_printed(t) for t in reported()["tables"] if t["paper"] == name)
        )
        for name, paper in reported()["papers"].items()
    ]


def _printed(table: Mapping[str, Any]) -> PrintedTable:
    rows = table["rows"]
    labels = list(dict.fromkeys(key for row in rows for key in row if key not in _FIGURES))
    columns = table["columns"]
    figures = {name: [row["metrics"][name] for row in rows] for name in columns}
    digits = {name: max(_decimals(value) for value in values) for name, values in figures.items()}
    header = [(label, "") for label in labels] + list(columns.items())
    deviates = any("deviates" in row for row in rows)
    texts = []
    for row in rows:
        values = ((name, row["metrics"][name]) for name in columns)
        cells = [str(row.get(label, "-")) for label in labels]
        cells += ["-" if value is None else f"{value:.{digits[name]}f}" for name, value in values]
        texts.append((*cells, *([row.get("deviates", "")] if deviates else [])))
    header += [("deviates", "what does not fit in the paper, or had to be read into it")] * deviates
    return PrintedTable(table["table"], table["title"], tuple(table.get("notes", ())), tuple(header), tuple(texts))


def _decimals(value: float | None) -> int:
    return len(str(value).partition(".")[2]) if isinstance(value, float) else 0
