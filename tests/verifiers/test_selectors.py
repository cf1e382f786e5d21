"""Held: top_k, threshold and listwise choose by hand-made scores, are tuned on dev, keep reasons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from citeverifier.cost import Cost
from citeverifier.records import Document, Pair, Support
from citeverifier.verifiers.base import Listing, Scorer, Scores, Selector
from citeverifier.verifiers.listwise import Cuts, Listwise
from citeverifier.verifiers.threshold import Threshold
from citeverifier.verifiers.top_k import TopK

from .conftest import ByHand

PARTIAL, FULL = Support.PARTIAL, Support.FULL
KINDS: list[Callable[[Scorer], Selector]] = [TopK, Threshold, Listwise]
Alone = Mapping[str, Sequence[float]]


def listing(statement: str, count: int) -> Listing:
    return Listing(statement, tuple(Document("", str(i)) for i in range(count)), "en")


def scorer(alone: Alone, pairs: Mapping[tuple[str, str, str], float] | None = None) -> ByHand:
    """Scores documents alone by their position, both levels alike; pairs of them by name, otherwise as their best."""

    def of(pair: Pair, level: Support) -> float:
        texts = [document.text for document in pair.documents]
        best = max(alone[pair.statement][int(text)] for text in texts)
        return best if len(texts) == 1 else (pairs or {}).get((pair.statement, texts[0], texts[1]), best)

    return ByHand(of)


def chosen(selector: Selector, *listings: Listing) -> list[tuple[int, ...] | None]:
    return [selection.positions for selection in selector.select(listings)]


def test_top_k_takes_the_best_ties_in_order() -> None:
    by_hand = scorer({"a": [0.1, 0.9, 0.5, 0.5], "b": [0.2]})
    assert chosen(TopK(by_hand, 2), listing("a", 4), listing("b", 1)) == [(1, 2), (0,)]
    assert chosen(TopK(by_hand, 1), listing("a", 4)) == [(1,)]
    assert TopK(by_hand).select([listing("a", 4)])[0].scores == (0.9, 0.5)
    assert [level for level, _ in by_hand.asked] == [PARTIAL] * 3


def test_top_k_is_tuned_on_what_cites() -> None:
    alone = {"a": [0.9, 0.8, 0.7, 0.1], "b": [0.1, 0.9, 0.8, 0.7], "twin": [0.9, 0.9, 0.9, 0.9]}
    selector = TopK(scorer(alone), 2)
    gold = [frozenset({0, 1, 2}), frozenset({1, 2, 3}), frozenset[int]()]
    selector.tune([listing(name, 4) for name in alone], gold)
    assert selector.parameters == {"k": 3.0}
    assert selector.untuned().parameters == {"k": 2.0}


def test_threshold_takes_what_reaches_it_and_is_tuned() -> None:
    alone = {"a": [0.9, 0.62, 0.3], "b": [0.2, 0.1, 0.35], "c": [0.61, 0.55, 0.1]}
    selector = Threshold(scorer(alone))
    listings = [listing(name, 3) for name in alone]
    assert chosen(selector, *listings) == [(0, 1), (), (0, 1)]
    selector.tune(listings, [frozenset({0, 1}), frozenset(), frozenset({0})])
    assert selector.parameters["threshold"] == pytest.approx((0.55 + 0.61) / 2)
    assert chosen(selector, *listings) == [(0, 1), (), (0,)]
    assert chosen(selector.untuned(), *listings) == [(0, 1), (), (0, 1)]


HALVES = {"single": [0.9, 0.3, 0.2], "halves": [0.4, 0.1, 0.3], "twin": [0.2, 0.3, 0.1], "weak": [0.45, 0.1, 0.1]}
PAIRS = {("halves", "0", "2"): 0.85, ("single", "0", "1"): 0.95, ("weak", "0", "1"): 0.5}


def test_listwise_picks_one_two_or_none() -> None:
    by_hand = scorer(HALVES, PAIRS)
    selector = Listwise(by_hand, alone=0.7, pair=0.2, nothing=0.4)
    listings = [listing(name, 3) for name in HALVES]
    assert chosen(selector, *listings) == [(0,), (0, 2), (), (0,)]
    assert [s.scores for s in selector.select(listings)] == [(0.9,), (0.85, 0.85), (), (0.45,)]
    assert [(level, len(asked)) for level, asked in by_hand.asked[:3]] == [(PARTIAL, 12), (FULL, 12), (FULL, 12)]


def test_listwise_makes_pairs_of_candidates_only() -> None:
    by_hand = scorer({"a": [0.1, 0.5, 0.2, 0.4, 0.3]})
    Listwise(by_hand, candidates=3).select([listing("a", 5)])
    asked = [tuple(document.text for document in pair.documents) for pair in by_hand.asked[2][1]]
    assert asked == [("1", "3"), ("1", "4"), ("3", "4")]


def test_listwise_is_tuned_on_dev() -> None:
    selector = Listwise(scorer(HALVES, PAIRS), alone=0.99, pair=0.99, nothing=0.99)
    listings = [listing(name, 3) for name in HALVES]
    gold = [frozenset({0}), frozenset({0, 2}), frozenset[int](), frozenset({0})]
    assert chosen(selector, *listings) == [(), (), (), ()]
    selector.tune(listings, gold)
    assert [frozenset(positions or ()) for positions in chosen(selector, *listings)] == gold
    assert set(selector.parameters) == {"alone", "pair", "nothing"}
    assert selector.untuned().cuts == Cuts(0.99, 0.99, 0.99)


def test_listwise_does_not_learn_to_cite_nothing() -> None:
    """Three twins scored like the two statements that cite: most exact selections are empty, and worth nothing."""
    alone = {name: [0.8, 0.1] for name in ("a", "b", "twin of a", "twin of b", "another twin")}
    selector = Listwise(scorer(alone), alone=0.99, pair=0.99, nothing=0.99)
    listings = [listing(name, 2) for name in alone]
    selector.tune(listings, [frozenset({0}), frozenset({0}), frozenset(), frozenset(), frozenset()])
    assert chosen(selector, *listings) == [(0,)] * 5


def test_listwise_with_one_document_or_one_kind_of_gold() -> None:
    selector = Listwise(scorer({"a": [0.8]}))
    assert chosen(selector, listing("a", 1)) == [(0,)]
    selector.tune([listing("a", 1)], [frozenset()])
    assert chosen(selector, listing("a", 1)) == [()]


@pytest.mark.parametrize("kind", KINDS)
def test_one_unscored_document_leaves_its_statement_unscored(kind: Callable[[Scorer], Selector]) -> None:
    selector = kind(scorer({"a": [0.9, math.nan], "b": [0.9, 0.1]}))
    first, second = selector.select([listing("a", 2), listing("b", 2)])
    assert (first.positions, first.reason) == (None, "document 2: no answer")
    assert second.positions is not None
    assert second.reason is None
    selector.tune([listing("a", 2), listing("b", 2)], [frozenset(), frozenset({0})])
    assert chosen(selector, listing("b", 2))[0] is not None


def test_an_unscored_pair_leaves_its_statement_unscored() -> None:
    selector = Listwise(scorer({"a": [0.5, 0.4]}, {("a", "0", "1"): math.nan}))
    (selection,) = selector.select([listing("a", 2)])
    assert (selection.positions, selection.reason) == (None, "documents [1, 2]: no answer")


@pytest.mark.parametrize(("kind", "calls"), [(TopK, 1), (Threshold, 1), (Listwise, 3)])
def test_the_first_selection_carries_the_cost(kind: Callable[[Scorer], Selector], calls: int) -> None:
    selector = kind(scorer({"a": [0.9, 0.1], "b": [0.9, 0.1]}))
    first, second = selector.select([listing("a", 2), listing("b", 2)])
    assert (first.cost.calls, second.cost.calls, second.cost.tokens) == (calls, 0, 0)
    assert first.cost.tokens == 10 * first.cost.distinct_pairs > 0
    assert first.cost.notes == {"windowed": calls}
    assert selector.select([]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_scorer_is_named_and_can_be_wrapped(kind: Callable[[Scorer], Selector]) -> None:
    selector = kind(scorer({"a": [0.9]}))
    assert selector.name.endswith("(by hand)")
    other = scorer({"a": [0.1]})
    assert selector.wrap(lambda inner: other)
    selector.select([listing("a", 1)])
    assert other.asked


@pytest.mark.parametrize("kind", KINDS)
def test_money_spent_by_the_scorer_is_told(kind: Callable[[Scorer], Selector]) -> None:
    class Paid(ByHand):
        def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
            return Scores(np.full(len(pairs), 0.5), cost=Cost(money=0.25))

    first, second = kind(Paid(lambda pair, level: 0.5)).select([listing("a", 2), listing("b", 2)])
    assert first.cost.money is not None
    assert first.cost.money >= 0.25
    assert second.cost.money is None
