"""Decisions at both levels as one of three: full where the full one is true, else partial where that is, else none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citeverifier.evaluation.schemes.shares import Share
from citeverifier.evaluation.schemes.trials import Prediction
from citeverifier.records import LEVELS, Support


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """A pair asked at both levels: what it is, what was decided, and its scores at both levels together, in [0, 2].

    `gold` is what its trials expect; `decided` and `support` are None where a level is unscored.
    """

    pair: str
    example: str
    gold: Support
    decided: Support | None
    support: float | None


def three_ways(predictions: Sequence[Prediction], *, default: bool) -> list[ThreeWay]:
    """The pairs that were asked at both levels, in their order; `default` decides at 0.5."""
    asked: dict[str, dict[Support, Prediction]] = {}
    for prediction in predictions:
        asked.setdefault(prediction.trial.pair.id, {})[prediction.trial.level] = prediction
    ways = []
    for key, by_level in asked.items():
        if len(by_level) == len(LEVELS):
            both = [by_level[level] for level in LEVELS]
            decisions = [prediction.decided(default=default) for prediction in both]
            scores = [prediction.score for prediction in both]
            pair = both[0].trial.pair
            ways.append(
                ThreeWay(
                    key,
                    pair.example,
                    _highest([prediction.trial.gold for prediction in both]),
                    None if None in decisions else _highest([bool(decision) for decision in decisions]),
                    None if None in scores else sum(score or 0.0 for score in scores),
                )
            )
    return ways


def three_level_shares(ways: Sequence[ThreeWay]) -> list[Share]:
    """three_level_accuracy, where all three levels occur among the decided pairs."""
    decided = [way for way in ways if way.decided is not None]
    if len({way.gold for way in decided}) < len(Support):
        return []
    return [Share("three_level_accuracy", way.example, way.decided == way.gold) for way in decided]


def _highest(reached: Sequence[bool]) -> Support:
    """The highest level that is reached; full without partial is full."""
    return next((level for level, is_it in reversed(list(zip(LEVELS, reached, strict=True))) if is_it), Support.NONE)
