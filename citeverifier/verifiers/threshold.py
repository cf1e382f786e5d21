"""A Selector that takes every document that a Scorer scores above a threshold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from citeverifier.records import Support
from citeverifier.verifiers.base import Listing, Scorer, Selection, Selector, with_cost
from citeverifier.verifiers.listings import by_listing, each_alone, exact_share, score_premises, select_by


class Threshold(Selector):
    """The documents whose P(support >= partial), each scored alone, reaches the threshold.

    What cite_separate decides, with a threshold chosen on dev for exact match instead of balanced accuracy.

    Args:
        scorer: any Scorer.
        threshold: untuned.
    """

    name = "threshold"

    def __init__(self, scorer: Scorer, threshold: float = 0.5) -> None:
        self.scorer, self.given, self.threshold = scorer, threshold, threshold
        self.name = f"threshold({scorer.name})"

    @property
    def parameters(self) -> Mapping[str, float]:
        """{"threshold"}."""
        return {"threshold": self.threshold}

    def wrap(self, wrapper: Callable[[Scorer], Scorer]) -> bool:
        """Put `wrapper(scorer)` in the scorer's place."""
        self.scorer = wrapper(self.scorer)
        return True

    def untuned(self) -> Threshold:
        """With the threshold as given."""
        return Threshold(self.scorer, self.given)

    def select(self, statements: Sequence[Listing]) -> list[Selection]:
        """Those that reach it."""
        scores = score_premises(self.scorer, statements, each_alone(statements), Support.PARTIAL)
        chosen = select_by(
            by_listing(scores, statements), lambda values: np.flatnonzero(values >= self.threshold).tolist()
        )
        return with_cost(chosen, scores.cost)

    def tune(self, statements: Sequence[Listing], gold: Sequence[frozenset[int]]) -> None:
        """The threshold of most exact selections; of equally good ones the one nearest 0.5."""
        scores = score_premises(self.scorer, statements, each_alone(statements), Support.PARTIAL)
        known = [(v, gold[i]) for i, v in enumerate(by_listing(scores, statements)) if not isinstance(v, str)]
        if not known:
            return
        values = np.unique(np.concatenate([v for v, _ in known]))
        candidates = [0.0, *((values[1:] + values[:-1]) / 2).tolist(), float(np.nextafter(1.0, 2.0))]
        right = [cited for _, cited in known]

        def share(threshold: float) -> tuple[float, float]:
            chosen = [frozenset(np.flatnonzero(v >= threshold).tolist()) for v, _ in known]
            return exact_share(chosen, right), -abs(threshold - 0.5)

        self.threshold = max(candidates, key=share)
