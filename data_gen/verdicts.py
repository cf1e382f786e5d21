"""Asking a verifier about each record's pairs, many records at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from citeverifier.cost import Cost
from citeverifier.records import Example, Pair, Support, statement_id
from citeverifier.verifiers.base import Scorer
from data_gen.stage import Outcome, Step
from data_gen.tools import Tools

Verdict = bool | None  # supported or not; None where unscored
Checking = Generator[list[Pair], list[Verdict], Outcome]


def judging(
    check: Callable[[Example], Checking], tools: Tools, level: str, threshold: float | None, batch: int = 128
) -> Step:
    """A step that asks the verifier: `check` yields a record's pairs once, gets their verdicts, returns an outcome.

    A pair is supported where its score at `level` reaches the threshold: the given one, else the verifier's own, else
    0.5. The first outcome of a batch carries what the batch cost.
    """
    asked_level = Support.parse(level)

    def run(records: Iterator[Example]) -> Iterator[Outcome]:
        verifier = tools.verifier()
        while examples := list(islice(records, batch)):
            checks = [check(example) for example in examples]
            pairs = [next(checking) for checking in checks]
            verdicts, cost = judge(verifier, [pair for some in pairs for pair in some], asked_level, threshold)
            answers = iter(verdicts)
            for number, (checking, some) in enumerate(zip(checks, pairs, strict=True)):
                outcome = _outcome(checking, [next(answers) for _ in some])
                yield replace(outcome, cost=Cost() if number else cost)

    return Step(run, judges=True)


def _outcome(checking: Checking, verdicts: list[Verdict]) -> Outcome:
    try:
        checking.send(verdicts)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    raise RuntimeError("a check yields its pairs once")


def judge(
    verifier: Scorer, pairs: Sequence[Pair], level: Support, threshold: float | None
) -> tuple[list[Verdict], Cost]:
    """Whether each pair's score reaches the threshold, and what it cost."""
    if not pairs:
        return [], Cost()
    if threshold is None:
        threshold = (verifier.thresholds or {}).get(level, 0.5)
    scores = verifier.score(pairs, level)
    return [None if np.isnan(value) else bool(value >= threshold) for value in scores.values], scores.cost


def premise(example: Example, number: int, positions: Sequence[int], *, corrupted: bool = False) -> Pair:
    """A statement of the example (or its twin) with these documents, unlabelled."""
    statement = example.statements[number]
    identity = statement_id(example, number, corrupted=corrupted)
    return Pair(
        id=f"{identity}/{example.lang}/{'-'.join(map(str, positions))}",
        example=example.id,
        statement_id=identity,
        lang=example.lang,
        group=example.group,
        statement=(statement.corrupted or "") if corrupted else statement.text,
        documents=tuple(example.documents[i] for i in positions),
        kind=statement.kind,
        context=example.question or None,
    )


def labelled(example: Example, number: int, position: int, kind: str, interval: tuple[Support, Support]) -> Pair:
    """A statement of the example with one document, its support known; the kind's first word tells ids apart."""
    pair = premise(example, number, (position,))
    identity = f"{pair.statement_id}/{example.lang}/{kind.split(':')[0]}/{position}"
    return replace(pair, id=identity, kind=kind, support_min=interval[0], support_max=interval[1])
