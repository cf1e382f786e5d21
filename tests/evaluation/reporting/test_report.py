"""Held: report.md has its tables and pictures, says where thresholds come from, and warns of unscored trials."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from by_hand import right

from citeverifier.cost import Cost
from citeverifier.data.mini import load_mini
from citeverifier.evaluation.reporting.report import unscored_warning, write_report
from citeverifier.evaluation.schemes.cite_separate import CiteSeparate
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.pairs import Pairs
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.evaluation.schemes.trials import Prediction, Trial
from citeverifier.records import Example, Pair, Support

Evaluate = Callable[..., tuple[list[Prediction], dict[str, Any]]]


def tables(text: str) -> Iterator[list[list[str]]]:
    """The Markdown tables of a text, as rows of cells, header first."""
    for block in re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        assert {len(row) for row in rows} == {len(rows[0])}, "as many cells in every row"
        assert set(rows[1]) == {"---"}
        yield [rows[0], *rows[2:]]


@pytest.mark.parametrize("scheme", [Merged(), Separate(), CiteSeparate(), Pairs()], ids=lambda scheme: scheme.name)
def test_tables_and_pictures(evaluate: Evaluate, pairs: list[Pair], tmp_path: Path, scheme: Any) -> None:
    records = pairs if scheme.name == "pairs" else load_mini("test", "pl")
    thresholds = {Support.PARTIAL: 0.45, Support.FULL: 0.55}
    predictions, summary = evaluate(
        scheme, records, lambda trial: 0.4 + 0.2 * trial.gold, thresholds=thresholds, lang="pl"
    )
    path = write_report(tmp_path, summary, predictions)
    assert path == tmp_path / "report.md"
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {scheme.name}, pl: by hand\n")
    by_head = {table[0][0]: table for table in tables(text)}
    expected = {"decisions", "setting", "kind", "level"} | (
        {"edit"} if scheme.name in ("merged", "separate") else set()
    )
    assert by_head.keys() == expected
    assert [row[0] for row in by_head["setting"][1:]] == list(summary["settings"])
    assert [row[0] for row in by_head["kind"][1:]] == list(summary["kinds"])
    assert by_head["decisions"][1][2].startswith(f"{summary['metrics']['accuracy']:.3f} [")
    assert by_head["level"][1:] == [
        [level.label, f"{thresholds[level]:.4f}", "fitted by hand"]
        for level in thresholds
        if level.label in summary["thresholds"]
    ]
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert sorted(pictures) == ["reliability.png", "settings.png"]
    for picture in pictures:
        assert (tmp_path / picture).stat().st_size > 5000
    assert "WARNING" not in text


def test_twins_by_edit(evaluate: Evaluate, worked_example: Example, tmp_path: Path) -> None:
    predictions, summary = evaluate(Merged(), [worked_example], right)
    text = write_report(tmp_path, summary, predictions).read_text(encoding="utf-8")
    edits = next(table for table in tables(text) if table[0][0] == "edit")
    assert edits == [["edit", "twin accuracy"], ["date", "1.000 [1.000, 1.000]"]]


def test_data_and_cost_can_be_read_back(evaluate: Evaluate, worked_example: Example, tmp_path: Path) -> None:
    cost = Cost(2.5, 5, 4, 3, 2, notes={"windowed": 1})
    predictions, summary = evaluate(Merged(), [worked_example], lambda trial: 0.5, cost=cost)
    text = write_report(tmp_path, summary, predictions).read_text(encoding="utf-8")
    block = re.search(r"```json\n(.*?)\n```", text, flags=re.DOTALL)
    assert block is not None
    assert json.loads(block.group(1)) == {"data": summary["data"], "cost": summary["cost"]}


def unscored_every(count: int) -> Callable[[Trial], float]:
    """Scores that lack in the first `count` documents' trials."""
    return lambda trial: math.nan if trial.premise[0] < count and trial.setting == "statement" else 0.5


@pytest.mark.parametrize(("count", "warned"), [(0, False), (1, False), (2, True), (10, True)])
def test_more_than_one_unscored_trial_in_twenty_is_warned_of(
    evaluate: Evaluate, worked_example: Example, tmp_path: Path, count: int, warned: bool
) -> None:
    predictions, summary = evaluate(CiteSeparate(), [worked_example], unscored_every(count))
    assert (summary["unscored"], summary["n"]) == (count, 20)
    text = write_report(tmp_path, summary, predictions).read_text(encoding="utf-8")
    warning = unscored_warning(summary)
    if not warned:
        assert warning is None
        assert "WARNING" not in text
    else:
        assert warning is not None
        assert warning.startswith(f"WARNING: {count} of 20 trials ({count / 20:.0%}) are unscored")
        assert f"> **{warning}**" in text.splitlines()


def test_no_trials_are_no_warning() -> None:
    assert unscored_warning({"unscored": 0, "n": 0}) is None


def test_an_audit_is_shown_with_what_could_not_be_asked(
    evaluate: Evaluate, worked_example: Example, tmp_path: Path
) -> None:
    predictions, summary = evaluate(Separate(), [worked_example], right)
    injection = {
        "trials": 4, "flipped_to_true": 0.25, "mean_shift": 0.1, "mean_abs_shift": 0.2,
        "intervals": {"flipped_to_true": [0.0, 0.5]},
    }  # fmt: skip
    text = write_report(tmp_path, summary | {"audit": {"order": None, "injection": injection}}, predictions).read_text()
    audit = next(table for table in tables(text) if table[0][0] == "asked again with")
    assert [row[1:] for row in audit[1:]] == [["0", "-", "-", "-"], ["4", "0.250 [0.000, 0.500]", "0.100", "0.200"]]
