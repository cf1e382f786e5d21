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

from citeverifier.answers.answer_results import Judgement
from citeverifier.answers.judging import Judge
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
)  # fmt: skip
from citeverifier.rating.rating_from_edits import Penalties
from citeverifier.rating.responses import RatedResponse, RatedStatement, Rater, Response, statements_of
from citeverifier.records import LEVELS, Document, Example, Pair, Support, write_jsonl
from citeverifier.verifiers.base import Scorer

METRIC = "local"

StatementKey = tuple[str, int]  # of a response, and the statement's number in it
Judged = dict[StatementKey, dict[Premise, Judgement]]


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
        """Scores, contexts, edits, ratings; leaves the support of all premises in support.jsonl."""
        asked = [
            (response, number, premise)
            for response, number, statement in statements_of(responses)
            for premise in premises_of(
                statement, len(response.documents), question=bool(response.question.strip()), earlier=number > 0
            )
        ]
        judge = Judge(self.verifier, self.thresholds)
        started = time.monotonic()
        pairs = [_pair(*question) for question in asked]
        partial, full = (judge.scores(pairs, level) for level in LEVELS)
        judgements = [self._judgement(*low, *high) for low, high in zip(partial, full, strict=True)]
        self.cost += judge.cost + Cost(seconds=time.monotonic() - started)
        judged: Judged = {(r.key, number): {} for r, number, _ in statements_of(responses)}
        for (response, number, premise), judgement in zip(asked, judgements, strict=True):
            judged[response.key, number][premise] = judgement
        write_jsonl(folder / "support.jsonl", (_row(key, own) for key, own in judged.items()))
        return [
            RatedResponse(
                response,
                tuple(self._rated(response, n, judged[response.key, n]) for n in range(len(response.statements))),
            )
            for response in responses
        ]

    def _judgement(self, p_partial: float, why_partial: str | None, p_full: float, why_full: str | None) -> Judgement:
        reached = [level for level, p in zip(LEVELS, (p_partial, p_full), strict=True) if p >= self.thresholds[level]]
        full = None if math.isnan(p_full) else p_full
        reason = why_partial or why_full
        return Judgement(None if reason else max(reached, default=Support.NONE), None, full, reason)

    def _rated(self, response: Response, number: int, judged: Mapping[Premise, Judgement]) -> RatedStatement:
        statement, count = response.statements[number], len(response.documents)
        if reason := _reason(judged):
            return RatedStatement(None, None, None, {METRIC: None}, {METRIC: reason})
        grades = {premise: Grade(own.support or Support.NONE, own.p_full or 0.0) for premise, own in judged.items()}
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
    return Pair.of(
        response.statements[number].text, documents, response.lang, id=f"{statement}/{name}", example=response.key,
        statement_id=statement, kind="rating", context=response.question or None,
    )  # fmt: skip


def _reason(judged: Mapping[Premise, Judgement]) -> str | None:
    """Why a statement is unscored."""
    return next((own.reason for own in judged.values() if own.reason is not None), None)


def _row(key: StatementKey, judged: Mapping[Premise, Judgement]) -> dict[str, Any]:
    """A line of support.jsonl."""
    premises = [
        {
            "premise": premise if isinstance(premise, str) else list(premise),
            "support": None if own.support is None else own.support.label,
            "full": None if own.p_full is None else round(own.p_full, 6),
        }
        for premise, own in judged.items()
    ]
    return {"id": key[0], "statement": key[1], "reason": _reason(judged), "premises": premises}
