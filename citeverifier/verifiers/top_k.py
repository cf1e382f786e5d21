"""A Selector that takes the k documents a Scorer scores highest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from citeverifier.records import Support
from citeverifier.verifiers.base import Listing, Scorer, Selection, Selector, with_cost
from citeverifier.verifiers.listings import by_listing, each_alone, exact_share, score_premises, select_by


class TopK(Selector):
    """The k documents of greatest P(support >= partial), each scored alone; of equals the one that comes first.

    It always cites k documents, so it cannot tell a twin, which has nothing to cite. `k` is chosen on dev from 1 to 5,
    on statements that cite something.

    Args:
        scorer: any Scorer.
        k: how many, untuned.
    """

    name = "top_k"

    def __init__(self, scorer: Scorer, k: int = 2) -> None:
        self.scorer, self.given, self.k = scorer, k, k
        self.name = f"top_k({scorer.name})"

    @property
    def parameters(self) -> Mapping[str, float]:
        """{"k"}."""
        return {"k": float(self.k)}

    def wrap(self, wrapper: Callable[[Scorer], Scorer]) -> bool:
        """Put `wrapper(scorer)` in the scorer's place."""
        self.scorer = wrapper(self.scorer)
        return True

    def untuned(self) -> TopK:
        """With k as given."""
        return TopK(self.scorer, self.given)

    def select(self, statements: Sequence[Listing]) -> list[Selection]:
        """The best k of each."""
        scores = score_premises(self.scorer, statements, each_alone(statements), Support.PARTIAL)
        return with_cost(select_by(by_listing(scores, statements), lambda values: _best(values, self.k)), scores.cost)

    def tune(self, statements: Sequence[Listing], gold: Sequence[frozenset[int]]) -> None:
        """The k of most exact selections among statements that cite something; of equals the smallest."""
        scores = score_premises(self.scorer, statements, each_alone(statements), Support.PARTIAL)
        scored = by_listing(scores, statements)
        known = [(values, gold[i]) for i, values in enumerate(scored) if gold[i] and not isinstance(values, str)]
        if known:
            self.k = max(
                range(1, 6),
                key=lambda k: exact_share([frozenset(_best(v, k)) for v, _ in known], [right for _, right in known]),
            )


def _best(values: np.ndarray, k: int) -> list[int]:
    return [int(i) for i in np.argsort(-values, kind="stable")[:k]]
