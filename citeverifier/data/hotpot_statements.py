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

from citeverifier.data.hotpotqa import HotpotQuestion, plain_example, read_hub, read_raw, with_groups
from citeverifier.data.splits import SHARES, in_split
from citeverifier.records import Example, RecordError, Statement, read_jsonl

STATEMENTS = Path(__file__).parent / "hotpot_statements"
PARTS = ("dev", "train")
log = logging.getLogger(__name__)


def load_hotpot_statements(
    path: str,
    part: str,
    lang: str = "all",
    split: str | None = None,
    shares: Mapping[str, float] = SHARES,
    hub_name: str | None = None,
    hub_split: str = "validation",
    hub_revision: str | None = None,
) -> list[Example]:
    """The authored examples of a part ("dev" or "train"), the two languages of a question next to each other.

    `path` is an official HotpotQA file of that part, or the hub dataset. Questions that it lacks are left out, counted
    and logged. Raises ValueError where it has none of them, RecordError where a title is not among its paragraphs.
    """
    if part not in PARTS:
        raise ValueError(f"part: expected one of {', '.join(PARTS)}, got {part!r}")
    file = STATEMENTS / f"{part}.jsonl"
    rows = list(read_jsonl(file, lambda row: row))
    if hub_name is None:
        questions = read_raw(path)
    else:  # the whole train set, whose questions mostly hang together: only ours are kept, and grouped
        ours = {row["id"] for row in rows}
        questions = [q for q in read_hub(path, hub_name, hub_split, hub_revision) if q.id in ours]
    known = {question.id: (question, group) for question, group in with_groups(questions)}
    found = [row for row in rows if row["id"] in known]
    if not found:
        raise ValueError(f"{path}: expected HotpotQA's {part} questions, got none of the {len(rows)} in {file.name}")
    if len(found) < len(rows):
        log.warning("%s: lacks %d of %d questions with authored statements", path, len(rows) - len(found), len(rows))
    examples = [_example(row, *known[row["id"]]) for row in found if lang in ("all", row["lang"])]
    return [example for example in in_split(examples, split, shares) if isinstance(example, Example)]


def _example(row: Mapping[str, Any], question: HotpotQuestion, group: str) -> Example:
    bare = plain_example(question, group)
    position = {document.title: i for i, document in enumerate(bare.documents)}
    where = f"authored statements, question {question.id}"
    statements = tuple(
        Statement(
            text=item["text"],
            citations=_positions(item["citations"], position, where),
            kind=item["kind"],
            span=item["span"],
            corrupted=item["corrupted"],
            altered_in=_positions(item["altered_in"], position, where),
            edit=item["edit"],
        )
        for item in row["statements"]
    )
    meta = dict(bare.meta) | {"source": "hotpot_statements"}
    return replace(bare, lang=row["lang"], statements=statements, meta=meta)


def _positions(titles: list[str], position: Mapping[str, int], where: str) -> tuple[int, ...]:
    missing = [title for title in titles if title not in position]
    if missing:
        raise RecordError(
            f"{where}: expected titles of the question's paragraphs ({', '.join(position)}), got {missing}"
        )
    return tuple(sorted(position[title] for title in titles))
