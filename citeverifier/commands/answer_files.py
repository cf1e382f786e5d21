"""What verify, cite and fix share: answers in, a verifier, results out batch by batch, exit codes."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from citeverifier.answers.answer_record import AnswerRecord, answer_from_json
from citeverifier.extras import not_installed
from citeverifier.records import LANGUAGES, RecordError, Support, open_text

if TYPE_CHECKING:
    from citeverifier.answers.facade import CiteVerifier

BELOW, USAGE, UNREAD = 1, 2, 3  # exit codes; 0 is fine
BATCH = 64  # answers asked together
KEYWORD = "keyword"
# Shares of a statement's words; a rule of thumb, not fitted.
KEYWORD_THRESHOLDS = {Support.PARTIAL: 0.5, Support.FULL: 0.8}

Result = TypeVar("Result")


@dataclass(frozen=True)
class ReadFile:
    """The records of a file, and what is wrong with those that could not be read ("answers.jsonl:3: expected ...")."""

    records: tuple[AnswerRecord, ...]
    problems: tuple[str, ...]


@contextmanager
def one_line_errors() -> Iterator[None]:
    """A user's mistake is one line on stderr and exit code 2: wrong input, no file or model, a part not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        typer.echo(f"error: {not_installed(error.name)}, or ask the floor with --model keyword", err=True)
        raise typer.Exit(USAGE) from None
    except (ValueError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(USAGE) from None


def read_file(source: str, lang: str | None) -> ReadFile:
    """Answers from a JSON or JSONL file (plain or .gz), or from stdin ("-").

    A JSON file holds one answer, a list of them, or ALCE's {"data": [...]}. A record without an id is named by its
    place. Raises ValueError where nothing can be read, FileNotFoundError where there is no such file.
    """
    if lang is not None and lang not in LANGUAGES:
        raise ValueError(f"--lang: expected one of {', '.join(LANGUAGES)}, got {lang!r}")
    name = "stdin" if source == "-" else source
    records, problems = [], []
    for place, row in _rows(_bytes(source), name):
        try:
            if isinstance(row, RecordError):
                raise row
            if not isinstance(row, dict):
                raise RecordError(f"expected a JSON object, got {type(row).__name__}")
            record = answer_from_json(row)
            records.append(replace(record, id=record.id or place, lang=record.lang or lang))
        except RecordError as error:
            problems.append(f"{place}: {error}")
    if not records:
        raise ValueError("\n".join(problems) or f"{name}: expected at least one answer, got none")
    return ReadFile(tuple(records), tuple(problems))


def _bytes(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read()
    path = Path(source)
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path} (expected a JSON or JSONL file, plain or .gz, or - for stdin)")
    with open_text(path) as opened:
        return opened.read()


def _rows(raw: bytes, name: str) -> Iterator[tuple[str, Any]]:
    """(place, decoded row, or the RecordError of a line that is no JSON)."""
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        whole = json.loads(raw)
    except ValueError as error:
        rows = [_line(line) for line in raw.split(b"\n")]
        if not any(isinstance(row, dict) for row in rows):
            where = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
            if not raw.strip():
                return
            raise ValueError(f"{name}{where}: expected JSON, or one JSON object a line, got {error}") from None
        yield from ((f"{name}:{number}", row) for number, row in enumerate(rows, 1) if row is not None)
        return
    if isinstance(whole, dict) and isinstance(whole.get("data"), list):
        whole = whole["data"]
    if isinstance(whole, list):
        yield from ((f"{name}: record {number}", row) for number, row in enumerate(whole, 1))
    else:
        yield f"{name}:1", whole


def _line(line: bytes) -> Any:
    """A decoded line, None where it is blank."""
    try:
        return json.loads(line) if line.strip() else None
    except ValueError as error:
        return RecordError(f"expected one JSON object a line, got {line[:40]!r} ({error})")


def load_verifier(model: str | None) -> CiteVerifier:
    """The verifier that `--model` names: "keyword", a folder, a hub id, or (None) the last one trained."""
    from citeverifier.answers.facade import CiteVerifier

    if model == KEYWORD:
        from citeverifier.verifiers.keyword import Keyword

        return CiteVerifier(Keyword(), KEYWORD_THRESHOLDS)
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]  # of reading weights, a second's work
    return CiteVerifier.from_pretrained(model)


def run(
    source: str,
    model: str | None,
    lang: str | None,
    ask: Callable[[CiteVerifier, Sequence[AnswerRecord]], list[Result]],
    show: Callable[[Result], None],
) -> tuple[list[Result], ReadFile]:
    """Read, ask in batches and show each result when it is there."""
    with one_line_errors():
        read = read_file(source, lang)
        for problem in read.problems:
            typer.echo(f"unread: {problem}", err=True)
        verifier = load_verifier(model)
        results = []
        for start in range(0, len(read.records), BATCH):
            for result in ask(verifier, read.records[start : start + BATCH]):
                show(result)
                results.append(result)
    return results, read


def finish(read: ReadFile) -> None:
    """Exit with 3 where some records could not be read."""
    if read.problems:
        count = len(read.problems) + len(read.records)
        typer.echo(f"{len(read.problems)} of {count} records could not be read", err=True)
        raise typer.Exit(UNREAD)


def print_json(result: Any) -> None:
    """One result a line."""
    typer.echo(json.dumps(result.to_dict(), ensure_ascii=False))
