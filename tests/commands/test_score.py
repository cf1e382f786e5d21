"""citeverifier score on the command line: the same on one process and on two, going on after a stop, bad records."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from citeverifier.cli import app
from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import ordinal_pairs
from citeverifier.records import Support, pair_to_json
from citeverifier.verifiers.keyword import Keyword

REPOSITORY = Path(__file__).parents[2]


def start(folder: Path, *arguments: str, rank: int = 0, processes: int = 1) -> subprocess.Popen[str]:
    environment = {"PYTHONPATH": str(REPOSITORY), "RANK": str(rank), "WORLD_SIZE": str(processes)}
    return subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "citeverifier", "score", *arguments], cwd=folder, text=True,
        env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(folder: Path, *arguments: str, processes: int = 1) -> list[tuple[str, str]]:
    """Output and errors of each process, all of which must end well."""
    started = [start(folder, *arguments, rank=rank, processes=processes) for rank in range(processes)]
    told = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0] * processes, told
    return told


def scores(out: Path) -> list[dict[str, Any]]:
    return [row for part in sorted(out.glob("part-*.parquet")) for row in pq.read_table(part).to_pylist()]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs in a parquet file of several row groups and in a JSONL file with two bad lines."""
    folder = tmp_path_factory.mktemp("corpus")
    rows = [pair_to_json(pair) for pair in ordinal_pairs(load_mini("dev", "en"))][:150]
    pq.write_table(pa.Table.from_pylist(rows[:110]), folder / "a.parquet", row_group_size=40)
    lines = [json.dumps(row) for row in rows[110:]]
    lines[3] = "{broken"
    lines[9] = json.dumps(rows[119] | {"statement": "It is."})
    (folder / "b.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


KEYWORD = ("a.parquet", "b.jsonl", "--verifier", "keyword", "--part-rows", "16")


@pytest.fixture(scope="module")
def one(corpus: Path) -> tuple[str, str]:
    """The corpus scored by one process into the folder `one`."""
    return run(corpus, *KEYWORD[:2], "one", *KEYWORD[2:])[0]


def test_one_process_and_two_write_the_same(corpus: Path, one: tuple[str, str]) -> None:
    two = run(corpus, *KEYWORD[:2], "two", *KEYWORD[2:], processes=2)
    names = sorted(path.name for path in (corpus / "one").iterdir())
    assert names == sorted(path.name for path in (corpus / "two").iterdir())
    assert len([name for name in names if name.startswith("part-")]) == 7 + 3
    for name in names:
        assert (corpus / "one" / name).read_bytes() == (corpus / "two" / name).read_bytes(), name
    told = "150 pairs: 148 scored, 1 unscored, 1 bad records"
    assert told in one[0]
    assert any(told in out for out, _ in two)
    assert " torch" not in one[1], "the keyword verifier needs none"
    summary = json.loads((corpus / "one" / "_summary.json").read_text())
    assert summary["reasons"] == {"the statement has no words besides stop words": 1}
    assert summary["first_bad_records"] == [
        r"b.jsonl:4: expected one JSON object a line, got b'{broken\n' "
        "(Expecting property name enclosed in double quotes)"
    ]


def test_scores_are_the_verifier_s_and_unscored_rows_say_why(corpus: Path, one: tuple[str, str]) -> None:
    rows = scores(corpus / "one")
    pairs = list(ordinal_pairs(load_mini("dev", "en")))[:150]
    expected = Keyword().score(pairs, Support.FULL).values
    assert len(rows) == 150
    for row, pair, value in zip(rows, pairs, expected, strict=True):
        if row["score"] is not None:
            assert (row["id"], row["score"]) == (pair.id, pytest.approx(value))
    unscored = [(row["source"], row["row"], row["id"] is None, row["reason"]) for row in rows if row["score"] is None]
    assert [entry[:3] for entry in unscored] == [("b.jsonl", 4, True), ("b.jsonl", 10, False)]
    assert all(reason for *_, reason in unscored)
    assert {row["decision"] for row in rows} == {None}, "the keyword verifier brings no threshold"
    run(corpus, *KEYWORD[:2], "decided", *KEYWORD[2:], "--threshold", "0.5")
    assert {row["decision"] for row in scores(corpus / "decided")} == {True, False, None}


def test_a_stopped_run_goes_on_and_keeps_what_is_there(corpus: Path, one: tuple[str, str]) -> None:
    command = (*KEYWORD[:2], "stopped", *KEYWORD[2:])
    out = corpus / "stopped"
    shutil.copytree(corpus / "one", out)
    before = scores(out)
    kept = out / "part-00000-000001.parquet"
    made = kept.stat().st_mtime_ns
    gone = out / "part-00000-000002.parquet"
    gone.with_name(gone.name + ".partial").write_bytes(gone.read_bytes()[:100])  # cut off while it was written
    gone.unlink()
    (out / "_summary.json").unlink()
    run(corpus, *command, processes=2)
    assert scores(out) == before
    assert kept.stat().st_mtime_ns == made
    assert not list(out.glob("*.partial"))
    assert (out / "_summary.json").is_file()


def test_another_run_in_the_folder_is_refused(corpus: Path, one: tuple[str, str]) -> None:
    process = start(corpus, *KEYWORD[:2], "one", *KEYWORD[2:], "--level", "partial")
    _, told = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "one holds scores of another run: level differ" in told
    process = start(corpus, "a.parquet", "x", "--verifier", "statement_only")
    _, told = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "must be fitted on data first" in told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--lang", "de"), "--lang: expected one of en, pl, came 'de'"),
        (("--setting", "verifier.foo=1"), "--setting verifier.foo=1: expected names of configs/verifier and keys"),
        (("--setting", "verifier.foo="), "--setting verifier.foo="),
        (("--setting", "="), "--setting =: expected"),
        (("--verifier", "nobody"), "--verifier nobody"),
    ],
)
def test_a_wrong_option_is_said_at_the_start(corpus: Path, tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    arguments = ["score", str(corpus / "a.parquet"), str(tmp_path / "out"), "--verifier", "keyword", *options]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert told in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_run_that_scored_nothing_says_so_and_fails(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps({"statement": "A fact.", "documents": [{"title": "T", "text": "A fact."}]}) + "\n")
    told = CliRunner().invoke(app, ["score", str(file), str(tmp_path / "out"), "--verifier", "keyword"])
    assert told.exit_code == 2
    assert "expected a pair that can be scored, came 1 records and none" in told.stderr
    summary = json.loads((tmp_path / "out" / "_summary.json").read_text())
    assert summary["first_bad_records"] == [f"{file}:1: key 'lang': expected a value, got nothing"]


def test_a_file_that_was_cut_is_said(tmp_path: Path, corpus: Path) -> None:
    file = tmp_path / "pairs.jsonl.gz"
    file.write_bytes(gzip.compress((corpus / "b.jsonl").read_bytes())[:-20])
    done = CliRunner().invoke(app, ["score", str(file), str(tmp_path / "out"), "--verifier", "keyword"])
    assert done.exit_code == 2
    assert f"{file}: expected a whole gzip file" in done.stderr
