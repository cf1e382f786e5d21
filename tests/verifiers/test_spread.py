"""A verifier asked by several processes: each its groups, all the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeverifier.cost import Cost
from citeverifier.records import Document, Pair, Support
from citeverifier.verifiers import spread as module
from citeverifier.verifiers.base import Listing, Scorer, Scores, Selection, Selector
from citeverifier.verifiers.keyword import Keyword
from citeverifier.verifiers.selectors import AboveThreshold, TopK
from citeverifier.verifiers.spread import shares, spread


@given(st.lists(st.sampled_from("abcdefgh"), max_size=60), st.integers(1, 5))
def test_shares_hold_everything_once_and_keep_groups_together(groups: list[str], count: int) -> None:
    parts = shares(groups, count)
    assert len(parts) == count
    assert sorted(i for part in parts for i in part) == list(range(len(groups)))
    for group in set(groups):
        assert sum(any(groups[i] == group for i in part) for part in parts) == 1
    biggest = max((groups.count(group) for group in groups), default=0)
    assert max(map(len, parts)) - min(map(len, parts)) <= biggest


class Recorded(Scorer):
    """Scores by statement length, unscored where it is a multiple of five; remembers what it was asked."""

    name = "recorded"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        self.asked.append(len(pairs))
        values = np.array([np.nan if int(pair.id[1:]) % 5 == 0 else int(pair.id[1:]) / 100 for pair in pairs])
        reasons = {i: f"{pairs[i].id} is five" for i in np.flatnonzero(np.isnan(values)).tolist()}
        return Scores(
            values, reasons, Cost(distinct_pairs=len(pairs), calls=1, tokens=10, money=0.5, notes={"windowed": 1})
        )

    def select(self, statements: Sequence[Listing]) -> list[Selection]:
        return [Selection((len(listing.statement),)) for listing in statements]


def on_each(monkeypatch: pytest.MonkeyPatch, size: int, run: Any) -> list[Any]:
    """`run` as each process would: first what each has to tell, then what it makes of all of it."""
    monkeypatch.setattr(module, "world_size", lambda: size)
    answers: list[Any] = []

    class Told(Exception):
        pass

    def tell(value: Any) -> Any:
        answers.append(value)
        raise Told

    for number in range(size):
        monkeypatch.setattr(module, "rank", lambda number=number: number)
        monkeypatch.setattr(module, "gather", tell)
        with pytest.raises(Told):
            run()
    results = []
    for number in range(size):
        monkeypatch.setattr(module, "rank", lambda number=number: number)
        monkeypatch.setattr(module, "gather", lambda _: answers)
        results.append(run())
    return results


def test_every_process_gets_the_scores_of_all(pairs: list[Pair], monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Recorded().score(pairs, Support.FULL)
    for scores in on_each(monkeypatch, 3, lambda: spread(Recorded()).score(pairs, Support.FULL)):
        assert scores.values == pytest.approx(alone.values, nan_ok=True)
        assert scores.reasons == alone.reasons
        assert (scores.cost.distinct_pairs, scores.cost.calls, scores.cost.tokens, scores.cost.money) == (
            24,
            3,
            30,
            1.5,
        )
        assert scores.cost.notes == {"windowed": 3}


def test_a_process_without_a_part_asks_nothing(pairs: list[Pair], monkeypatch: pytest.MonkeyPatch) -> None:
    verifier = Recorded()
    one_group = [replace(pair, group="g") for pair in pairs]
    scores = on_each(monkeypatch, 2, lambda: spread(verifier).score(one_group, Support.FULL))
    assert verifier.asked == [24, 24], "once in each pass, by the first process"
    assert scores[1].values == pytest.approx(Recorded().score(pairs, Support.FULL).values, nan_ok=True)


def test_selectors_and_composed_verifiers_are_spread_too(monkeypatch: pytest.MonkeyPatch) -> None:
    listings = [Listing("x" * n, (Document("T", "t"),), "en") for n in range(7)]

    class Selects(Selector):
        name = "selects"
        select = Recorded.select

    for selections in on_each(monkeypatch, 2, lambda: spread(Selects()).select(listings)):
        assert [selection.positions for selection in selections] == [(n,) for n in range(7)]
    composed = TopK(Keyword())
    assert spread(composed) is composed
    assert isinstance(composed.scorer, module.SpreadScorer)


def test_one_process_asks_as_ever() -> None:
    verifier = Keyword()
    assert spread(verifier) is verifier


def test_a_spread_selector_keeps_its_parameters_and_its_tuning() -> None:
    listing = Listing("Warsaw is big.", (Document("", "Warsaw is big."), Document("", "Mars is red.")), "en")
    wrapped = module.SpreadSelector(AboveThreshold(Keyword(), threshold=0.9))
    wrapped.tune([listing], [frozenset({0})])
    assert wrapped.parameters == {"threshold": 0.5}
    assert wrapped.untuned().parameters == {"threshold": 0.9}
