"""What a verifier costs: seconds, calls, tokens and money per thousand statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COST = ("seconds", "calls", "tokens", "money")


def per_thousand(cost: Mapping[str, Any], price_per_hour: float | None = None) -> dict[str, float | None]:
    """`cost` of metrics.json per thousand of its `statements`; None where not counted.

    Money is what a server or price list counted (`money`), else seconds at `price_per_hour`, else None: never guessed.
    No calls or tokens at all means that the verifier counts none, which is None too.
    """
    statements = cost.get("statements")
    if not statements:
        return dict.fromkeys(COST)
    money = cost.get("money")
    if money is None and price_per_hour is not None and cost.get("seconds") is not None:
        money = cost["seconds"] / 3600 * price_per_hour
    counted = {"seconds": cost.get("seconds"), "calls": cost.get("calls") or None, "tokens": cost.get("tokens") or None}
    return {
        key: None if value is None else 1000 * value / statements for key, value in {**counted, "money": money}.items()
    }
