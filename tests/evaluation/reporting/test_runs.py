"""Held: runs are found at any depth and sorted; what cannot be read is told by file; equal names are told apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from citeverifier.data.mini import load_mini
from citeverifier.evaluation.reporting.runs import read_runs, same_ground
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.records import Example

Leave = Callable[..., Path]


def test_runs_are_sorted_by_scheme_language_and_name(leave: Leave, worked_example: Example, tmp_path: Path) -> None:
    for folder, scheme, lang, label in (
        ("a", Separate(), "pl", "keyword"), ("b", Merged(), "en", "keyword"), ("deep/er/c", Separate(), "en", "first"),
    ):  # fmt: skip
        leave(tmp_path / folder, scheme, [worked_example], lambda trial: 0.5, label=label, lang=lang)
    runs, problems = read_runs([tmp_path, tmp_path / "a"])
    assert problems == []
    assert [(run.summary["scheme"], run.summary["lang"], run.name) for run in runs] == [
        ("merged", "en", "keyword"), ("separate", "en", "first"), ("separate", "pl", "keyword"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"scheme": "merg', "got no whole JSON (Unterminated string"),
        ("", "got no whole JSON"),
        ("[1, 2]", "expected the metrics.json of a run, got list"),
        (
            '{"scheme": "merged"}',
            "got one without scheme_settings, lang, verifier, data, n, unscored, metrics, intervals,",
        ),
    ],
)
def test_a_bad_metrics_json_is_left_out_by_name(
    leave: Leave, worked_example: Example, tmp_path: Path, content: str, message: str
) -> None:
    leave(tmp_path / "good", Merged(), [worked_example], lambda trial: 0.5, label="good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/metrics.json").write_text(content)
    runs, (problem,) = read_runs([tmp_path])
    assert [run.name for run in runs] == ["good"]
    assert problem.startswith(f"{(tmp_path / 'bad/metrics.json').resolve()}: ")
    assert message in problem
    assert problem.endswith("this run is left out")


def test_only_bad_runs_are_an_error_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text("{")
    with pytest.raises(FileNotFoundError, match="got no whole JSON"):
        read_runs([tmp_path])


def test_a_run_without_predictions_keeps_its_row(leave: Leave, worked_example: Example, tmp_path: Path) -> None:
    folder = leave(tmp_path / "one", Merged(), [worked_example], lambda trial: 0.5, label="one")
    (folder / "predictions.jsonl").unlink()
    (run,), (problem,) = read_runs([tmp_path])
    assert run.trials is None
    assert "no such file" in problem
    assert "compared with nothing" in problem


def test_a_bad_line_of_predictions_is_named(leave: Leave, worked_example: Example, tmp_path: Path) -> None:
    folder = leave(tmp_path / "one", Merged(), [worked_example], lambda trial: 0.5, label="one")
    file = folder / "predictions.jsonl"
    lines = file.read_text("utf-8").splitlines()
    file.write_text("\n".join([*lines[:2], lines[2][:40]]))
    (run,), (problem,) = read_runs([tmp_path])
    assert run.trials is None
    assert f"{file.resolve()}:3: " in problem


def test_runs_of_one_name_are_told_apart_by_folder(leave: Leave, worked_example: Example, tmp_path: Path) -> None:
    for folder in ("first/merged", "second/merged"):
        leave(tmp_path / folder, Merged(), [worked_example], lambda trial: 0.5, label="mine")
    leave(tmp_path / "third", Merged(seed=1), [worked_example], lambda trial: 0.5, label="mine")
    runs, (problem,) = read_runs([tmp_path])
    assert sorted(run.name for run in runs) == ["mine", "mine (first/merged)", "mine (second/merged)"]
    assert "label=NAME" in problem
    assert "2 runs are called 'mine' in merged, en" in problem


def test_ground_is_scheme_language_data_and_settings(leave: Leave, tmp_path: Path) -> None:
    grounds = []
    for i, (scheme, lang, sha) in enumerate(
        [
            (Merged(), "en", "0"),
            (Merged(), "pl", "0"),
            (Merged(seed=1), "en", "0"),
            (Separate(), "en", "0"),
            (Merged(), "en", "1"),
        ]
    ):
        folder = leave(tmp_path / str(i), scheme, load_mini("test", "en")[:2], lambda trial: 0.5, label="x", lang=lang)
        summary = json.loads((folder / "metrics.json").read_text())
        grounds.append(same_ground(summary | {"data": summary["data"] | {"sha256": sha}}))
    assert len(set(grounds)) == 5
