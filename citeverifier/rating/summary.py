"""The content of a rating run's metrics.json (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from citeverifier.rating.base import Rated, Rater
from citeverifier.rating.people import attribution, human_correlations, shape_correlations
from citeverifier.rating.planted import planted_defects
from citeverifier.rating.scores import response_rating, systems


def summarise(
    history: Sequence[Sequence[Rated]], rater: Rater, *, lang: str, data: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Of the first round; `improvement` tells of the others."""
    rated = history[0]
    statements = sum(len(one.statements) for one in rated)
    cost = rater.cost
    return {
        "rater": rater.name,
        "metrics": list(rater.metrics),
        "scale": [rater.low, rater.high],
        "lang": lang,
        "data": dict(data),
        "settings": settings(rater),
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


def settings(rater: Rater) -> dict[str, Any]:
    """What ratings depend on besides the data: weights, thresholds, coefficients, and where these come from."""
    found: dict[str, Any] = {}
    if (penalties := getattr(rater, "penalties", None)) is not None:
        found["penalties"] = {"source": penalties.source, "weights": dict(penalties.weights)}
    if (thresholds := getattr(rater, "thresholds", None)) is not None:
        found["thresholds"] = {level.label: value for level, value in thresholds.items()}
    if (edit_dist := getattr(rater, "edit_dist", None)) is not None:
        found["edit_dist"] = {"coefficients": dict(edit_dist.coefficients), "fitted_on": dict(edit_dist.fitted_on)}
    if (attributed := getattr(rater, "attribution", None)) is not None:
        found["attribution"] = attributed
    return found


def _round(number: int, rated: Sequence[Rated], rater: Rater) -> dict[str, Any]:
    """Mean headline rating in Full, and how many edits the round asks for."""
    values = [response_rating(one, rater.metrics[0], "full", rater.low)[0] for one in rated]
    known = [value for value in values if value is not None]
    return {
        "round": number,
        "rating": float(np.mean(known)) if known else None,
        "responses": len(known),
        "edits": sum(len(judged.edits or ()) for one in rated for judged in one.statements),
    }
