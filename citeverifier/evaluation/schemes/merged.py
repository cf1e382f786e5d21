"""Merged (paper 1): do these documents together support all of the statement?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from citeverifier.evaluation.schemes.base import Prediction, Share, Trial, askers
from citeverifier.evaluation.schemes.twins import twin_shares
from citeverifier.records import Example, Support


@dataclass(frozen=True)
class Merged:
    """One trial a setting and statement.

    | setting   | asked                                       | expected |
    |-----------|---------------------------------------------|----------|
    | correct   | the statement with its documents            | true     |
    | incorrect | its twin with them                          | false    |
    | replaced  | one document replaced (two or more cited)   | false    |
    | added     | one or two documents more                   | true     |
    | removed   | one document taken away (two or more cited) | false    |

    `level` is full; asking at partial shows what one threshold for both schemes would do.
    """

    seed: int = 13
    context: bool = False
    level: Support = Support.FULL
    name: ClassVar[str] = "merged"

    def trials(self, examples: Sequence[Example]) -> list[Trial]:
        """Trials in the order of the examples."""
        made = []
        for asker in askers(self.name, examples, self.seed, self.context):
            cited, level = asker.cited, self.level
            made.append(asker.ask("correct", cited, level, True))
            if asker.statement.corrupted is not None:
                made.append(asker.ask("incorrect", cited, level, False, corrupted=True))
            if len(cited) >= 2:
                removed, replaced = asker.rng.choice(cited), asker.rng.choice(cited)
                if asker.others:
                    premise = [i for i in cited if i != replaced]
                    made.append(asker.ask("replaced", [*premise, *asker.distractors(1)], level, False))
                made.append(asker.ask("removed", [i for i in cited if i != removed], level, False))
            if asker.others:
                more = asker.distractors(asker.rng.choice((1, 2)))
                made.append(asker.ask("added", [*cited, *more], level, True))
        return made

    def shares(self, predictions: Sequence[Prediction], *, default: bool) -> list[Share]:
        """Twin accuracy: the statement true and its twin false, with the cited documents."""
        return twin_shares(predictions, "correct", "incorrect", default=default)
