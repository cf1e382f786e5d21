"""Runs side by side: the metrics.json files below some folders, as report.md, leaderboard.csv and leaderboard.html."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from citeverifier.evaluation.reporting.boards import boards_of, csv_rows, markdown_tables
from citeverifier.evaluation.reporting.page import page
from citeverifier.evaluation.reporting.report import unscored_warning
from citeverifier.evaluation.reporting.runs import Run, read_runs
from citeverifier.evaluation.reporting.tables import markdown, print_table, runs_tables


def by_scheme(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs of each scheme."""
    schemes: dict[str, list[Run]] = {}
    for run in runs:
        schemes.setdefault(run.summary["scheme"], []).append(run)
    return schemes


def report_runs(
    folders: Iterable[Path], out: Path, price_per_hour: float | None = None, currency: str = "USD"
) -> tuple[Path, list[str]]:
    """Print a table a scheme; write `report.md`, `leaderboard.csv` and `leaderboard.html` to `out`.

    Returns the report's path, and what to warn of: runs that could not be read, runs with many unscored trials.
    """
    runs, problems = read_runs(folders)
    unscored = [f"{run.folder}: {told}" for run in runs if (told := unscored_warning(run.summary))]
    for of in by_scheme(runs).values():
        for title, header, rows in runs_tables([{**run.summary, "verifier": run.name} for run in of]):
            print_table(title, header, rows)
    boards = boards_of(runs, price_per_hour, currency)
    out.mkdir(parents=True, exist_ok=True)
    parts = ["# Runs side by side", *(f"> **{warning}**" for warning in unscored), *(f"> {told}" for told in problems)]
    parts.append(
        "Rows are *measured* here, with 95 % intervals by bootstrap over questions, or *reported* by a paper, on its "
        "own data and compared with nothing; *reference* rows never see a document. The same, with pictures: "
        "[leaderboard.html](leaderboard.html)."
    )
    for board in boards:
        parts += [f"## {board.title}", *(markdown(header, rows) for header, rows in markdown_tables(board))]
    report = out / "report.md"
    report.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    with (out / "leaderboard.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(csv_rows(boards))
    (out / "leaderboard.html").write_text(page(boards, unscored, problems), encoding="utf-8")
    return report, unscored + problems
