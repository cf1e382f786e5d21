"""Merged (paper 1): do these documents together support all of the statement?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from citeverifier.evaluation.schemes.base import DECISIONS, TWINS, Scheme
from citeverifier.evaluation.schemes.trials import Trial, askers
from citeverifier.records import Example, Support


@dataclass(frozen=True)
class Merged(Scheme):
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
    name: ClassVar = "merged"
    heading: ClassVar = "Do these documents together support all of the statement?"
    order: ClassVar = 1
    columns: ClassVar = (*DECISIONS, TWINS)
    twin_settings: ClassVar = ("correct", "incorrect")

    def trials(self, records: Sequence[Example]) -> list[Trial]:
        """Trials in the order of the examples."""
        trials = []
        for asker in askers(self.name, records, self.seed, self.context):
            cited, level = asker.cited, self.level
            trials.append(asker.ask("correct", cited, level, True))
            if asker.statement.corrupted is not None:
                trials.append(asker.ask("incorrect", cited, level, False, corrupted=True))
            if len(cited) >= 2:
                removed, replaced = asker.rng.choice(cited), asker.rng.choice(cited)
                if asker.others:
                    premise = [i for i in cited if i != replaced]
                    trials.append(asker.ask("replaced", [*premise, *asker.distractors(1)], level, False))
                trials.append(asker.ask("removed", [i for i in cited if i != removed], level, False))
            if asker.others:
                more = asker.distractors(asker.rng.choice((1, 2)))
                trials.append(asker.ask("added", [*cited, *more], level, True))
        return trials
