"""Runs side by side: a table a scheme, in order, from what lies below the folders; a clear error where nothing does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from citeverifier.cli import app
from citeverifier.reporting.gather import by_scheme, read_runs, report_runs


def run(folder: Path, scheme: str, lang: str, verifier: str, accuracy: float) -> None:
    metrics = {"accuracy": accuracy, "acc_true": accuracy, "acc_false": accuracy, "f1": None, "auroc": accuracy}
    summary: dict[str, Any] = {
        "scheme": scheme, "lang": lang, "verifier": verifier, "n": 10, "unscored": 1,
        "metrics": metrics, "intervals": {"accuracy": [accuracy - 0.1, accuracy + 0.1]},
    }  # fmt: skip
    folder.mkdir(parents=True)
    (folder / "metrics.json").write_text(json.dumps(summary))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    run(tmp_path / "runs/a", "separate", "pl", "keyword", 0.6)
    run(tmp_path / "runs/b", "merged", "en", "keyword", 0.7)
    run(tmp_path / "runs/deep/c", "separate", "en", "citeverifier", 0.8)
    return tmp_path / "runs"


def test_runs_are_found_at_any_depth_and_sorted(runs: Path) -> None:
    found = [(s["scheme"], s["lang"], s["verifier"]) for s in read_runs([runs, runs / "a"])]
    assert found == [("merged", "en", "keyword"), ("separate", "en", "citeverifier"), ("separate", "pl", "keyword")]
    assert {scheme: len(of) for scheme, of in by_scheme(read_runs([runs])).items()} == {"merged": 1, "separate": 2}


def test_the_report_holds_a_table_a_scheme_and_the_picture(runs: Path, tmp_path: Path) -> None:
    report = report_runs([runs], tmp_path / "out").read_text(encoding="utf-8")
    assert report.index("## merged") < report.index("## separate")
    assert "| citeverifier | en | 10 | 1 | 0.800 [0.700, 0.900] |" in report
    assert "| - |" in report  # F1 is null there
    assert (tmp_path / "out" / "runs.png").stat().st_size > 10_000


def test_the_command_prints_the_path_and_says_what_is_missing(runs: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    good = runner.invoke(app, ["report", str(runs), "--out", str(tmp_path / "out")])
    assert good.exit_code == 0
    assert "report.md" in good.output
    (tmp_path / "empty").mkdir()
    bad = runner.invoke(app, ["report", str(tmp_path / "empty"), "--out", str(tmp_path / "out")])
    assert bad.exit_code == 2
    assert "expected runs of eval.py" in bad.output
