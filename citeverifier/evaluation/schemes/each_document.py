"""Trials of the post-citing schemes: each statement, and its twin, with each of its example's documents."""

from __future__ import annotations

import random
from collections.abc import Sequence

from citeverifier.evaluation.schemes.base import Trial, askers
from citeverifier.records import Example, Support


def each_document(
    scheme: str, examples: Sequence[Example], *, seed: int, context: bool, level: Support, include_corrupted: bool
) -> list[Trial]:
    """One trial a statement and document, in their order.

    | setting   | trial                              | expected                      |
    |-----------|------------------------------------|-------------------------------|
    | statement | the statement and every document   | true for those it cites       |
    | corrupted | its twin and every document        | false: it has nothing to cite |
    """
    made = []
    for asker in askers(scheme, examples, seed, context):
        positions = range(len(asker.example.documents))
        made += [asker.ask("statement", [i], level, i in asker.cited) for i in positions]
        if include_corrupted and asker.statement.corrupted is not None:
            made += [asker.ask("corrupted", [i], level, False, corrupted=True) for i in positions]
    return made


def by_statement(trials: Sequence[Trial], seed: int) -> list[list[int]]:
    """Positions of the trials of each statement (twins apart), its documents in an order shuffled by seed.

    All statements of an example share the order, so that prompts about them share their documents as a prefix.
    """
    groups: dict[tuple[str, str, str], list[int]] = {}
    for i, trial in enumerate(trials):
        groups.setdefault((trial.pair.example, trial.pair.lang, trial.pair.statement_id), []).append(i)
    for (example, _, _), group in groups.items():
        random.Random(f"{seed}:order:{example}").shuffle(group)
    return list(groups.values())
