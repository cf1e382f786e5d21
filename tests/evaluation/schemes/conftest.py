"""Shared by the scheme tests: verifiers that answer by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from citeverifier.cost import Cost
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Listing, Scorer, Scores, Selection, Selector


@dataclass
class ScorerByHand(Scorer):
    """Scores by a function of the statement and the documents' texts; keeps what was asked, call by call."""

    of: Callable[[str, tuple[str, ...]], float]
    asked: list[list[tuple[str, tuple[str, ...]]]] = field(default_factory=list)
    name: str = "by hand"

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        keys = [(pair.statement, tuple(document.text for document in pair.documents)) for pair in pairs]
        self.asked.append(keys)
        values = np.array([self.of(*key) for key in keys], dtype=np.float64)
        return Scores(
            values, {i: "no answer" for i, v in enumerate(values) if math.isnan(v)}, Cost(distinct_pairs=len(keys))
        )


@dataclass
class SelectorByHand(Selector):
    """Selects the documents whose text a function of the statement names; None is no answer."""

    of: Callable[[str], set[str] | None]
    asked: list[Listing] = field(default_factory=list)
    name: str = "by hand"

    def select(self, statements: Sequence[Listing]) -> list[Selection]:
        self.asked += statements
        selections = []
        for listing in statements:
            chosen = self.of(listing.statement)
            if chosen is None:
                selections.append(Selection(None, reason="no answer"))
            else:
                positions = tuple(i for i, document in enumerate(listing.documents) if document.text in chosen)
                selections.append(Selection(positions, cost=Cost(calls=1, tokens=10)))
        return selections
