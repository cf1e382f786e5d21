"""What a verifier is: a `Scorer` scores pairs, a `Selector` picks citations. Nothing else is asked of either.

A verifier may also bring fitted thresholds along (`Calibrated`) or need training pairs first (`Fittable`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from citeverifier.records import Document, Pair, Support


@dataclass(frozen=True)
class Scores:
    """Scores of n pairs.

    `values`: (n,) P(support >= level) in [0, 1], nan where unscored. `reasons`: why, by position, for each nan.
    `distinct`, `calls`, `tokens`: what it cost. `notes`: counts worth reporting (windowed, packed premises).
    """

    values: NDArray[np.float64]
    reasons: Mapping[int, str] = field(default_factory=dict)
    distinct: int = 0
    calls: int = 0
    tokens: int = 0
    notes: Mapping[str, int] = field(default_factory=dict)


class Scorer(Protocol):
    """Scores pairs. Batched and single scores agree."""

    name: str

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """P(support >= level) of each pair; `level` is partial or full."""
        ...


@dataclass(frozen=True)
class Listing:
    """A statement and all the documents it may cite."""

    statement: str
    documents: tuple[Document, ...]
    lang: str
    context: str | None = None


@dataclass(frozen=True)
class Selection:
    """Selected positions with scores, or None with the reason."""

    positions: tuple[int, ...] | None
    scores: tuple[float, ...] = ()
    reason: str | None = None


class Selector(Protocol):
    """Picks the documents that a statement should cite."""

    name: str

    def select(self, statements: Sequence[Listing]) -> list[Selection]:
        """One selection a statement."""
        ...


@runtime_checkable
class Calibrated(Protocol):
    """A verifier that brings thresholds fitted on dev."""

    @property
    def thresholds(self) -> Mapping[Support, float]:
        """Threshold by level, probabilities."""
        ...


@runtime_checkable
class Fittable(Protocol):
    """A verifier that must be fitted on training pairs before it scores."""

    def fit(self, pairs: Sequence[Pair]) -> None:
        """Fit on labelled pairs."""
        ...
