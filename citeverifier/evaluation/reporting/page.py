"""leaderboard.html: the boards as one self-contained page, from leaderboard.html.jinja."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import citeverifier
from citeverifier.evaluation.reporting.answers import Answers
from citeverifier.evaluation.reporting.boards import NOTHING, Board, Row, shown_columns
from citeverifier.evaluation.reporting.charts import Bar, Point, bars, matrix, scatter, shape
from citeverifier.metrics.agreement import agreement

_TOGGLED = ("At 0.5", "Against the best", "Per 1,000 statements", "Audit")
PICTURED = 12  # runs in the pictures of one board, best F1 first; the tables hold all


@dataclass(frozen=True)
class Picture:
    """A drawing with its title and what to know of it; `svgs` stand side by side."""

    title: str
    note: str
    svgs: Sequence[str]


def page(boards: Sequence[Board], unscored: Sequence[str], problems: Sequence[str]) -> str:
    """The page as HTML."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    file = Path(__file__).with_name("leaderboard.html.jinja")
    series = _series(boards)

    def legend(board: Board) -> list[tuple[str, Any]]:
        runs = [(f"{i} {row.name}", series[row.name]) for i, row in enumerate(_pictured(board), 1)]
        printed = [(f"{row.name} (reported)", -1) for row in board.rows if row.run is None]
        return [(name, Markup(_swatch(number))) for name, number in runs + printed]

    def pictures(board: Board) -> list[Picture]:
        return [Picture(p.title, p.note, [Markup(svg) for svg in p.svgs]) for p in _pictures(board, series)]

    return environment.from_string(file.read_text(encoding="utf-8")).render(
        boards=boards, unscored=unscored, problems=problems, version=citeverifier.__version__, nothing=NOTHING,
        columns=shown_columns, group_names=_TOGGLED, groups=_groups, legend=legend, pictures=pictures,
        languages=list(dict.fromkeys(board.lang for board in boards)),
        schemes=list(dict.fromkeys(board.scheme for board in boards)),
        data=list(dict.fromkeys(board.data for board in boards)),
    )  # fmt: skip


def _series(boards: Sequence[Board]) -> dict[str, int]:
    """A number a verifier, the same all over the page, so that its colour and shape are."""
    names = dict.fromkeys(row.name for board in boards for row in board.measured)
    return {name: number for number, name in enumerate(names)}


def _groups(board: Board) -> list[tuple[str, int]]:
    """(group, how many columns) as they stand."""
    found: dict[str, int] = {}
    for column in shown_columns(board):
        found[column.group] = found.get(column.group, 0) + 1
    return list(found.items())


def _swatch(series: int) -> str:
    return f'<svg class="swatch" viewBox="0 0 14 14" aria-hidden="true">{shape(7, 7, series)}</svg>'


def _pictured(board: Board) -> list[Row]:
    return board.measured[:PICTURED]


def _pictures(board: Board, series: Mapping[str, int]) -> Iterator[Picture]:
    rows = _pictured(board)
    left_out = len(board.measured) - len(rows)
    more = f" The {PICTURED} runs of best F1, of {len(board.measured)}." if left_out else ""
    labels = _labels(rows)
    points = [p for row in board.rows if (row.run is None or row in rows) and (p := _truth(row, series, labels))]
    if points:
        note = "Up and right is better; the dashed line is guessing. Hollow: reported by the paper, on its own data."
        svg = scatter(points, "accuracy on true", "accuracy on false", chance=True)
        yield Picture("Accuracy on true and on false", note + more, [svg])
    for key, title in (("seconds", "seconds"), ("tokens", "tokens")):
        points = [p for row in rows if (p := _priced(row, f"cost.{key}", title, series, labels))]
        if points:
            svg = scatter(points, f"{title} a statement (log)", "F1 (true)", log=True)
            yield Picture(f"F1 against {title}", f"Up and left is better.{more}", [svg])
    points = [p for row in rows if (p := _passed_on(row, series, labels))]
    if points:
        svg = scatter(points, "share passed on to the bigger verifier", "F1 (true)")
        yield Picture("Cascades: F1 against share passed on", f"Up and left is better.{more}", [svg])
    square = _agreement(rows)
    if square:
        yield Picture(
            "Agreement between verifiers",
            f"Cohen’s kappa of decisions on the same trials; 0 is chance.{more}",
            [square],
        )
    names = list(dict.fromkeys(name for row in rows for name in row.summary.get("settings", {})))
    panels = [svg for name in names if (svg := _setting(name, rows, series))]
    if panels:
        yield Picture("Accuracy by setting", f"With 95 % intervals.{more}", panels)
    edits = sorted({edit for row in rows for edit in board.edits.get(row.name, {})})
    panels = [_edit(edit, rows, board, series) for edit in edits]
    if panels:
        note = (
            "Share of corrupted statements taken for supported; shorter is better, as long as accuracy on true holds."
        )
        yield Picture("Errors by kind of edit", note + more, panels)


