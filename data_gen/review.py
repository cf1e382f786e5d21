"""Stage `review`: statements out to people, for Label Studio or a spreadsheet, and their decisions back in.

Each statement is accepted, corrected (another statement text, another twin, or both) or rejected, by somebody at some
time. Both exports hold the same; either comes back as the file that the tool saves.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

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

LABEL_STUDIO_CONFIG = """<View>
  <Header value="Question"/><Text name="question" value="$question"/>
  <Header value="Cited documents"/><Text name="documents" value="$documents"/>
  <Header value="Statement: its documents must support it"/><Text name="text" value="$text"/>
  <Header value="Twin: they must not support it"/><Text name="corrupted" value="$corrupted"/>
  <Choices name="decision" toName="text" choice="single" required="true">
    <Choice value="accepted"/><Choice value="corrected"/><Choice value="rejected"/>
  </Choices>
  <TextArea name="corrected_text" toName="text" placeholder="the statement, corrected"/>
  <TextArea name="corrected_corrupted" toName="corrupted" placeholder="the twin, corrected"/>
</View>
"""


@dataclass(frozen=True)
class Decision:
    """What a person said of one statement; corrected texts are None where they stay."""

    decision: str
    reviewer: str
    time: str
    text: str | None = None
    corrupted: str | None = None


Key = tuple[str, str, int]


def write_review(folder: Path, examples: Iterable[Example]) -> int:
    """Write label_studio.json, label_studio_config.xml and review.csv into `folder`; returns how many statements."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "label_studio_config.xml").write_text(LABEL_STUDIO_CONFIG, encoding="utf-8")
    count = 0
    with (
        (folder / "label_studio.json").open("w", encoding="utf-8") as tasks,
        # the mark at the beginning tells spreadsheets that this is UTF-8
        (folder / "review.csv").open("w", encoding="utf-8-sig", newline="") as sheet,
    ):
        rows = csv.DictWriter(sheet, COLUMNS)
        rows.writeheader()
        tasks.write("[")
        for row in (row for example in examples for row in _rows(example)):
            tasks.write(("," if count else "") + "\n" + json.dumps({"data": row}, ensure_ascii=False))
            rows.writerow({key: _cell(str(value)) for key, value in row.items()})
            count += 1
        tasks.write("\n]\n")
    return count


