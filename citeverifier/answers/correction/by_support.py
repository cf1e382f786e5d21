"""Correction by any Scorer: token overlap, BERTScore, the fine-tuned encoder of paper 4, and our ordinal verifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from citeverifier.answers.correction.method import CorrectionMethod
from citeverifier.cost import Cost
from citeverifier.records import LEVELS, Pair, Support
from citeverifier.verifiers.base import Listing, Scorer, Scores, Selection, WrappedScorer, with_cost
from citeverifier.verifiers.selectors import AboveThreshold, Listwise, each_alone, score_premises


class BySupport(CorrectionMethod):
    """A document's score is P(support >= partial) of the point by that document alone.

    Where the number of citations is free, a point cites the one document that fully supports it, or the two that do
    together; else every document that supports a part of it; else nothing.

    Args:
        scorer: any Scorer.
        context: whether the question is the pair's context.
        thresholds: from where a level is reached; None takes those that the scorer brings along, else 0.5.
        candidates: documents that pairs are made of.
    """

    scorer: Scorer
    thresholds: Mapping[Support, float]

    def __init__(
        self,
        scorer: Scorer,
        context: bool = False,
        thresholds: Mapping[Support, float] | None = None,
        candidates: int = 5,
    ) -> None:
        self.scorer, self.context, self.candidates = scorer, context, candidates
        self.name, self.dry_run = scorer.name, scorer.dry_run
        self.thresholds = thresholds or scorer.thresholds or dict.fromkeys(LEVELS, 0.5)

    def score(self, points: Sequence[Listing]) -> Scores:
        """P(support >= partial) of each document alone."""
        points = self._with_context(points)
        return score_premises(self.scorer, points, each_alone(points), Support.PARTIAL)

    def choose(self, points: Sequence[Listing], scores: Scores) -> list[Selection]:
        """One document that is enough, two that complete each other, or all that support a part."""
        points, full = self._with_context(points), self.thresholds[Support.FULL]
        scorer = _KnownAlone(self.scorer, scores)
        enough = Listwise(scorer, self.candidates, alone=full, pair=0.0, nothing=full).select(points)
        partly = AboveThreshold(scorer, self.thresholds[Support.PARTIAL]).select(points)
        chosen = [whole if whole.positions else part for whole, part in zip(enough, partly, strict=True)]
        return with_cost(chosen, sum((selection.cost for selection in enough), Cost()))

    def _with_context(self, points: Sequence[Listing]) -> list[Listing]:
        return [point if self.context else replace(point, context=None) for point in points]


class _KnownAlone(WrappedScorer):
    """A Scorer whose scores at level partial, of every document alone, are known already: these are asked for once."""

    def __init__(self, scorer: Scorer, partial: Scores) -> None:
        super().__init__(scorer)
        self.partial = replace(partial, cost=Cost())

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """The known scores at level partial, the scorer's at level full."""
        return self.partial if level is Support.PARTIAL else self.scorer.score(pairs, level)