def _labels(rows: Sequence[Row]) -> dict[str, str]:
    """What stands beside a mark: a few short names as they are, else the numbers of the legend."""
    short = len(rows) <= 5 and all(len(row.name) <= 16 for row in rows)
    return {row.name: row.name if short else str(number) for number, row in enumerate(rows, 1)}


def _interval(row: Row, key: str) -> tuple[float, float] | None:
    cell = row.cells.get(key, NOTHING)
    return None if cell.low is None or cell.high is None else (cell.low, cell.high)


def _number(row: Row, key: str) -> float | None:
    value = row.cells.get(key, NOTHING).value
    return float(value) if isinstance(value, int | float) else None


def _truth(row: Row, series: Mapping[str, int], labels: Mapping[str, str]) -> Point | None:
    x, y = _number(row, "acc_true"), _number(row, "acc_false")
    if x is None or y is None:
        return None
    tip = f"{row.name}, {row.figures}: {x:.3f} on true, {y:.3f} on false"
    number, label = (-1, row.name) if row.run is None else (series[row.name], labels[row.name])
    return Point(x, y, number, label, tip, _interval(row, "acc_true"), _interval(row, "acc_false"))


def _priced(row: Row, key: str, unit: str, series: Mapping[str, int], labels: Mapping[str, str]) -> Point | None:
    price, f1 = _number(row, key), _number(row, "f1")
    if not price or f1 is None:
        return None
    tip = f"{row.name}: F1 {f1:.3f}, {price / 1000:.4g} {unit} a statement"
    return Point(price / 1000, f1, series[row.name], labels[row.name], tip, None, _interval(row, "f1"))


def _passed_on(row: Row, series: Mapping[str, int], labels: Mapping[str, str]) -> Point | None:
    cost, f1 = row.summary.get("cost", {}), _number(row, "f1")
    if "passed_on" not in cost or not cost.get("pairs") or f1 is None:
        return None
    share = cost["passed_on"] / cost["pairs"]
    tip = f"{row.name}: F1 {f1:.3f}, {share:.1%} of the pairs passed on"
    return Point(share, f1, series[row.name], labels[row.name], tip, None, _interval(row, "f1"))


def _setting(name: str, rows: Sequence[Row], series: Mapping[str, int]) -> str:
    made = []
    for number, row in enumerate(rows, 1):
        part = row.summary.get("settings", {}).get(name)
        value = part["metrics"].get("accuracy") if part else None
        if value is not None:
            interval = part["intervals"].get("accuracy")
            tip = f"{row.name}, {name}: {value:.3f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")
            made.append(Bar(value, series[row.name], number, tip, tuple(interval) if interval else None))
    return bars(made, name) if made else ""


def _edit(edit: str, rows: Sequence[Row], board: Board, series: Mapping[str, int]) -> str:
    made = []
    for number, row in enumerate(rows, 1):
        found = board.edits.get(row.name, {}).get(edit)
        if found is not None:
            tip = f"{row.name}, {edit}: {found.value:.3f} wrong [{found.low:.3f}, {found.high:.3f}]"
            made.append(Bar(found.value, series[row.name], number, tip, (found.low, found.high)))
    return bars(made, edit)


def _agreement(rows: Sequence[Row]) -> str:
    """Kappa of each two runs that were asked the same as the first with predictions; "" for fewer than two."""
    able = [(i, row.name, row.run.answers) for i, row in enumerate(rows, 1) if row.run and row.run.answers]
    same = [one for one in able if one[2].asked == able[0][2].asked]
    if len(same) < 2:
        return ""
    cells = [[_kappa(name, first, other, second) for _, other, second in same] for _, name, first in same]
    return matrix([(number, name) for number, name, _ in same], cells)


def _kappa(name: str, first: Answers, other: str, second: Answers) -> tuple[float | None, str]:
    both = first.scored & second.scored
    found = agreement(first.decision[both], second.decision[both])
    kappa = None if math.isnan(found.kappa) else found.kappa
    told = "kappa undefined" if kappa is None else f"kappa {kappa:.2f}"
    equal = f", {found.equal:.1%} equal decisions" if found.n else ""
    return kappa, f"{name} and {other}: {told}{equal} on {found.n:,} trials"