def _rows(example: Example) -> Iterator[dict[str, Any]]:
    for number, statement in enumerate(example.statements):
        if statement.citations:
            documents = "\n\n".join(
                f"[{p + 1}] {example.documents[p].title}: {example.documents[p].text}" for p in statement.citations
            )
            yield {
                "id": example.id, "lang": example.lang, "statement": number, "question": example.question,
                "documents": documents, "text": statement.text, "corrupted": statement.corrupted or "",
                "edit": statement.edit or "",
            }  # fmt: skip


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _uncell(text: str) -> str:
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def read_review(path: str | Path) -> dict[Key, Decision]:
    """The decisions of a reviewed file: Label Studio's JSON export, or the spreadsheet saved as CSV.

    Statements without a decision are left out. Raises RecordError naming the row where a decision, a reviewer or a
    time is missing or not known, or a statement comes twice.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"review.file: no such file: {path} (expected Label Studio's JSON export or a CSV)")
    read = _label_studio if path.suffix == ".json" else _spreadsheet
    decisions: dict[Key, Decision] = {}
    for where, key, decision in read(path):
        if key in decisions:
            raise RecordError(f"{where}: expected one decision a statement, came another for {key}")
        decisions[key] = decision
    return decisions


def _spreadsheet(path: Path) -> Iterator[tuple[str, Key, Decision]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
        if missing:
            raise RecordError(f"{path}:1: expected the columns of review.csv, came none of {', '.join(missing)}")
        for number, row in enumerate(rows, 2):
            if row["decision"].strip():
                where = f"{path}, row {number}"
                yield where, _key(row, where), _decision({k: _uncell(v or "") for k, v in row.items()}, where)


def _label_studio(path: Path) -> Iterator[tuple[str, Key, Decision]]:
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(tasks, list):
            raise ValueError(f"came {type(tasks).__name__}")
    except ValueError as error:
        raise RecordError(f"{path}: expected Label Studio's JSON export (a list of tasks): {error}") from None
    for number, task in enumerate(tasks):
        where = f"{path}, task {number}"
        if not isinstance(task, Mapping) or not isinstance(task.get("data"), Mapping):
            raise RecordError(f"{where}: expected a task with 'data', came {str(task)[:60]}")
        done = [a for a in task.get("annotations", []) if not a.get("was_cancelled")]
        if not done:
            continue
        last = max(done, key=lambda a: str(a.get("updated_at") or a.get("created_at") or ""))
        row = {"reviewer": _person(last), "time": str(last.get("updated_at") or last.get("created_at") or "")}
        for part in last.get("result", []):
            value = part.get("value", {})
            entry = value.get("choices") or value.get("text") or [""]
            row[part.get("from_name", "")] = entry if isinstance(entry, str) else str(entry[0])
        yield where, _key(task["data"], where), _decision(row, where)


def _person(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by")
    return str(by.get("email") or by.get("id") or "") if isinstance(by, Mapping) else "" if by is None else str(by)


def _key(row: Mapping[str, Any], where: str) -> Key:
    try:
        return str(row["id"]), str(row["lang"]), int(row["statement"])
    except (KeyError, TypeError, ValueError):
        raise RecordError(f"{where}: expected id, lang and the number of a statement, came {str(row)[:80]}") from None


def _decision(row: Mapping[str, str], where: str) -> Decision:
    decision = row.get("decision", "").strip().lower()
    if decision not in DECISIONS:
        raise RecordError(f"{where}: expected a decision of {', '.join(DECISIONS)}, came {row.get('decision')!r}")
    texts = [row.get(f"corrected_{name}", "").strip() or None for name in ("text", "corrupted")]
    if decision == "corrected" and texts == [None, None]:
        raise RecordError(f"{where}: expected a corrected text with the decision 'corrected', came none")
    for name in ("reviewer", "time"):
        if not row.get(name, "").strip():
            raise RecordError(f"{where}: expected a {name} with each decision, came none")
    corrected = texts if decision == "corrected" else [None, None]
    return Decision(decision, row["reviewer"].strip(), row["time"].strip(), corrected[0], corrected[1])


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

    return Step(run)


def _accepted(example: Example, decisions: Mapping[Key, Decision]) -> tuple[dict[int, Statement], Counter[str]]:
    """The statements that stay, corrected, by number; and what became of the others."""
    counts: Counter[str] = Counter()
    kept: dict[int, Statement] = {}
    for number, statement in enumerate(example.statements):
        if not statement.citations:
            kept[number] = statement
            continue
        found = decisions.get((example.id, example.lang, number))
        counts[f"statement {'not reviewed' if found is None else found.decision}"] += 1
        if found is None or found.decision == "rejected":
            continue
        text, corrupted = found.text or statement.text, found.corrupted or statement.corrupted
        if corrupted is not None and same_words(text, corrupted):
            counts["twin: unchanged by the reviewer's correction"] += 1
            corrupted = None
        kept[number] = replace(statement, text=text, corrupted=corrupted)
    return kept, counts


def _reviewed(
    example: Example, kept: Mapping[int, Statement], decisions: Mapping[Key, Decision], counts: Counter[str]
) -> Outcome:
    if not any(statement.citations for statement in kept.values()):
        return drop("no accepted statement", None, counts)
    entries = []
    for number in kept:
        found = decisions.get((example.id, example.lang, number))
        said = (found.decision, found.reviewer, found.time) if found is not None else (None, None, None)
        entries.append(dict(zip(("decision", "reviewer", "time"), said, strict=True)))
    meta = {**example.meta, "review": entries}
    return keep(replace(example, statements=tuple(kept.values()), meta=meta), counts=counts)
