"""Pairs: any labelled pair file, scored at both levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from citeverifier.evaluation.schemes.base import Prediction, Share, Trial
from citeverifier.evaluation.schemes.three_levels import three_level_shares, three_ways
from citeverifier.records import LEVELS, Pair


@dataclass(frozen=True)
class Pairs:
    """Each pair at each level; a trial counts where its label is decided there. A level at which all agree is left out.

    Settings are "partial" and "full". Pairs labelled with one level exactly also make a three-way classification.
    """

    context: bool = False
    name: ClassVar[str] = "pairs"
    takes_pairs: ClassVar[bool] = True

    def trials(self, pairs: Sequence[Pair]) -> list[Trial]:
        """Trials in the order of the pairs; raises ValueError where no pair is labelled."""
        made = []
        for pair in pairs:
            asked = pair if self.context else replace(pair, context=None)
            for level in LEVELS:
                gold = pair.reaches(level)
                if gold is not None:
                    identity = f"pairs/{pair.id}/{level.label}"
                    made.append(Trial(identity, level.label, level, gold, asked, (), pair.kind, None))
        told = {level for level in LEVELS if len({trial.gold for trial in made if trial.level == level}) == 2}
        if told:  # where all labels agree at a level, there is nothing to tell at it
            made = [trial for trial in made if trial.level in told]
        if not made:
            raise ValueError(
                f"scheme=pairs: expected labelled pairs (support_min, support_max), came {len(pairs)} without"
            )
        return made

    def shares(self, predictions: Sequence[Prediction], *, default: bool) -> list[Share]:
        """three_level_accuracy: full where the full decision is true, else partial where the partial one is, else none.

        Only of pairs whose label is one level exactly, and only where all three levels occur.
        """
        return three_level_shares(three_ways(predictions, default=default))
