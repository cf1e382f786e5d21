"""From listings to pairs: what the Selectors over a Scorer ask, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Listing, Scorer, Scores, Selection

Premises = Sequence[tuple[int, tuple[int, ...]]]  # (which listing, positions of its documents)


def score_premises(scorer: Scorer, listings: Sequence[Listing], premises: Premises, level: Support) -> Scores:
    """One `score` call for premises of listings."""
    pairs = []
    for at, positions in premises:
        listing = listings[at]
        documents = tuple(listing.documents[i] for i in positions)
        identity = f"list{at}/{','.join(map(str, positions))}"
        pairs.append(
            Pair(
                identity,
                identity,
                identity,
                listing.lang,
                identity,
                listing.statement,
                documents,
                "list",
                listing.context,
            )
        )
    return scorer.score(pairs, level)


def each_alone(listings: Sequence[Listing]) -> list[tuple[int, tuple[int, ...]]]:
    """Every document of every listing as a premise of its own."""
    return [(at, (i,)) for at, listing in enumerate(listings) for i in range(len(listing.documents))]


def by_listing(scores: Scores, listings: Sequence[Listing]) -> list[np.ndarray | str]:
    """The scores of `each_alone`, an array a listing; the reason instead where one of them is unscored."""
    found: list[np.ndarray | str] = []
    start = 0
    for listing in listings:
        end = start + len(listing.documents)
        missing = next((i for i in range(start, end) if np.isnan(scores.values[i])), None)
        if missing is None:
            found.append(scores.values[start:end])
        else:
            found.append(f"document {missing - start + 1}: {scores.reasons.get(missing, 'no score')}")
        start = end
    return found


def exact_share(chosen: Sequence[frozenset[int]], gold: Sequence[frozenset[int]]) -> float:
    """The share of statements that get exactly the documents they cite."""
    return sum(a == b for a, b in zip(chosen, gold, strict=True)) / len(gold)


def select_by(scored: Sequence[np.ndarray | str], choose: Callable[[np.ndarray], Sequence[int]]) -> list[Selection]:
    """A selection a listing: what `choose` takes of its scores, with them; unscored with the reason otherwise."""
    selections = []
    for values in scored:
        if isinstance(values, str):
            selections.append(Selection(None, reason=values))
        else:
            positions = tuple(sorted(int(i) for i in choose(values)))
            selections.append(Selection(positions, tuple(float(values[i]) for i in positions)))
    return selections
