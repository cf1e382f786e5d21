"""Stage `negatives`: harder irrelevant documents, from the nearest other questions (BM25 over the questions).

The documents of an example that a statement does not cite are its easy negatives already. Those of a like question of
another group are harder: near in topic, and about something else. They come from the same split and language only, so
that no document crosses from training into dev or test.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from citeverifier.records import Document, Example
from citeverifier.text.words import normalise
from data_gen.neighbours import Neighbours
from data_gen.stage import Outcome, Step, keep, one_by_one
from data_gen.tools import Tools
from data_gen.verdicts import Checking, judging, premise


def from_nearest_questions(
    tools: Tools,
    *,
    count: int = 2,
    neighbours: int = 8,
    check: bool = True,
    level: str = "partial",
    threshold: float | None = None,
) -> Step:
    """Adds up to `count` documents a record behind its own; their positions are in meta's `hard_negatives`.

    neighbours: how many nearest questions are looked at.
    check: leave out documents that the verifier sees supporting a statement at `level` (threshold: null takes the
        verifier's own, else 0.5), or that it cannot score.
    """
    index = functools.cache(lambda: Neighbours(tools, lambda example: example.question))

    def offered(example: Example) -> list[Document]:
        """Twice `count` documents of the nearest questions of other groups, their cited ones first."""
        others = (other for other in index().near(example, 4 * neighbours) if other.group != example.group)
        return _documents(example, list(islice(others, neighbours)), 2 * count)

    def checked(example: Example) -> Checking:
        documents = offered(example)
        numbers = [number for number, statement in enumerate(example.statements) if statement.citations]
        verdicts = yield [
            replace(premise(example, number, ()), documents=(document,)) for document in documents for number in numbers
        ]
        failed: dict[int, str] = {}
        for i, supported in enumerate(verdicts):
            if supported is not False:
                failed[i // len(numbers)] = "negative: supports a statement" if supported else "negative: unscored"
        fine = [document for k, document in enumerate(documents) if k not in failed]
        return _with(example, fine[:count], Counter(failed.values()))

    if check:
        return judging(checked, tools, level, threshold)
    return one_by_one(lambda example: _with(example, offered(example)[:count], Counter()))


def _documents(example: Example, others: Sequence[Example], wanted: int) -> list[Document]:
    """Documents of the other questions that the example does not hold, nearest first, but cited ones before others."""
    own = {normalise(document.text) for document in example.documents}
    cited: list[Document] = []
    uncited: list[Document] = []
    for other in others:
        gold = {position for statement in other.statements for position in statement.citations}
        for position, document in enumerate(other.documents):
            if normalise(document.text) not in own:
                own.add(normalise(document.text))
                (cited if position in gold else uncited).append(replace(document, score=None))
        if len(cited) >= wanted:
            break
    return [*cited, *uncited][:wanted]


def _with(example: Example, documents: Sequence[Document], counts: Counter[str]) -> Outcome:
    positions = list(range(len(example.documents), len(example.documents) + len(documents)))
    meta = {**example.meta, "hard_negatives": positions}
    if not documents:
        counts["negative: none found"] += 1
    return keep(replace(example, documents=(*example.documents, *documents), meta=meta), counts=counts)
