"""Where a score becomes a decision: one threshold a level, fitted on dev or brought along by the verifier.

This is the only place that fits thresholds; the arithmetic is `best_threshold` in metrics/decisions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from citeverifier.cost import Cost
from citeverifier.data.load import PairBuilder, Record, to_pairs
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.metrics.decisions import Bools, Floats, best_threshold
from citeverifier.records import LEVELS, Example, Pair, Support
from citeverifier.verifiers.base import Listing, Scorer, Selector


@dataclass(frozen=True)
class DecisionThreshold:
    """A threshold (or another parameter of deciding) and where it came from."""

    value: float
    source: str


@dataclass(frozen=True)
class Fitted:
    """What a run decides by: thresholds by level, a selector's parameters by name; and what finding them cost."""

    thresholds: Mapping[Support, DecisionThreshold] = field(default_factory=dict)
    parameters: Mapping[str, DecisionThreshold] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)


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
    verifier: Scorer,
    dev: Sequence[DevQuestion],
    source: str,
    levels: Sequence[Support] = LEVELS,
    *,
    whole: bool = False,
) -> Fitted:
    """Per level the threshold of greatest balanced accuracy on dev; of a dry run 0.5, with what fitting would cost.

    `whole`: balanced accuracy of examples, each decided by the lowest score of its pairs, true where all of them are.

    Raises ValueError where dev lacks questions at a level whose answer is yes, or ones whose answer is no.
    """
    fitted = {}
    cost = Cost()
    for level in levels:
        decided = [question for question in dev if question.level == level]
        scores = verifier.score([question.pair for question in decided], level)
        cost += scores.cost
        if verifier.dry_run:
            fitted[level] = DecisionThreshold(0.5, "dry run: not fitted")
            continue
        gold, values = np.array([question.gold for question in decided], dtype=bool), scores.values
        if whole:
            gold, values = _of_examples([question.pair.example for question in decided], gold, values)
        scored = ~np.isnan(values)
        value = best_threshold(gold[scored], values[scored])
        if np.isnan(value):
            raise ValueError(
                f"{source}: expected dev pairs that reach level {level.label} and ones that do not, got one kind; "
                "name other dev data with fit=[...]"
            )
        what = "examples" if whole else "pairs"
        fitted[level] = DecisionThreshold(value, f"fitted on {int(scored.sum())} dev {what} of {source}")
    return Fitted(fitted, cost=cost)


def _of_examples(examples: Sequence[str], gold: Bools, values: Floats) -> tuple[Bools, Floats]:
    """(all true, lowest score) of each example's pairs; nan where one of them is unscored."""
    _, number = np.unique(examples, return_inverse=True)
    every, lowest = np.ones(number.max(initial=-1) + 1, dtype=bool), np.full(number.max(initial=-1) + 1, np.inf)
    np.logical_and.at(every, number, gold)
    with np.errstate(invalid="ignore"):  # of nan, which stays
        np.minimum.at(lowest, number, values)
    return every, lowest


@dataclass(frozen=True)
class FittingData:
    """The data that a run fits on, read when asked for.

    `read` gives the records of a role ("train" or "dev"), `build` makes pairs of examples, `source` names the data.
    With `calibrate` thresholds are fitted even where the verifier brings its own.
    """

    source: str
    read: Callable[[str], Sequence[Record]]
    build: PairBuilder
    seed: int = 13
    calibrate: bool = False

    def pairs(self, role: str) -> list[Pair]:
        """Labelled pairs of a role."""
        return to_pairs(self.read(role), self.build)

    def examples(self) -> list[Example]:
        """The examples of dev; raises ValueError where there is none."""
        examples = [record for record in self.read("dev") if isinstance(record, Example)]
        if not examples:
            raise ValueError(
                f"{self.source}: expected examples to choose a selector's parameters on, got none; name other dev data "
                "with fit=[...]"
            )
        return examples

    def thresholds(self, verifier: Scorer, levels: Sequence[Support] = LEVELS, *, whole: bool = False) -> Fitted:
        """Those that the verifier brings along, else fitted on dev (`whole`: as in `fit_thresholds`)."""
        brought = verifier.thresholds
        if self.calibrate or brought is None:
            dev = dev_questions(self.read("dev"), self.seed)
            return fit_thresholds(verifier, dev, self.source, levels, whole=whole)
        return Fitted({level: DecisionThreshold(at, "brought by the verifier") for level, at in brought.items()})

    def parameters(self, verifier: Selector, listings: Sequence[Listing], gold: Sequence[frozenset[int]]) -> Fitted:
        """A selector's parameters, chosen on dev statements."""
        verifier.tune(listings, gold)
        chosen = f"chosen on {len(listings)} dev statements of {self.source}"
        return Fitted(parameters={name: DecisionThreshold(v, chosen) for name, v in verifier.parameters.items()})
