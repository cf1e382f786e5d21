"""The content of a rating run's metrics.json (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from citeverifier.rating.agreement_with_people import attribution, human_correlations, shape_correlations
from citeverifier.rating.planted_edits import planted_defects
from citeverifier.rating.response_ratings import response_rating, systems
from citeverifier.rating.responses import RatedResponse, Rater


def summarise(
    history: Sequence[Sequence[RatedResponse]], rater: Rater, *, lang: str, data: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Of the first round; `improvement` tells of the others."""
    rated, cost = history[0], rater.cost
    statements = sum(len(one.statements) for one in rated)
    return {
        "rater": rater.name,
        "metrics": list(rater.metrics),
        "scale": [rater.low, rater.high],
        "lang": lang,
        "data": dict(data),
        "settings": rater.settings(),
        "systems": systems(rated, rater, seed),
        "correlations": shape_correlations(rated, rater, seed),
        "human": human_correlations(rated, rater, seed),
        "attribution": attribution(rated),
        "planted": planted_defects(rated, rater),
        "improvement": [_round(number, one, rater) for number, one in enumerate(history)] if len(history) > 1 else [],
        "cost": {
            "seconds": round(cost.seconds, 3),
            "statements": statements,
            "ms_per_statement": round(1000 * cost.seconds / max(1, statements * len(history)), 3),
            "pairs": cost.distinct_pairs,
            "calls": cost.calls,
            "tokens": cost.tokens,
            **({} if cost.money is None else {"money": round(cost.money, 6)}),
        },
    }


def _round(number: int, rated: Sequence[RatedResponse], rater: Rater) -> dict[str, Any]:
    """Mean headline rating in Full, and how many edits the round asks for."""
    ratings = [response_rating(one, rater.metrics[0], "full", rater.low)[0] for one in rated]
    known = [rating for rating in ratings if rating is not None]
    edits = sum(len(statement.edits or ()) for one in rated for statement in one.statements)
    mean = sum(known) / len(known) if known else None
    return {"round": number, "rating": mean, "responses": len(known), "edits": edits}
