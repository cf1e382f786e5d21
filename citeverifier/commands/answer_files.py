"""What verify, cite and fix share: answers in, a verifier, results out batch by batch, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from citeverifier.answers.answer_record import AnswerRecord, answer_from_json, read_records
from citeverifier.commands.errors import UNREAD, check_lang, plain_errors
from citeverifier.records import RecordError, Support

if TYPE_CHECKING:
    from citeverifier.answers.facade import CiteVerifier

BATCH = 64  # answers asked together
# Shares of a statement's words; a rule of thumb, not fitted.
KEYWORD_THRESHOLDS = {Support.PARTIAL: 0.5, Support.FULL: 0.8}
ASK_THE_FLOOR = ", or ask the floor with --model keyword"

Result = TypeVar("Result")


@dataclass(frozen=True)
class ReadFile:
    """The records of a file, and what is wrong with those that could not be read ("answers.jsonl:3: expected ...")."""

    records: tuple[AnswerRecord, ...]
    problems: tuple[str, ...]


def read_file(source: str, lang: str | None) -> ReadFile:
    """Answers from a file, or from stdin ("-"); one without an id is named by its place.

    Raises ValueError where nothing can be read, FileNotFoundError where there is no such file.
    """
    check_lang(lang)
    records, problems = [], []
    for place, row in read_records(source):
        try:
            record = answer_from_json(row)
            records.append(replace(record, id=record.id or place, lang=record.lang or lang))
        except RecordError as error:
            problems.append(f"{place}: {error}")
    if not records:
        name = "stdin" if source == "-" else source
        raise ValueError("\n".join(problems) or f"{name}: expected at least one answer, got none")
    return ReadFile(tuple(records), tuple(problems))


def load_verifier(model: str | None, threshold: float | None = None) -> CiteVerifier:
    """The verifier that `--model` names: "keyword", a folder, a hub id, or (None) the last one trained."""
    from citeverifier.answers.facade import CiteVerifier

    if model == "keyword":
        from citeverifier.verifiers.keyword import Keyword

        return CiteVerifier(Keyword(), KEYWORD_THRESHOLDS).at(threshold)
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]  # of reading weights, a second's work
    return CiteVerifier.from_pretrained(model, threshold=threshold)


def run(
    source: str,
    model: str | None,
    threshold: float | None,
    lang: str | None,
    ask: Callable[[CiteVerifier, Sequence[AnswerRecord]], list[Result]],
    show: Callable[[Result], None],
) -> tuple[list[Result], ReadFile]:
    """Read, ask in batches and show each result when it is there."""
    with plain_errors(ASK_THE_FLOOR):
        read = read_file(source, lang)
        for problem in read.problems:
            typer.echo(f"unread: {problem}", err=True)
        verifier = load_verifier(model, threshold)
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
