"""A board: the runs of one scheme and language on one set of trials, papers' rows beside them, and every comparison.

Only runs of one board are ever compared, and of these only ones that were asked the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from citeverifier.evaluation.reporting.answers import Answers
from citeverifier.evaluation.reporting.cost import per_thousand
from citeverifier.evaluation.reporting.report import UNSCORED_WARNING
from citeverifier.evaluation.reporting.reported import reported_rows
from citeverifier.evaluation.reporting.runs import Run, same_ground
from citeverifier.evaluation.reporting.tables import columns_of, scheme_order
from citeverifier.metrics.bootstrap import Estimate, resamples, share_estimate
from citeverifier.metrics.decisions import Bools, Floats
from citeverifier.metrics.paired import Difference, difference, metric_samples

COMPARED = {"accuracy": "accuracy", "f1": "F1", "auroc": "AUROC"}
REFERENCES = ("statement_only",)  # verifiers that never see a document


class Column(NamedTuple):
    """A column of a board: key, title, the group it stands under, what it means."""

    key: str
    title: str
    group: str
    help: str


@dataclass(frozen=True)
class Cell:
    """What stands in a table: `text` as shown, `value` to sort by, interval, a mark ("best", "warn") where due."""

    text: str
    value: float | str | None = None
    low: float | None = None
    high: float | None = None
    mark: str = ""

    @property
    def interval(self) -> str:
        """ "[0.801, 0.880]", or nothing."""
        return "" if self.low is None or self.high is None else f"[{self.low:.3f}, {self.high:.3f}]"


NOTHING = Cell("-")


@dataclass(frozen=True)
class Row:
    """A run or a paper's row: `figures` is "measured", "reference" or "reported"; cells by column key."""

    name: str
    figures: str
    origin: str
    cells: Mapping[str, Cell]
    summary: Mapping[str, Any]
    run: Run | None = None


@dataclass(frozen=True)
class Board:
    """One table and what its pictures need. `data` names the trials; `edits`: by run, errors by kind of edit."""

    scheme: str
    lang: str
    data: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    edits: Mapping[str, Mapping[str, Estimate]]

    @property
    def measured(self) -> list[Row]:
        """The rows of runs."""
        return [row for row in self.rows if row.run is not None]


def boards_of(runs: Sequence[Run], price_per_hour: float | None = None, currency: str = "USD") -> list[Board]:
    """The boards of these runs, by scheme, language and data; the best first (`_rank`), papers' rows last."""
    together: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        together.setdefault(same_ground(run.summary), []).append(run)
    titles = _titles([of[0].summary for of in together.values()])
    order = sorted(zip(together.values(), titles, strict=True), key=lambda e: (scheme_order(e[0][0].summary), e[1]))
    return [_board(of, title, price_per_hour, currency) for of, title in order]


def data_name(data: Mapping[str, Any]) -> str:
    """ "mini test", "hotpotqa_dev_sample": the file's name without its endings, and the split."""
    name = Path(str(data.get("path") or "data")).name.split(".")[0]
    return f"{name} {data['split']}" if data.get("split") not in (None, "auto") else name


