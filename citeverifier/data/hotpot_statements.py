"""Authored statements over HotpotQA questions: our words here, the documents from HotpotQA, wherever the user has it.

`hotpot_statements/dev.jsonl` holds 100 questions of HotpotQA's dev set in English and Polish (Polish statements against
English documents), `train.jsonl` 200 of its train set in English; the dataset card is beside them. A line has `id`,
`lang` and `statements`, each with `text`, `span`, `corrupted`, `kind`, `edit` and, as document titles, `citations` and
`altered_in`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from citeverifier.data.hotpotqa import HotpotQuestion, plain_example, positions, questions_of_role, with_groups
from citeverifier.data.rows import is_hub
from citeverifier.data.splits import in_split
from citeverifier.records import Example, RecordError, Statement, read_jsonl

STATEMENTS = Path(__file__).parent / "hotpot_statements"
_SHARES = {"train": 0.85, "dev": 0.15}
log = logging.getLogger(__name__)


def load_hotpot_statements(
    path: str | Path | Mapping[str, str], split: str | None = "test", shares: Mapping[str, float] = _SHARES
) -> list[Example]:
    """The authored examples, the two languages of a question next to each other.

    `path` is where HotpotQA's questions are (as in `load_hotpotqa`): its dev questions for test, its train questions
    for "train" and "dev", by `shares` of groups. Questions that it lacks are left out, counted and logged. Raises
    ValueError where it has none of them, RecordError where a title is not among its paragraphs.
    """
    part = "dev" if split == "test" else "train"
    file = STATEMENTS / f"{part}.jsonl"
    rows = list(read_jsonl(file, lambda row: row))
    questions = questions_of_role(path, split)
    if isinstance(path, str) and is_hub(path):  # whose questions mostly hang together: only ours are kept, and grouped
        ours = {row["id"] for row in rows}
        questions = [question for question in questions if question.id in ours]
    known = {question.id: (question, group) for question, group in with_groups(questions)}
    found = [row for row in rows if row["id"] in known]
    if not found:
        raise ValueError(f"{path}: expected HotpotQA's {part} questions, got none of the {len(rows)} in {file.name}")
    if len(found) < len(rows):
        log.warning("%s: lacks %d of %d questions with authored statements", path, len(rows) - len(found), len(rows))
    examples = [_example(row, *known[row["id"]]) for row in found]
    return in_split(examples, None if split == "test" else split, shares)


def _example(row: Mapping[str, Any], question: HotpotQuestion, group: str) -> Example:
    bare = plain_example(question, group)
    position = positions(bare)

    def cited(titles: list[str]) -> tuple[int, ...]:
        if missing := [title for title in titles if title not in position]:
            raise RecordError(
                f"authored statements, question {question.id}: expected titles of the question's paragraphs "
                f"({', '.join(position)}), got {missing}"
            )
        return tuple(sorted(position[title] for title in titles))

    statements = tuple(
        Statement(**item | {key: cited(item[key]) for key in ("citations", "altered_in")}) for item in row["statements"]
    )
    meta = dict(bare.meta) | {"source": "hotpot_statements"}
    return replace(bare, lang=row["lang"], statements=statements, meta=meta)
