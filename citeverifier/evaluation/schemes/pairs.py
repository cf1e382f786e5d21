"""Pairs: any labelled pair file, scored at both levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from citeverifier.evaluation.schemes.base import DECISIONS, MetricColumn, Scheme
from citeverifier.evaluation.schemes.shares import Share
from citeverifier.evaluation.schemes.three_levels import three_level_shares, three_ways
from citeverifier.evaluation.schemes.trials import Prediction, Trial
from citeverifier.records import LEVELS, Pair

PART_COLUMNS = (*DECISIONS, MetricColumn("macro_f1", "macro-F1", "mean F1 of both classes"))


@dataclass(frozen=True)
class Pairs(Scheme):
    """Each pair at each level; a trial counts where its label is decided there. A level at which all agree is left out.

    Settings are "partial" and "full". Pairs labelled with one level exactly also make a three-way classification.
    """

    context: bool = False
    name: ClassVar = "pairs"
    heading: ClassVar = "How far do these documents support the statement: none, partly, fully?"
    order: ClassVar = 8
    columns: ClassVar = (
        *PART_COLUMNS,
        MetricColumn("three_level_accuracy", "three levels", "decided by both thresholds: none, partial or full"),
    )
    part_columns: ClassVar = PART_COLUMNS
    takes_pairs: ClassVar = True

    def trials(self, records: Sequence[Pair]) -> list[Trial]:
        """Trials in the order of the pairs; raises ValueError where no pair is labelled."""
        trials = []
        for pair in records:
            asked = pair if self.context else replace(pair, context=None)
            for level in LEVELS:
                gold = pair.reaches(level)
                if gold is not None:
                    identity = f"pairs/{pair.id}/{level.label}"
                    trials.append(Trial(identity, level.label, level, gold, asked, (), pair.kind, None))
        informative = {level for level in LEVELS if len({trial.gold for trial in trials if trial.level == level}) == 2}
        if informative:  # where all labels agree at a level, there is nothing to tell at it
            trials = [trial for trial in trials if trial.level in informative]
        if not trials:
            raise ValueError(
                f"scheme=pairs: expected labelled pairs (support_min, support_max), got {len(records)} without"
            )
        return trials

    def shares(self, predictions: Sequence[Prediction], *, default: bool) -> list[Share]:
        """three_level_accuracy: full where the full decision is true, else partial where the partial one is, else none.

        Only of pairs whose label is one level exactly, and only where all three levels occur.
        """
        return three_level_shares(three_ways(predictions, default=default))