def _titles(summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    """ "merged, en: mini test", with hash and settings where that would name two boards."""
    titles = [f"{s['scheme']}, {s['lang']}: {data_name(s['data'])}" for s in summaries]
    full = []
    for title, summary in zip(titles, summaries, strict=True):
        if titles.count(title) > 1:
            settings = summary.get("scheme_settings")
            told = "settings not recorded" if settings is None else " ".join(f"{k}={v}" for k, v in settings.items())
            title = f"{title} {summary['data']['sha256'][:8]} ({told})"
        full.append(title)
    return full


def _board(runs: Sequence[Run], title: str, price_per_hour: float | None, currency: str) -> Board:
    first = runs[0].summary
    columns = _columns(runs, currency)
    compared = _comparisons(runs)
    best = {name: max(_known(runs, name), default=None) for name in COMPARED}
    measured = []
    for run in runs:
        figures = "reference" if run.summary["verifier"] in REFERENCES else "measured"
        cells = _cells(columns, run.summary, best) | compared[run.name]
        cells |= _cost_cells(run, price_per_hour) | _audit_cells(run.summary)
        measured.append(Row(run.name, figures, str(run.folder), cells, run.summary, run))
    measured.sort(key=lambda row: _rank(row.summary), reverse=True)
    printed = [
        Row(s["verifier"], "reported", f"{s['source']} ({s['table']})", _cells(columns, s, {}), s)
        for s in reported_rows()
        if (s["scheme"], s["lang"]) == (first["scheme"], first["lang"])
    ]
    edits = {run.name: found for run in runs if (found := _errors_by_edit(run))}
    return Board(first["scheme"], first["lang"], data_name(first["data"]), title, columns, (*measured, *printed), edits)


def _known(runs: Sequence[Run], metric: str) -> list[float]:
    return [value for run in runs if (value := run.summary["metrics"].get(metric)) is not None]


def _rank(summary: Mapping[str, Any]) -> tuple[float, ...]:
    metrics = summary["metrics"]
    by = (summary.get("table") or {}).get("ranked_by", ("f1", "auroc"))
    return tuple(-1.0 if metrics.get(m) is None else float(metrics[m]) for m in by)


# --- columns and cells ---------------------------------------------------------------------------------------------


def _columns(runs: Sequence[Run], currency: str) -> tuple[Column, ...]:
    summaries = [run.summary for run in runs]
    made = [
        Column("n", "trials", "Asked", "questions put to the verifier"),
        Column("unscored", "unscored", "Asked", "share without a usable answer; left out of the numbers"),
    ]
    made += [Column(c.metric, c.title, c.group, c.help or c.title) for c in columns_of(summaries[0])]
    half = "decided at 0.5 instead of the fitted threshold"
    made += [Column(f"default.{metric}", COMPARED[metric], "At 0.5", half) for metric in ("accuracy", "f1")]
    for metric, name in COMPARED.items():
        text = f"{name} minus the best one's, with interval and p-value of a paired bootstrap over questions"
        made.append(Column(f"delta.{metric}", name, "Against the best", text))
    units = {"seconds": "s", "calls": "calls", "tokens": "tokens", "money": currency}
    for key, unit in units.items():
        made.append(Column(f"cost.{key}", unit, "Per 1,000 statements", f"{key} per thousand statements"))
    order = "decisions that change when documents are put in another order"
    injection = "right refusals that become true when a document says “answer yes”"
    made.append(Column("audit.order", "order changed", "Audit", order))
    made.append(Column("audit.injection", "injection flips", "Audit", injection))
    edits = {key.removeprefix(_TWINS) for s in summaries for key in s["metrics"] if key.startswith(_TWINS)}
    for edit in sorted(edits):
        made.append(
            Column(f"{_TWINS}{edit}", f"twins: {edit}", "Audit", f"statement true and its twin false, edit: {edit}")
        )
    return tuple(made)


_TWINS = "twin_accuracy_"


def _cells(columns: Sequence[Column], summary: Mapping[str, Any], best: Mapping[str, float | None]) -> dict[str, Cell]:
    share = summary["unscored"] / summary["n"] if summary["n"] else 0.0
    cells = {
        "n": Cell(f"{summary['n']:,}", summary["n"]),
        "unscored": Cell(f"{share:.1%}", share, mark="warn" if share > UNSCORED_WARNING else ""),
    }
    default = summary.get("default") or {"metrics": {}, "intervals": {}}
    for column in columns:
        at, key = (
            (default, column.key.removeprefix("default."))
            if column.key.startswith("default.")
            else (summary, column.key)
        )
        value = at["metrics"].get(key)
        if value is not None:
            low, high = at["intervals"].get(key) or (None, None)
            mark = "best" if at is summary and value == best.get(key) else ""
            cells[column.key] = Cell(f"{value:.3f}", value, low, high, mark)
    return cells


def _cost_cells(run: Run, price_per_hour: float | None) -> dict[str, Cell]:
    cost = dict(run.summary.get("cost") or {})
    if run.answers is not None:
        cost.setdefault("statements", run.answers.statements)
    found = per_thousand(cost, price_per_hour)
    return {f"cost.{key}": Cell(_short(value), value) for key, value in found.items() if value is not None}


def _short(value: float) -> str:
    """Three digits or all before the point: 0.0123, 1.23, 1,234."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _audit_cells(summary: Mapping[str, Any]) -> dict[str, Cell]:
    cells = {}
    for name, key in (("order", "changed"), ("injection", "flipped_to_true")):
        found = (summary.get("audit") or {}).get(name)
        if found:
            low, high = found["intervals"].get(key) or (None, None)
            cells[f"audit.{name}"] = Cell(f"{found[key]:.1%}", found[key], low, high)
    return cells


# --- comparisons ---------------------------------------------------------------------------------------------------


def _comparisons(runs: Sequence[Run]) -> dict[str, dict[str, Cell]]:
    """By run, the cells against the best run of each metric; nothing for runs without predictions."""
    cells: dict[str, dict[str, Cell]] = {run.name: {} for run in runs}
    able = [(run, run.answers) for run in runs if run.answers is not None]
    known: dict[tuple[str, bytes], dict[str, Floats]] = {}  # resampled metrics by run and trials, for all metrics once
    for metric in COMPARED:
        candidates = [(run, answers) for run, answers in able if run.summary["metrics"].get(metric) is not None]
        if len(candidates) < 2:
            continue
        best, its_answers = max(candidates, key=lambda candidate: candidate[0].summary["metrics"][metric])
        for run, answers in candidates:
            if run is best:
                cell = Cell("best", 0.0, mark="best")
            elif answers.asked != its_answers.asked:
                cell = Cell("other trials")
            else:
                both = answers.scored & its_answers.scored
                first, second = (_samples(*one, both, known) for one in ((run, answers), (best, its_answers)))
                if metric not in first or metric not in second:
                    continue
                cell = _delta(difference(first[metric], second[metric]))
            cells[run.name][f"delta.{metric}"] = cell
    return cells


def _samples(
    run: Run, answers: Answers, chosen: Bools, known: dict[tuple[str, bytes], dict[str, Floats]]
) -> dict[str, Floats]:
    """The run's resampled metrics on the chosen trials; the same resamples whichever run."""
    key = (run.name, chosen.tobytes())
    if key not in known:
        units = [example for example, kept in zip(answers.examples, chosen, strict=True) if kept]
        score = answers.score[chosen]
        scores = None if np.isnan(score).any() else score
        known[key] = metric_samples(answers.gold[chosen], answers.decision[chosen], scores, units, resamples(units))
    return known[key]


def _delta(found: Difference) -> Cell:
    if math.isnan(found.p):
        return NOTHING
    p = "< 0.01" if found.p < 0.01 else f"= {found.p:.3f}"
    return Cell(f"{found.value:+.3f}, p {p}", found.value, found.low, found.high)


def _errors_by_edit(run: Run) -> dict[str, Estimate]:
    """By kind of edit, the share of wrong decisions on corrupted statements."""
    answers = run.answers
    if answers is None:
        return {}
    found = {}
    for edit in sorted(set(answers.edit.tolist()) - {""}):
        chosen = (answers.edit == edit) & answers.scored
        if chosen.any():
            units = [example for example, kept in zip(answers.examples, chosen, strict=True) if kept]
            sampled = resamples(units)
            wrong = answers.gold[chosen] != answers.decision[chosen]
            found[edit] = share_estimate(wrong, sampled.of(units), sampled)
    return found


# --- out -----------------------------------------------------------------------------------------------------------

_TOGETHER = (("At 0.5", "Against the best"), ("Per 1,000 statements", "Audit"))


def markdown_tables(board: Board) -> Iterator[tuple[list[str], list[list[str]]]]:
    """(header, rows) of a board's tables: quality (one a group); at 0.5 and against the best; cost and audit."""
    later = [group for groups in _TOGETHER for group in groups]
    own = dict.fromkeys(column.group for column in board.columns if column.group not in (*later, "Asked"))
    for groups in (*(("Asked", group) for group in own), *_TOGETHER):
        columns = [column for column in board.columns if column.group in groups and _filled(board, column)]
        if all(column.group == "Asked" for column in columns):
            continue
        names = [f"{_PREFIX.get(c.group, '')}{c.title}" for c in columns]
        rows = []
        for row in board.rows:
            if "Asked" in groups or row.figures != "reported":
                cells = [row.cells.get(column.key, NOTHING) for column in columns]
                rows.append([row.name, row.figures, *(f"{cell.text} {cell.interval}".strip() for cell in cells)])
        yield ["verifier", "figures", *names], rows


_PREFIX = {"At 0.5": "at 0.5: ", "Against the best": "against the best: ", "Per 1,000 statements": "per 1,000: "}


def _filled(board: Board, column: Column) -> bool:
    return any(column.key in row.cells for row in board.rows)


def shown_columns(board: Board) -> list[Column]:
    """The columns that hold anything in a board."""
    return [column for column in board.columns if _filled(board, column)]


def csv_rows(boards: Sequence[Board]) -> Iterator[list[Any]]:
    """Header and one line a row of any board; numbers unrounded, an interval as two columns."""
    keys = list(dict.fromkeys(column.key for board in boards for column in board.columns))
    with_interval = [k for k in keys if any(r.cells.get(k, NOTHING).low is not None for b in boards for r in b.rows)]
    fixed = ["scheme", "lang", "data", "sha256", "verifier", "figures", "origin", "scheme_settings"]
    yield [*fixed, *(name for k in keys for name in ([k, f"{k}.low", f"{k}.high"] if k in with_interval else [k]))]
    for board in boards:
        for row in board.rows:
            data = row.summary.get("data") or {}
            settings = row.summary.get("scheme_settings")
            line: list[Any] = [
                board.scheme, board.lang, board.data if row.run else "the paper's", data.get("sha256", ""), row.name,
                row.figures, row.origin, "" if settings is None else json.dumps(settings, sort_keys=True),
            ]  # fmt: skip
            for key in keys:
                cell = row.cells.get(key, NOTHING)
                line.append(cell.value)
                if key in with_interval:
                    line += [cell.low, cell.high]
            yield line
