"""A small Scorer decides what it is sure of; a bigger one is asked about the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from citeverifier.cost import Cost
from citeverifier.metrics.decisions import ABOVE_ALL, Bools, Floats, best_threshold
from citeverifier.records import LEVELS, Pair, Support
from citeverifier.verifiers.base import Scorer, Scores


@dataclass(frozen=True)
class Band:
    """Scores of the small verifier in [low, high) are passed on; `small` and `big` are the thresholds of the two."""

    low: float = 0.0
    high: float = ABOVE_ALL
    small: float = 0.5
    big: float = 0.5


class Cascade(Scorer):
    """P(support >= level) by `small` where it is sure, by `big` in the band between.

    On dev, per level: the band's ends are where those below are false, and those from there on true, with the wanted
    precision (the narrowest such band; a side on which it cannot be had passes everything on). Both verifiers' scores
    are then put on one scale on which 0.5 is the threshold of each, so that a decision does not depend on who took it;
    the note `passed_on` counts what the bigger one was asked. What the small one leaves unscored is passed on, what the
    bigger one does stays unscored.

    Args:
        small, big: any two Scorers.
        precision: of the decisions that the small one takes, on either side.
    """

    name = "cascade"
    needs_dev_pairs = True

    def __init__(self, small: Scorer, big: Scorer, precision: float = 0.95) -> None:
        if small.dry_run or big.dry_run:
            raise ValueError(
                "verifier=cascade: expected no dry run, since what the big verifier is asked depends on the small one; "
                f"count {big.name} alone for an upper bound"
            )
        self.small, self.big, self.precision = small, big, precision
        self.name = f"cascade({small.name}, {big.name})"
        self.bands: Mapping[Support, Band] = {}

    def wrap(self, wrapper: Callable[[Scorer], Scorer]) -> bool:
        """Put `wrapper(scorer)` in the place of both."""
        self.small, self.big = wrapper(self.small), wrapper(self.big)
        return True

    def tune(self, pairs: Sequence[Pair]) -> None:
        """Choose band and thresholds; the big verifier is asked about dev pairs in the band only.

        Raises ValueError where dev lacks pairs that reach a level, or pairs that do not.
        """
        bands = {}
        for level in LEVELS:
            decided = [(pair, gold) for pair in pairs if (gold := pair.reaches(level)) is not None]
            values = self.small.score([pair for pair, _ in decided], level).values
            known = ~np.isnan(values)
            truth = np.array([gold for _, gold in decided], dtype=bool)
            if len(set(truth[known].tolist())) < 2:
                raise ValueError(
                    f"cascade: expected dev pairs that reach level {level.label} and ones that do not, got one kind; "
                    "name other dev data with fit=[...]"
                )
            low, high = band(truth[known], values[known], self.precision)
            small = min(max(best_threshold(truth[known], values[known]), low), high)
            passed = [i for i in np.flatnonzero(known) if low <= values[i] < high]
            big = np.nan
            if passed:
                asked = self.big.score([decided[i][0] for i in passed], level).values
                scored = ~np.isnan(asked)
                big = best_threshold(truth[passed][scored], asked[scored])
            bands[level] = Band(low, high, small, 0.5 if np.isnan(big) else big)
        self.bands = bands

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """Scores of which 0.5 is everybody's threshold; raises RuntimeError before `tune`."""
        if level not in self.bands:
            raise RuntimeError("cascade: expected tune(dev pairs) before score, got none")
        at = self.bands[level]
        first = self.small.score(pairs, level)
        values = centred(first.values, at.small)
        passed = [i for i, value in enumerate(first.values) if np.isnan(value) or at.low <= value < at.high]
        second = self.big.score([pairs[i] for i in passed], level)
        values[passed] = centred(second.values, at.big)
        reasons = {passed[i]: reason for i, reason in second.reasons.items()}
        asked_again = replace(second.cost, distinct_pairs=0)  # its pairs are among those of the first
        return Scores(values, reasons, first.cost + asked_again + Cost(notes={"passed_on": len(passed)}))


def band(gold: Bools, score: Floats, precision: float) -> tuple[float, float]:
    """(low, high) of the narrowest band: scores below low are false, from high on true, with the precision on dev."""
    order = np.argsort(score, kind="stable")
    ranked, labels = score[order], gold[order]
    counts = np.arange(1, len(ranked) + 1)
    last = np.append(np.diff(ranked) > 0, True)  # equal scores fall on the same side
    false_below = np.flatnonzero((np.cumsum(~labels) / counts >= precision) & last)
    first = np.append(True, np.diff(ranked) > 0)
    true_above = np.flatnonzero((np.cumsum(labels[::-1])[::-1] / counts[::-1] >= precision) & first)
    low = float(np.nextafter(ranked[false_below[-1]], np.inf)) if len(false_below) else 0.0
    high = float(ranked[true_above[0]]) if len(true_above) else ABOVE_ALL
    if high < low:  # both sides claim the middle: nothing is passed on
        low = high = best_threshold(gold, score)
    return low, high


def centred(score: Floats, threshold: float) -> Floats:
    """Scores with the threshold moved to 0.5, linear on either side, order kept."""
    below = 0.5 * np.minimum(score, threshold) / threshold if threshold > 0 else np.full_like(score, 0.5)
    above = 0.5 + 0.5 * (score - threshold) / (1 - threshold) if threshold < 1 else np.ones_like(score)
    moved: Floats = np.where(np.isnan(score), np.nan, np.where(score >= threshold, above, below))
    return moved
