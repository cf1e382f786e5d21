"""What the post-citing schemes share (paper 1): each statement, and its twin, with each of its example's documents."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from citeverifier.evaluation.schemes.base import DECISIONS, EXACT, MetricColumn, Scheme
from citeverifier.evaluation.schemes.shares import Share, exact_shares
from citeverifier.evaluation.schemes.trials import Prediction, Trial, askers
from citeverifier.records import Example, Support


@dataclass(frozen=True)
class EachDocument(Scheme):
    """One trial a statement and document: should the statement cite it?

    | setting   | trial                              | expected                      |
    |-----------|------------------------------------|-------------------------------|
    | statement | the statement and every document   | true for those it cites       |
    | corrupted | its twin and every document        | false: it has nothing to cite |
    """

    seed: int = 13
    context: bool = False
    include_corrupted: bool = True
    level: Support = Support.PARTIAL
    columns: ClassVar[tuple[MetricColumn, ...]] = (*DECISIONS, EXACT)

    def trials(self, records: Sequence[Example]) -> list[Trial]:
        """Trials in the order of the examples and their documents."""
        trials = []
        for asker in askers(self.name, records, self.seed, self.context):
            positions = range(len(asker.example.documents))
            trials += [asker.ask("statement", [i], self.level, i in asker.cited) for i in positions]
            if self.include_corrupted and asker.statement.corrupted is not None:
                trials += [asker.ask("corrupted", [i], self.level, False, corrupted=True) for i in positions]
        return trials

    def shares(self, predictions: Sequence[Prediction], *, default: bool) -> list[Share]:
        """exact: share of statements (twins among them) whose whole predicted set is right."""
        return exact_shares(predictions, default=default)

    def by_statement(self, trials: Sequence[Trial]) -> list[list[int]]:
        """Positions of the trials of each statement (twins apart), its documents in an order shuffled by seed.

        All statements of an example share the order, so that prompts about them share their documents as a prefix.
        """
        groups: dict[tuple[str, str, str], list[int]] = {}
        for i, trial in enumerate(trials):
            groups.setdefault(trial.statement, []).append(i)
        for (example, _, _), group in groups.items():
            random.Random(f"{self.seed}:order:{example}").shuffle(group)
        return list(groups.values())
