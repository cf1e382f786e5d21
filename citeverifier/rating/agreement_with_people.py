"""How far ratings follow people's, and one property of responses another: correlations, attribution's F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

import numpy as np

from citeverifier.metrics.bootstrap import estimate, resamples
from citeverifier.metrics.correlation import kendall, pearson, spearman
from citeverifier.metrics.decisions import count
from citeverifier.rating.planted import prf
from citeverifier.rating.response_ratings import as_json, missing_ratio, response_rating
from citeverifier.rating.responses import SCENARIOS, RatedResponse, Rater

Point = tuple[str, float, float]  # the question, and two values of it


def shape_correlations(rated: Sequence[RatedResponse], rater: Rater, seed: int) -> dict[str, Any]:
    """Over responses: do long ones lack citations, and do ratings follow length and lack? Of the headline, in Full."""
    rows = []
    for one in rated:
        rating, _ = response_rating(one, rater.metrics[0], "full", rater.scale)
        missing = missing_ratio(one)
        if missing is not None and rating is not None:
            rows.append((one.response.id, float(len(one.statements)), missing, rating))
    return {
        "length_and_missing": correlations([(unit, length, missing) for unit, length, missing, _ in rows], seed),
        "length_and_rating": correlations([(unit, length, rating) for unit, length, _, rating in rows], seed),
        "missing_and_rating": correlations([(unit, missing, rating) for unit, _, missing, rating in rows], seed),
    }


def human_correlations(rated: Sequence[RatedResponse], rater: Rater, seed: int) -> dict[str, Any]:
    """By metric and scenario, with people's ratings of statements and of responses; empty without any."""
    if not any(cited.human for one in rated for cited in one.response.statements):
        return {}
    levels = {"statements": _statement_points, "responses": _response_points}

    def agreement(level: str, metric: str, scenario: str) -> dict[str, Any]:
        points = (levels[level](one, metric, scenario, rater.scale) for one in rated)
        return correlations(list(chain.from_iterable(points)), seed)

    return {
        metric: {scenario: {level: agreement(level, metric, scenario) for level in levels} for scenario in SCENARIOS}
        for metric in rater.metrics
    }


def _statement_points(rated: RatedResponse, metric: str, scenario: str, scale: tuple[float, float]) -> list[Point]:
    """Two ratings of each statement that people rated; where it needs no citation, or in Cited has none, its response's
    rating stands in, as paper 3's program has it."""
    overall, people = response_rating(rated, metric, scenario, scale)[0], _people(rated, scenario)
    points = []
    for cited, statement in rated.pairs:
        if cited.human is None or not cited.human.ratings:
            continue
        counts = scenario == "full" or cited.cites
        value = statement.ratings[metric] if counts and statement.applicable is not False else overall
        theirs = cited.human.rating if counts and cited.human.rating is not None else people
        if value is not None and theirs is not None:
            points.append((rated.response.id, value, theirs))
    return points


def _response_points(rated: RatedResponse, metric: str, scenario: str, scale: tuple[float, float]) -> list[Point]:
    """The response's rating and people's mean rating, where there are both."""
    value, people = response_rating(rated, metric, scenario, scale)[0], _people(rated, scenario)
    return [] if value is None or people is None else [(rated.response.id, value, people)]


def _people(rated: RatedResponse, scenario: str) -> float | None:
    """The mean of people's ratings of a response's statements, in Cited of those that cite."""
    ratings = [
        cited.human.rating
        for cited in rated.response.statements
        if cited.human and cited.human.rating is not None and (scenario == "full" or cited.cites)
    ]
    return sum(ratings) / len(ratings) if ratings else None


def correlations(points: Sequence[Point], seed: int) -> dict[str, Any]:
    """`n`, and Pearson, Spearman and Kendall (tau-b), intervals by bootstrap over questions; null where undefined."""
    units = [unit for unit, _, _ in points]
    x, y = (np.array([point[i] for point in points]) for i in (1, 2))
    sampled = resamples(units, seed=seed)
    weights = sampled.weights[:, sampled.of(units)]
    measures = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
    enough = len(points) > 2  # two points always lie on a line
    return {"n": len(points)} | {
        name: as_json(estimate(measure(x, y, weights) if enough else np.full(len(weights), np.nan)), "value")
        for name, measure in measures.items()
    }


def attribution(rated: Sequence[RatedResponse]) -> dict[str, Any] | None:
    """Precision, recall and F1 of "needs citations" against people's contexts (retrieval or not); None without any."""
    judged = [
        (cited.human.context == "retrieval", statement.applicable)
        for one in rated
        for cited, statement in one.pairs
        if cited.human and cited.human.context is not None
    ]
    if not judged:
        return None
    known = [(gold, applicable) for gold, applicable in judged if applicable is not None]
    c = count([gold for gold, _ in known], [applicable for _, applicable in known])
    return {"n": c.n, "unscored": len(judged) - len(known), **prf(c.tp, c.fp, c.fn), "counts": asdict(c)}
