"""Stage `negatives`: harder irrelevant documents, from the nearest other questions (BM25 over the questions).

The documents of an example that a statement does not cite are its easy negatives already. Those of a like question of
another group are harder: near in topic, and about something else. They come from the same split and language only, so
that no document crosses from training into dev or test.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from citeverifier.records import Document, Example, Pair, Support, example_from_json
from citeverifier.text.words import normalise
from data_gen.search import Search, search_words
from data_gen.splitting import split
from data_gen.stage import Outcome, Step, in_batches, keep
from data_gen.support import judge, premise
from data_gen.tools import Tools


@dataclass(frozen=True)
class _Known:
    """A question in the index: its group and where its line begins in the stage's file."""

    group: str
    offset: int


def from_nearest_questions(
    tools: Tools,
    *,
    count: int = 2,
    neighbours: int = 8,
    check: bool = True,
    level: str = "partial",
    threshold: float | None = None,
    batch: int = 128,
) -> Step:
    """Adds up to `count` documents a record behind its own; their positions are in meta's `hard_negatives`.

    neighbours: how many nearest questions are looked at.
    check: leave out documents that the verifier sees supporting a statement at `level` (threshold: null takes the
        verifier's own, else 0.5), or that it cannot score.
    """
    asked = Support.parse(level)

    def run(records: Iterator[Example]) -> Iterator[Outcome]:
        first = next(records, None)
        if first is None:
            return
        if tools.before is None:
            raise ValueError("negatives: expected a stage before it whose file holds the questions, came none")
        index = _Index(tools.before, tools)
        for examples in in_batches(_chain(first, records), batch):
            offers = index.documents_near(examples, neighbours, count)
            yield from (
                _checked(tools, examples, offers, asked, threshold, count)
                if check
                else (
                    _with(example, offered[:count], Counter())
                    for example, offered in zip(examples, offers, strict=True)
                )
            )

    return Step(run, judges=check)


def _chain(first: Example, rest: Iterator[Example]) -> Iterator[Example]:
    yield first
    yield from rest


def _checked(
    tools: Tools,
    examples: Sequence[Example],
    offers: Sequence[Sequence[Document]],
    level: Support,
    threshold: float | None,
    count: int,
) -> Iterator[Outcome]:
    places: list[tuple[int, int]] = []
    pairs: list[Pair] = []
    for i, (example, offered) in enumerate(zip(examples, offers, strict=True)):
        for k, document in enumerate(offered):
            for number, statement in enumerate(example.statements):
                if statement.citations:
                    places.append((i, k))
                    pairs.append(replace(premise(example, number, ()), documents=(document,)))
    verdicts = judge(tools.verifier(), pairs, level, threshold)
    failed: dict[tuple[int, int], str] = {}
    for place, supported in zip(places, verdicts.supported, strict=True):
        if supported is not False:
            failed[place] = "negative: supports a statement" if supported else "negative: unscored"
    for i, (example, offered) in enumerate(zip(examples, offers, strict=True)):
        left = [document for k, document in enumerate(offered) if (i, k) not in failed]
        outcome = _with(example, left[:count], Counter(why for (e, _), why in failed.items() if e == i))
        yield replace(outcome, calls=verdicts.calls, prompt_tokens=verdicts.tokens) if i == 0 else outcome


def _with(example: Example, documents: Sequence[Document], counts: Counter[str]) -> Outcome:
    positions = list(range(len(example.documents), len(example.documents) + len(documents)))
    meta = {**example.meta, "hard_negatives": positions}
    if not documents:
        counts["negative: none found"] += 1
    return keep(replace(example, documents=(*example.documents, *documents), meta=meta), counts=counts)


class _Index:
    """The questions of a stage's file, by split and language, with where to read their documents again."""

    def __init__(self, path: Path, tools: Tools) -> None:
        self._path = path
        self._tools = tools
        self._known: dict[tuple[str, str], list[_Known]] = {}
        texts: dict[tuple[str, str], list[list[str]]] = {}
        for offset, example in _with_offsets(path):
            key = (split(example, tools.shares), example.lang)
            self._known.setdefault(key, []).append(_Known(example.group, offset))
            texts.setdefault(key, []).append(search_words(example.question, example.lang))
        self._indexes = {key: Search(tokens) for key, tokens in texts.items()}

    def documents_near(self, examples: Sequence[Example], neighbours: int, count: int) -> list[list[Document]]:
        """For each example twice `count` documents of the nearest questions of other groups, their cited ones first."""
        return [self._near(example, neighbours, 2 * count) for example in examples]

    def _near(self, example: Example, neighbours: int, wanted: int) -> list[Document]:
        key = (split(example, self._tools.shares), example.lang)
        known = self._known[key]
        # Those of its own group come along and are passed over.
        found = self._indexes[key].nearest(search_words(example.question, example.lang), 4 * neighbours)
        offsets = [known[i].offset for i in found if known[i].group != example.group][:neighbours]
        own = {normalise(document.text) for document in example.documents}
        cited: list[Document] = []
        others: list[Document] = []
        for offset in offsets:
            other = _at(self._path, offset, example.lang)
            gold = {position for statement in other.statements for position in statement.citations}
            for position, document in enumerate(other.documents):
                if normalise(document.text) not in own:
                    own.add(normalise(document.text))
                    (cited if position in gold else others).append(replace(document, score=None))
            if len(cited) >= wanted:
                break
        return [*cited, *others][:wanted]


def _with_offsets(path: Path) -> Iterator[tuple[int, Example]]:
    """The records of a stage's file and where their lines begin; a line of two languages gives both."""
    with path.open("rb") as file:
        offset = 0
        for line in file:
            for record in json.loads(line)["records"]:
                yield offset, example_from_json(record)
            offset += len(line)


def _at(path: Path, offset: int, lang: str) -> Example:
    """The record of a language in the line that begins there."""
    with path.open("rb") as file:
        file.seek(offset)
        records = json.loads(file.readline())["records"]
    return next(example_from_json(record) for record in records if record["lang"] == lang)
