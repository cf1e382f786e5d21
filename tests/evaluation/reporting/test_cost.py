"""Held: costs per thousand statements; money counted, or of the price given, or none."""

from __future__ import annotations

from typing import Any

import pytest

from citeverifier.evaluation.reporting.cost import per_thousand

COUNTED: dict[str, Any] = {"seconds": 36.0, "calls": 20, "tokens": 4000, "statements": 200}


def test_per_thousand() -> None:
    assert per_thousand(COUNTED) == {"seconds": 180.0, "calls": 100.0, "tokens": 20_000.0, "money": None}


@pytest.mark.parametrize(
    ("money", "price", "expected"),
    [(None, None, None), (None, 10.0, 0.5), (0.3, None, 1.5), (0.3, 10.0, 1.5), (0.0, 10.0, 0.0), (None, 0.0, 0.0)],
)
def test_money_is_counted_or_priced_or_nothing(
    money: float | None, price: float | None, expected: float | None
) -> None:
    cost = COUNTED if money is None else COUNTED | {"money": money}
    assert per_thousand(cost, price)["money"] == pytest.approx(expected)


def test_without_statements_there_is_nothing_to_divide_by() -> None:
    for cost in ({}, COUNTED | {"statements": 0}, {"seconds": 3.0}):
        assert set(per_thousand(cost, 1.0).values()) == {None}


def test_no_count_is_not_none_at_all() -> None:
    assert per_thousand(COUNTED | {"calls": 0, "tokens": 0})["calls"] is None
