"""Runs side by side: report.md, leaderboard.csv and leaderboard.html from what lies below the folders; warnings."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from citeverifier.cli import app
from citeverifier.data.mini import load_mini
from citeverifier.evaluation.reporting.gather import by_scheme, report_runs
from citeverifier.evaluation.reporting.runs import read_runs
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.evaluation.schemes.trials import Trial

Leave = Callable[..., Path]


def good(trial: Trial) -> float:
    return 0.9 if trial.gold else 0.1


def noisy(trial: Trial) -> float:
    return 0.9 if trial.gold is (hash_of(trial) % 4 > 0) else 0.2


def gaps(trial: Trial) -> float:
    return math.nan if hash_of(trial) % 4 == 0 else good(trial)


def hash_of(trial: Trial) -> int:
    return sum(trial.id.encode())


@pytest.fixture
def runs(tmp_path: Path, leave: Leave) -> Path:
    folder = tmp_path / "runs"
    for lang in ("en", "pl"):
        leave(folder / f"a-{lang}", Separate(), load_mini("test", lang), noisy, label="keyword", lang=lang)
    leave(folder / "deep/b", Separate(), load_mini("test", "en"), good, label="good")
    leave(folder / "c", Merged(), load_mini("test", "en"), noisy, label="keyword")
    return folder


def test_a_report_holds_a_table_a_scheme_and_language(runs: Path, tmp_path: Path) -> None:
    path, warnings = report_runs([runs], tmp_path / "out")
    assert warnings == []
    assert {scheme: len(of) for scheme, of in by_scheme(read_runs([runs])[0]).items()} == {"merged": 1, "separate": 3}
    text = path.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## merged, en: somewhere", "## separate, en: somewhere", "## separate, pl: somewhere",
    ]  # fmt: skip
    assert "| good | measured | 300 | 0.0% | 1.000 [1.000, 1.000] |" in text
    assert "| CiteVerifier | reported | 672 | 0.0% | 0.842 | 0.803 | 0.861 | 0.768 | - |" in text
    assert text.count("reported |") == 2, "one row in each English table"


def test_the_csv_has_a_line_a_row_with_unrounded_numbers(runs: Path, tmp_path: Path) -> None:
    report_runs([runs], tmp_path / "out")
    with (tmp_path / "out" / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 + 2
    (row,) = [row for row in rows if (row["scheme"], row["lang"], row["verifier"]) == ("separate", "en", "keyword")]
    told = json.loads((runs / "a-en" / "metrics.json").read_text())
    for key in ("accuracy", "f1", "auroc"):
        assert float(row[key]) == told["metrics"][key]
        assert [float(row[f"{key}.low"]), float(row[f"{key}.high"])] == told["intervals"][key]
    assert float(row["delta.accuracy"]) == pytest.approx(told["metrics"]["accuracy"] - 1)
    printed = [row for row in rows if row["figures"] == "reported"]
    assert {(row["scheme"], row["verifier"], row["data"]) for row in printed} == {
        ("merged", "gpt-4o", "the paper's"), ("separate", "CiteVerifier", "the paper's"),
    }  # fmt: skip


def test_many_unscored_trials_are_told_everywhere(leave: Leave, tmp_path: Path) -> None:
    leave(tmp_path / "runs/holes", Merged(), load_mini("test", "en"), gaps, label="holes")
    done = CliRunner().invoke(app, ["report", str(tmp_path / "runs"), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0
    summary: dict[str, Any] = json.loads((tmp_path / "runs/holes/metrics.json").read_text())
    warning = f"WARNING: {summary['unscored']} of {summary['n']} trials"
    assert warning in done.output
    assert f"> **{(tmp_path / 'runs/holes').resolve()}: {warning}" in (tmp_path / "out/report.md").read_text("utf-8")
    page = (tmp_path / "out/leaderboard.html").read_text("utf-8")
    assert '<div class="warning" role="alert">' in page
    assert warning in page
    share = f"{summary['unscored'] / summary['n']:.1%}"
    assert f'class="warn">{share}</td>' in page


def test_a_broken_run_is_told_and_the_rest_goes_on(runs: Path, tmp_path: Path) -> None:
    whole = (runs / "c" / "metrics.json").read_text()
    (runs / "c" / "metrics.json").write_text(whole[: len(whole) // 2])
    done = CliRunner().invoke(app, ["report", str(runs), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0
    assert "c/metrics.json: expected the metrics.json of a finished run, got no whole JSON" in done.output
    for name in ("report.md", "leaderboard.html"):
        text = (tmp_path / "out" / name).read_text("utf-8")
        assert "got no whole JSON" in text
        assert "separate" in text


def test_the_command_prints_paths_and_says_what_is_missing(runs: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    well = runner.invoke(app, ["report", str(runs), "--out", str(tmp_path / "out"), "--price-per-hour", "2"])
    assert well.exit_code == 0
    assert "report.md" in well.output
    assert "leaderboard.html" in well.output
    (tmp_path / "empty").mkdir()
    bad = runner.invoke(app, ["report", str(tmp_path / "empty"), "--out", str(tmp_path / "out")])
    assert bad.exit_code == 2
    assert "expected runs of eval.py" in bad.output
