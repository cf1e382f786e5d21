"""From rated statements to ratings of responses: the lines of ratings.jsonl.

Scenarios of paper 3: *Full* rates every statement that needs citations, one without any included; *Cited* those that
cite something. A response's rating is the mean of its statements'. Statements that need no citation are masked. Where a
statement that counts is unscored, so is the response: leaving it out would rate what was easy to judge.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from citeverifier.rating.responses import SCENARIOS, CitedStatement, RatedResponse, RatedStatement, Rater, Read


def response_rating(rated: RatedResponse, metric: str, scenario: str, scale: tuple[float, float]) -> Read[float]:
    """A response's rating, or why there is none.

    `scale`: lowest and highest rating. Where no statement needs a citation, nothing is wrong: the highest. In Cited, a
    response that needs citations and gives none: the lowest.
    """
    if not rated.statements:
        return None, "the answer has no statements"
    unknown = sum(statement.applicable is None for statement in rated.statements)
    if unknown:
        return None, f"not known of {unknown} of {len(rated.statements)} statements whether they need citations"
    needing = [(cited, statement) for cited, statement in rated.pairs if statement.applicable]
    if not needing:
        return scale[1], None
    if scenario == "cited":
        needing = [(cited, statement) for cited, statement in needing if cited.cites]
        if not needing:
            return scale[0], None
    known = [value for _, statement in needing if (value := statement.ratings[metric]) is not None]
    if len(known) < len(needing):
        return None, f"{len(needing) - len(known)} of {len(needing)} statements are unscored"
    overall = rated.overall.get(scenario, {})
    return (overall[metric] if metric in overall else sum(known) / len(known)), None


def missing_ratio(rated: RatedResponse) -> float | None:
    """The share of the statements that need citations which have none; None where none needs any."""
    needing = [cited for cited, statement in rated.pairs if statement.applicable]
    return sum(not cited.cites for cited in needing) / len(needing) if needing else None


def rating_row(rated: RatedResponse, rater: Rater) -> dict[str, Any]:
    """A line of ratings.jsonl."""
    ratings: dict[str, Any] = {metric: {} for metric in rater.metrics}
    reasons: dict[str, str] = {}
    for metric in rater.metrics:
        for scenario in SCENARIOS:
            value, reason = response_rating(rated, metric, scenario, rater.scale)
            ratings[metric][scenario] = _rounded(value)
            if reason is not None:
                reasons[f"{metric}.{scenario}"] = reason
    response = rated.response
    named = {"id": response.id, "lang": response.lang, "system": response.system}
    statements = [_statement_row(cited, statement) for cited, statement in rated.pairs]
    return {**named, "ratings": ratings, "reasons": reasons, "statements": statements}


def _statement_row(cited: CitedStatement, rated: RatedStatement) -> dict[str, Any]:
    return {
        "text": cited.text,
        "citations": cited.citations,
        "dangling": cited.dangling,
        "context": rated.context,
        "needs_citations": rated.applicable,
        "edits": None if rated.edits is None else [asdict(edit) for edit in rated.edits],
        "ratings": {metric: _rounded(value) for metric, value in rated.ratings.items()},
        "reasons": dict(rated.reasons),
        "human": cited.human.rating if cited.human else None,
        "human_edits": [[asdict(edit) for edit in edits] for edits in cited.human.edits] if cited.human else None,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
