"""A rater without an LLM: edits derived from a verifier's scores (`edits_by_support.py`), rated by penalties.

All premises of all statements go to the verifier in one call a level. A premise's support is full or partial where its
score reaches the level's threshold, else none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from citeverifier.cost import Cost
from citeverifier.data.pair_recipes import APART
from citeverifier.evaluation.thresholds import DevQuestion
from citeverifier.rating.edits_by_support import (
    EARLIER,
    QUESTION,
    Grade,
    Premise,
    context_of,
    edits_of,
    premises_of,
)
from citeverifier.rating.rating_from_edits import Penalties
from citeverifier.rating.responses import RatedResponse, RatedStatement, Rater, Response, statements_of
from citeverifier.records import LEVELS, Document, Example, Pair, Support, write_jsonl
from citeverifier.verifiers.base import Scorer

METRIC = "local"

StatementKey = tuple[str, int]  # of a response, and the statement's number in it


class VerifierRater(Rater):
    """Rates by any Scorer.

    Args:
        verifier: the Scorer.
        thresholds: where a score reaches a level.
        penalties: their weights.
        attribution: whether statements that rest on no document are masked.
    """

    metrics = (METRIC,)

    def __init__(
        self, verifier: Scorer, thresholds: Mapping[Support, float], penalties: Penalties, attribution: bool
    ) -> None:
        super().__init__(f"{METRIC} ({verifier.name})")
        self.verifier, self.thresholds, self.penalties = verifier, thresholds, penalties
        self.attribution, self.dry_run = attribution, verifier.dry_run

    def settings(self) -> dict[str, Any]:
        """Penalties, thresholds, whether statements are attributed."""
        return {
            "penalties": {"source": self.penalties.source, "weights": dict(self.penalties.weights)},
            "thresholds": {level.label: value for level, value in self.thresholds.items()},
            "attribution": self.attribution,
        }

    def rate(self, responses: Sequence[Response], folder: Path) -> list[RatedResponse]:
        """Scores, contexts, edits, ratings; leaves the grades of all premises in support.jsonl."""
        grades, reasons = self._grades(responses)
        write_jsonl(folder / "support.jsonl", (_row(key, grades[key], reasons.get(key)) for key in grades))
        return [
            RatedResponse(
                response,
                tuple(
                    self._rated(response, number, grades[response.key, number], reasons.get((response.key, number)))
                    for number in range(len(response.statements))
                ),
            )
            for response in responses
        ]

    def _grades(
        self, responses: Sequence[Response]
    ) -> tuple[dict[StatementKey, dict[Premise, Grade]], dict[StatementKey, str]]:
        """The grade of each premise of each statement; and why a statement has unscored ones."""
        asked = [
            (response, number, premise)
            for response, number, statement in statements_of(responses)
            for premise in premises_of(
                statement, len(response.documents), question=bool(response.question.strip()), earlier=number > 0
            )
        ]
        pairs = [_pair(*question) for question in asked]
        started = time.monotonic()
        partial, full = (self.verifier.score(pairs, level) for level in LEVELS)
        self.cost += partial.cost + full.cost + Cost(seconds=time.monotonic() - started)
        reasons = {
            (asked[i][0].key, asked[i][1]): reason for scores in (partial, full) for i, reason in scores.reasons.items()
        }
        grades: dict[StatementKey, dict[Premise, Grade]] = {
            (r.key, number): {} for r, number, _ in statements_of(responses)
        }
        for (response, number, premise), p_partial, p_full in zip(
            asked, partial.values.tolist(), full.values.tolist(), strict=True
        ):
            level = Support.PARTIAL if p_partial >= self.thresholds[Support.PARTIAL] else Support.NONE
            level = Support.FULL if p_full >= self.thresholds[Support.FULL] else level
            grades[response.key, number][premise] = Grade(level, p_full)
        return grades, reasons

    def _rated(
        self, response: Response, number: int, grades: Mapping[Premise, Grade], reason: str | None
    ) -> RatedStatement:
        statement, count = response.statements[number], len(response.documents)
        if reason is not None:
            return RatedStatement(None, None, None, {METRIC: None}, {METRIC: reason})
        context = context_of(grades, count)
        if not statement.needs_citations(context, self.attribution):
            return RatedStatement(context, False, ratings={METRIC: None})
        edits = edits_of(statement, grades, count)
        return RatedStatement(context, True, edits, {METRIC: self.penalties.rating(edits)})


def rating_questions(examples: Sequence[Example]) -> list[DevQuestion]:
    """What thresholds are fitted on: questions of the form in which the rater asks.

    Partial: a statement against each document alone, true of those that it cites. Full: against all that it cites,
    true; against one of two that hold a half each, false.
    """
    questions = []
    for example in examples:
        response = Response.from_example(example, "dev")
        for number, statement in enumerate(example.statements):
            cited = tuple(sorted(statement.citations))
            if not cited:
                continue
            questions += [
                DevQuestion(_pair(response, number, (i,)), Support.PARTIAL, i in cited)
                for i in range(len(example.documents))
            ]
            questions.append(DevQuestion(_pair(response, number, cited), Support.FULL, True))
            if len(cited) > 1 and statement.kind in APART:
                questions += [DevQuestion(_pair(response, number, (i,)), Support.FULL, False) for i in cited]
    return questions


def _pair(response: Response, number: int, premise: Premise) -> Pair:
    documents: Iterable[Document]
    if premise == QUESTION:
        documents = [Document("", response.question)]
    elif premise == EARLIER:
        documents = [Document("", " ".join(statement.text for statement in response.statements[:number]))]
    else:
        documents = [response.documents[int(i)] for i in premise]
    statement = f"{response.key}/s{number}"
    name = premise if isinstance(premise, str) else "-".join(map(str, premise))
    return Pair(
        f"{statement}/{name}", response.key, statement, response.lang, response.key,
        response.statements[number].text, tuple(documents), "rating", context=response.question or None,
    )  # fmt: skip


def _row(key: StatementKey, grades: Mapping[Premise, Grade], reason: str | None) -> dict[str, Any]:
    """A line of support.jsonl."""
    premises = [
        {
            "premise": premise if isinstance(premise, str) else list(premise),
            "support": grade.level.label,
            "full": None if math.isnan(grade.full) else round(grade.full, 6),
        }
        for premise, grade in grades.items()
    ]
    return {"id": key[0], "statement": key[1], "reason": reason, "premises": premises}
