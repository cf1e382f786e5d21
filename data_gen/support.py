"""Asking a verifier whether premises support statements, many records at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citeverifier.records import Example, Pair, Support, statement_id
from citeverifier.verifiers.base import Scorer


@dataclass(frozen=True)
class Verdicts:
    """Per pair: supported or not, or None where unscored; and what it cost."""

    supported: tuple[bool | None, ...]
    calls: int
    tokens: int


def judge(verifier: Scorer, pairs: Sequence[Pair], level: Support, threshold: float | None) -> Verdicts:
    """Whether each pair's score reaches the threshold: the given one, else the verifier's own, else 0.5."""
    if not pairs:
        return Verdicts((), 0, 0)
    if threshold is None:
        threshold = (verifier.thresholds or {}).get(level, 0.5)
    scores = verifier.score(pairs, level)
    decided = tuple(None if np.isnan(value) else bool(value >= threshold) for value in scores.values)
    return Verdicts(decided, scores.cost.calls, scores.cost.tokens)


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
