"""Where a score becomes a decision: one threshold a level, fitted on dev or brought along by the verifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from citeverifier.data.load import Record
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.metrics.decisions import best_threshold
from citeverifier.records import LEVELS, Example, Pair, Support
from citeverifier.verifiers.base import Scorer


@dataclass(frozen=True)
class Threshold:
    """A decision threshold and where it came from."""

    value: float
    source: str


class DevQuestion(NamedTuple):
    """A pair of dev data, the level it is asked at, and the right answer."""

    pair: Pair
    level: Support
    gold: bool


def dev_questions(records: Sequence[Record], seed: int) -> list[DevQuestion]:
    """What thresholds are fitted on: questions of the form in which each level is asked.

    Level partial decides on one document at a time, level full on documents together: examples give the trials of
    Separate and of Merged. (Premises of one to three documents, as training has them, made the threshold of partial
    too strict for one.) Labelled pairs are asked at every level that their label decides.
    """
    examples = [record for record in records if isinstance(record, Example)]
    trials = [*Separate(seed).trials(examples), *Merged(seed).trials(examples)]
    asked = [DevQuestion(trial.pair, trial.level, trial.gold) for trial in trials]
    for record in records:
        if isinstance(record, Pair):
            for level in LEVELS:
                gold = record.reaches(level)
                if gold is not None:
                    asked.append(DevQuestion(record, level, gold))
    return asked


def fit_thresholds(
    verifier: Scorer, dev: Sequence[DevQuestion], source: str, levels: Sequence[Support] = LEVELS
) -> dict[Support, Threshold]:
    """Per level the threshold of greatest balanced accuracy on dev.

    Raises ValueError where dev lacks questions at a level whose answer is yes, or ones whose answer is no.
    """
    fitted = {}
    for level in levels:
        decided = [question for question in dev if question.level == level]
        values = verifier.score([question.pair for question in decided], level).values
        scored = ~np.isnan(values)
        value = best_threshold(np.array([question.gold for question in decided], dtype=bool)[scored], values[scored])
        if np.isnan(value):
            raise ValueError(
                f"{source}: expected dev pairs that reach level {level.label} and ones that do not, came one kind; "
                "name other dev data with fit=[...]"
            )
        fitted[level] = Threshold(value, f"fitted on {int(scored.sum())} dev pairs of {source}")
    return fitted


def saved_thresholds(verifier: Scorer) -> dict[Support, Threshold] | None:
    """The thresholds that a verifier brings along; None where it brings none."""
    if verifier.thresholds is None:
        return None
    return {level: Threshold(value, "brought by the verifier") for level, value in verifier.thresholds.items()}
