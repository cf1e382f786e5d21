"""Stage `source`: a seeded sample of questions with their documents, read through `citeverifier.data.load`."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from citeverifier.data.load import load
from citeverifier.data.splits import number_of, tie
from citeverifier.records import Example
from data_gen.step import Outcome, Step, Tools, drop, keep, one_by_one

QUESTION_AND_ANSWER = re.compile(r"\?\s+\S")  # "Who wrote it? Anna Nowak": no sentence that an answer would hold


def read_questions(data: Mapping[str, Any], *, lang: str, limit: int | None, seed: int) -> Iterator[Example]:
    """The examples of `limit` questions drawn by seed (all for null), in the source's order.

    `data`: what `load` takes (path, split, hub_name ...). `lang`: "en", "pl" or "all"; the languages of an id count as
    one question. Raises ValueError where there are none.
    """
    records = load(**{"split": None, **data}, lang=lang)
    examples = [record for record in records if isinstance(record, Example)]
    if not examples:
        raise ValueError(f"data.path={data['path']}: expected examples (questions with documents), got pairs")
    ids = dict.fromkeys(example.id for example in examples)
    if limit is not None:  # one number a question, the same in every run: the smallest are the sample
        ids = dict.fromkeys(heapq.nsmallest(limit, ids, key=lambda identity: number_of(f"{seed}:{identity}")))
    yield from _tied([example for example in examples if example.id in ids])


def _tied(drawn: list[Example]) -> list[Example]:
    """HotpotQA's questions tied within the sample: over its whole file, shared documents tie most of them together."""
    tied = [i for i, example in enumerate(drawn) if example.meta.get("source") == "hotpotqa"]
    cited = [{drawn[i].documents[p].title for s in drawn[i].statements for p in s.citations} for i in tied]
    groups = tie([sorted(titles) or [drawn[i].id] for i, titles in zip(tied, cited, strict=True)])
    for i, group in zip(tied, groups, strict=True):
        drawn[i] = replace(drawn[i], group=f"hotpotqa:{group}")
    return drawn


def usable(tools: Tools, *, statements: bool, min_documents: int = 2) -> Step:
    """Keeps questions that can be worked on.

    `statements`: whether the source's own are kept, but for those that are a question and its answer, or left for an
    LLM to write.
    """

    def check(example: Example) -> Outcome:
        if not example.question.strip():
            return drop("no question")
        if len(example.documents) < min_documents:
            return drop("too few documents", f"{len(example.documents)}")
        if not statements:
            return keep(replace(example, statements=()))
        kept = tuple(s for s in example.statements if not QUESTION_AND_ANSWER.search(s.text))
        counts = Counter({"statement is a question and its answer": len(example.statements) - len(kept)})
        if example.statements and not kept:
            return drop("no statement that is a sentence", example.statements[0].text, counts)
        return keep(replace(example, statements=kept), counts=+counts)

    return one_by_one(check)
