"""Stage `review`: statements out to people as a spreadsheet, and their decisions back in.

Each statement is accepted, corrected (another statement text, another twin, or both) or rejected, by somebody at some
time.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from citeverifier.records import Example, RecordError, Statement
from data_gen.checks import same_words
from data_gen.stage import Outcome, Step, drop, keep, one_by_one
from data_gen.tools import Tools

DECISIONS = ("accepted", "corrected", "rejected")
COLUMNS = (
    "id", "lang", "statement", "question", "documents", "text", "corrupted", "edit",
    "decision", "corrected_text", "corrected_corrupted", "reviewer", "time",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@")  # a spreadsheet would compute such a cell

StatementKey = tuple[str, str, int]  # id, language, number of the statement


@dataclass(frozen=True)
class Decision:
    """What a person said of one statement; corrected texts are None where they stay."""

    decision: str
    reviewer: str
    time: str
    text: str | None = None
    corrupted: str | None = None


def write_review(path: Path, examples: Iterable[Example]) -> int:
    """Write the statements to decide on as CSV; returns how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    # the mark at the beginning tells spreadsheets that this is UTF-8
    with path.open("w", encoding="utf-8-sig", newline="") as sheet:
        rows = csv.DictWriter(sheet, COLUMNS)
        rows.writeheader()
        for row in (row for example in examples for row in _rows(example)):
            rows.writerow({key: f"'{text}" if text.startswith(_FORMULA) else text for key, text in row.items()})
            count += 1
    return count


def _rows(example: Example) -> Iterator[dict[str, str]]:
    for number, statement in enumerate(example.statements):
        if statement.citations:
            documents = "\n\n".join(
                f"[{p + 1}] {example.documents[p].title}: {example.documents[p].text}" for p in statement.citations
            )
            yield {
                "id": example.id, "lang": example.lang, "statement": str(number), "question": example.question,
                "documents": documents, "text": statement.text, "corrupted": statement.corrupted or "",
                "edit": statement.edit or "",
            }  # fmt: skip


def read_review(path: str | Path) -> dict[StatementKey, Decision]:
    """The decisions of a reviewed file, the spreadsheet saved as CSV.

    Statements without a decision are left out. Raises RecordError naming the row where a decision, a reviewer or a
    time is missing or not known, or a statement comes twice.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"review.file: no such file: {path} (expected review.csv with decisions)")
    decisions: dict[StatementKey, Decision] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
        if missing:
            raise RecordError(f"{path}:1: expected the columns of review.csv, got none of {', '.join(missing)}")
        for number, row in enumerate(rows, 2):
            if row["decision"].strip():
                where = f"{path}, row {number}"
                key = _key(row, where)
                if key in decisions:
                    raise RecordError(f"{where}: expected one decision a statement, got another for {key}")
                decisions[key] = _decision({name: _plain(text or "").strip() for name, text in row.items()}, where)
    return decisions


def _plain(text: str) -> str:
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def _key(row: Mapping[str, str], where: str) -> StatementKey:
    try:
        return row["id"], row["lang"], int(row["statement"])
    except ValueError:
        raise RecordError(f"{where}: expected id, lang and the number of a statement, got {str(row)[:80]}") from None


def _decision(row: Mapping[str, str], where: str) -> Decision:
    decision = row["decision"].lower()
    if decision not in DECISIONS:
        raise RecordError(f"{where}: expected a decision of {', '.join(DECISIONS)}, got {row['decision']!r}")
    text, corrupted = row["corrected_text"] or None, row["corrected_corrupted"] or None
    if decision == "corrected" and text is None and corrupted is None:
        raise RecordError(f"{where}: expected a corrected text with the decision 'corrected', got none")
    for name in ("reviewer", "time"):
        if not row[name]:
            raise RecordError(f"{where}: expected a {name} with each decision, got none")
    if decision != "corrected":
        text = corrupted = None
    return Decision(decision, row["reviewer"], row["time"], text, corrupted)


def by_people(tools: Tools, *, file: str | None = None) -> Step:
    """Statements as the reviewed `file` decides; those without a decision, or rejected, go. Null: everything goes on.

    Who decided what and when stands in meta's `review`, one entry a statement.
    """
    if file is None:
        return one_by_one(lambda example: keep(example))
    decisions = read_review(file)

    def run(records: Iterator[Example]) -> Iterator[Outcome]:
        for _, languages in groupby(records, key=lambda example: example.id):
            aligned = list(languages)
            accepted = [_accepted(example, decisions) for example in aligned]
            # A statement has the same number in every language: one that goes in one goes in all.
            common = set.intersection(*(set(kept) for kept, _ in accepted))
            for example, (kept, counts) in zip(aligned, accepted, strict=True):
                if lost := len(kept) - len(common):
                    counts["statement not accepted in the other language"] += lost
                yield _reviewed(example, {n: kept[n] for n in sorted(common)}, decisions, counts)

    return Step(run, whole=True)


def _accepted(
    example: Example, decisions: Mapping[StatementKey, Decision]
) -> tuple[dict[int, Statement], Counter[str]]:
    """The statements that stay, corrected, by number; and what became of the others."""
    counts: Counter[str] = Counter()
    kept: dict[int, Statement] = {}
    for number, statement in enumerate(example.statements):
        if not statement.citations:
            kept[number] = statement
            continue
        review = decisions.get((example.id, example.lang, number))
        counts[f"statement {'not reviewed' if review is None else review.decision}"] += 1
        if review is None or review.decision == "rejected":
            continue
        text, corrupted = review.text or statement.text, review.corrupted or statement.corrupted
        if corrupted is not None and same_words(text, corrupted):
            counts["twin: unchanged by the reviewer's correction"] += 1
            corrupted = None
        kept[number] = replace(statement, text=text, corrupted=corrupted)
    return kept, counts


def _reviewed(
    example: Example, kept: Mapping[int, Statement], decisions: Mapping[StatementKey, Decision], counts: Counter[str]
) -> Outcome:
    if not any(statement.citations for statement in kept.values()):
        return drop("no accepted statement", None, counts)
    reviews = [decisions.get((example.id, example.lang, number)) for number in kept]
    entries = [{name: getattr(one, name, None) for name in ("decision", "reviewer", "time")} for one in reviews]
    meta = {**example.meta, "review": entries}
    return keep(replace(example, statements=tuple(kept.values()), meta=meta), counts=counts)
