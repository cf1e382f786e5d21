"""A rater without an LLM: the edits of paper 3 derived from a verifier's scores, rated by penalties.

All premises of all statements go to the verifier in one call a level: each document alone, the cited ones together,
these without each one of them, with each other document, and with each other in the place of each one; the question
and the earlier statements, for the context. A premise's support is full or partial where its score reaches the level's
threshold, else none. A cited document supports a part, too, where it does more for the cited ones together than any
other document would in its place.

| edit | where |
|---|---|
| misleading | a cited document that supports nothing of the statement |
| redundant | a cited document that supports a part, where the others support all of it; also a third that does alone |
| evidence | what is cited supports a part or nothing, and an uncited document makes it full (else: gives a part) |
| substandard, refinement | the cited documents support only a part each, and an uncited one supports all of it alone |
| credibility | one cited document supports it alone, and so does an uncited one: a second, independent source |

A second cited document that supports the statement alone is never redundant: else the edits would ask for what they
delete. Edits are of one pass; what they leave may call for others.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from citeverifier.cost import Cost
from citeverifier.data.pair_recipes import APART
from citeverifier.metrics.decisions import best_threshold
from citeverifier.rating.base import (
    HIGHEST,
    LOWEST,
    Cited,
    Context,
    Edit,
    Judged,
    Rated,
    Response,
    needs_citations,
    statements_of,
)
from citeverifier.rating.penalties import Penalties
from citeverifier.rating.reading import from_example
from citeverifier.records import Document, Example, Pair, Support, write_jsonl
from citeverifier.verifiers.base import Scorer

METRIC = "local"
_PARTS = 2  # documents that are named where no support is cited and none gives all of it
_INDEPENDENT = 2  # documents that support a statement alone, worth citing

Premise = tuple[int, ...] | str
QUESTION, EARLIER = "question", "earlier"


@dataclass(frozen=True, slots=True)
class Grade:
    """How far a premise supports a statement, and P(full), which orders premises of one level."""

    level: Support
    full: float


class LocalRater:
    """Rates by any Scorer.

    Args:
        verifier: the Scorer.
        thresholds: where a score reaches a level.
        penalties: their weights.
        attribution: whether statements that rest on no document are masked.
    """

    low, high = LOWEST, HIGHEST
    metrics = (METRIC,)

    def __init__(
        self, verifier: Scorer, thresholds: Mapping[Support, float], penalties: Penalties, attribution: bool
    ) -> None:
        self.verifier, self.thresholds, self.penalties = verifier, thresholds, penalties
        self.attribution = attribution
        self.name = f"{METRIC} ({verifier.name})"
        self.cost = Cost()

    def rate(self, responses: Sequence[Response], folder: Path) -> list[Rated]:
        """Scores, contexts, edits, ratings; leaves the grades of all premises in support.jsonl."""
        grades, reasons = self._grades(responses)
        write_jsonl(folder / "support.jsonl", _rows(responses, grades, reasons))
        rated = []
        for response in responses:
            judged = [
                self._judged(response, number, grades[response.key, number], reasons.get((response.key, number)))
                for number in range(len(response.statements))
            ]
            rated.append(Rated(response, tuple(judged)))
        return rated

    def _grades(
        self, responses: Sequence[Response]
    ) -> tuple[dict[tuple[str, int], dict[Premise, Grade]], dict[tuple[str, int], str]]:
        """By response and statement: the grade of each premise; and why a statement has unscored ones."""
        asked = [
            (response, number, premise)
            for response, number, statement in statements_of(responses)
            for premise in _premises(response, number, statement)
        ]
        pairs = [_pair(*question) for question in asked]
        started = time.monotonic()
        values = {}
        reasons: dict[tuple[str, int], str] = {}
        for level in (Support.PARTIAL, Support.FULL):
            scores = self.verifier.score(pairs, level)
            values[level] = scores.values
            for i, reason in scores.reasons.items():
                reasons[asked[i][0].key, asked[i][1]] = reason
            self.cost += scores.cost
        self.cost += Cost(seconds=time.monotonic() - started)
        grades: dict[tuple[str, int], dict[Premise, Grade]] = {
            (response.key, number): {} for response, number, _ in statements_of(responses)
        }
        for (response, number, premise), partial, full in zip(
            asked, values[Support.PARTIAL].tolist(), values[Support.FULL].tolist(), strict=True
        ):
            if full >= self.thresholds[Support.FULL]:
                level = Support.FULL
            else:
                level = Support.PARTIAL if partial >= self.thresholds[Support.PARTIAL] else Support.NONE
            grades[response.key, number][premise] = Grade(level, full)
        return grades, reasons

    def _judged(self, response: Response, number: int, grades: Mapping[Premise, Grade], reason: str | None) -> Judged:
        statement = response.statements[number]
        if reason is not None:
            return Judged(None, None, None, {METRIC: None}, {METRIC: reason})
        context = context_of(grades, len(response.documents))
        if not needs_citations(statement, context, self.attribution):
            return Judged(context, False, ratings={METRIC: None})
        edits = edits_of(statement, grades, len(response.documents))
        return Judged(context, True, edits, {METRIC: self.penalties.rating(edits)})


def fit_levels(verifier: Scorer, examples: Sequence[Example], source: str) -> dict[Support, float]:
    """Thresholds in the form in which the rater asks, by balanced accuracy on dev examples.

    Partial: a statement against each document alone, true of those that it cites. Full: against all that it cites,
    true; against one of two that hold a half each, false. Raises ValueError where examples lack either.
    """
    partial: list[tuple[Pair, bool]] = []
    full: list[tuple[Pair, bool]] = []
    for example in examples:
        response = from_example(example, "dev")
        for number, statement in enumerate(example.statements):
            cited = tuple(sorted(statement.citations))
            if not cited:
                continue
            partial += [(_pair(response, number, (i,)), i in cited) for i in range(len(example.documents))]
            full.append((_pair(response, number, cited), True))
            if len(cited) > 1 and statement.kind in APART:
                full += [(_pair(response, number, (i,)), False) for i in cited]
    fitted = {}
    for level, asked in ((Support.PARTIAL, partial), (Support.FULL, full)):
        values = verifier.score([pair for pair, _ in asked], level).values
        scored = ~np.isnan(values)
        fitted[level] = best_threshold(np.array([gold for _, gold in asked], dtype=bool)[scored], values[scored])
        if np.isnan(fitted[level]):
            raise ValueError(
                f"{source}: expected dev examples with cited and uncited documents and with statements of two halves, "
                f"came none for level {level.label}; name others with fit=[...]"
            )
    return fitted


def context_of(grades: Mapping[Premise, Grade], count: int) -> Context:
    """Where a statement comes from.

    The question or the earlier statements where they say all of it and no document supports it better; else the
    documents where any supports at least a part; else the model.
    """
    best = max(grades[i,].full for i in range(count))
    others: list[tuple[str, Context]] = [(QUESTION, "query"), (EARLIER, "response")]
    for premise, context in others:
        grade = grades.get(premise)
        if grade is not None and grade.level is Support.FULL and grade.full >= best:
            return context
    return "retrieval" if any(grades[i,].level > Support.NONE for i in range(count)) else "model"


def edits_of(statement: Cited, grades: Mapping[Premise, Grade], count: int) -> tuple[Edit, ...]:
    """The edits that a statement's citations need, by the table above. Dangling numbers are misleading."""
    cited, others = statement.citations, [i for i in range(count) if i not in statement.citations]
    alone = {i: grades[i,] for i in range(count)}
    kept = [i for i in cited if alone[i].level > Support.NONE or _adds(i, cited, others, grades)]
    edits = [Edit("misleading", i) for i in cited if i not in kept]
    edits += [Edit("misleading", number - 1) for number in statement.dangling]
    whole = _whole(cited, kept, grades)
    single = _ordered((i for i in kept if alone[i].level is Support.FULL), alone)
    better = _ordered((i for i in others if alone[i].level is Support.FULL), alone)
    if not kept:
        parts = _ordered((i for i in others if alone[i].level is Support.PARTIAL), alone)
        return (*edits, *(Edit("evidence", i) for i in better[:1] or parts[:_PARTS]))
    if not single and better:
        return (*edits, *(Edit("substandard", i) for i in kept), Edit("refinement", better[0]))
    if not single and whole < Support.FULL:
        with_each = {i: grades[_with(cited, i)] for i in others}
        lifting = _ordered((i for i in others if with_each[i].level is Support.FULL), with_each)
        return (*edits, *(Edit("evidence", i) for i in lifting[:1]))
    if single:
        spare = [i for i in kept if i not in single[:_INDEPENDENT]]
        edits += [Edit("redundant", i) for i in spare]
        if len(single) < _INDEPENDENT:
            edits += [Edit("credibility", i) for i in better[:1]]
        return tuple(edits)
    spare = [i for i in kept if len(kept) > 1 and _whole(cited, [k for k in kept if k != i], grades) is Support.FULL]
    return (*edits, *(Edit("redundant", i) for i in _ordered(spare, alone)[-1:]))


def _adds(i: int, cited: Sequence[int], others: Sequence[int], grades: Mapping[Premise, Grade]) -> bool:
    """Whether a cited document does more for the cited ones together than any other would in its place."""
    if len(cited) < 2 or not others:
        return False
    whole = grades[tuple(sorted(cited))].full
    return all(whole > grades[_instead(cited, i, other)].full for other in others)


def _whole(cited: Sequence[int], kept: Sequence[int], grades: Mapping[Premise, Grade]) -> Support:
    """The support of what is kept; where that very premise was not asked about, of the smallest one that holds it."""
    known = [premise for premise in grades if not isinstance(premise, str) and set(kept) <= set(premise) <= set(cited)]
    return grades[min(known, key=len)].level if kept else Support.NONE


def _ordered(positions: Iterable[int], by: Mapping[int, Grade]) -> list[int]:
    """The positions, most surely full first."""
    return sorted(positions, key=lambda i: -by[i].full)


def _with(cited: Sequence[int], other: int) -> Premise:
    return tuple(sorted((*cited, other)))


def _instead(cited: Sequence[int], gone: int, other: int) -> Premise:
    return tuple(sorted((*(i for i in cited if i != gone), other)))


def _premises(response: Response, number: int, statement: Cited) -> list[Premise]:
    """What is asked about a statement, each premise once."""
    cited = tuple(sorted(statement.citations))
    documents = range(len(response.documents))
    asked: list[Premise] = [(i,) for i in documents]
    if cited:
        asked.append(cited)
        asked += [tuple(k for k in cited if k != i) for i in cited if len(cited) > 2]
        asked += [_with(cited, i) for i in documents if i not in cited]
        asked += [_instead(cited, gone, i) for gone in cited if len(cited) > 1 for i in documents if i not in cited]
    if response.question.strip():
        asked.append(QUESTION)
    if number:
        asked.append(EARLIER)
    return list(dict.fromkeys(asked))


def _pair(response: Response, number: int, premise: Premise) -> Pair:
    documents: tuple[Document, ...]
    if premise == QUESTION:
        documents = (Document("", response.question),)
    elif premise == EARLIER:
        documents = (Document("", " ".join(statement.text for statement in response.statements[:number])),)
    else:
        documents = tuple(response.documents[int(i)] for i in premise)
    statement = f"{response.key}/s{number}"
    name = premise if isinstance(premise, str) else "-".join(map(str, premise))
    return Pair(
        f"{statement}/{name}", response.key, statement, response.lang, response.key,
        response.statements[number].text, documents, "rating", context=response.question or None,
    )  # fmt: skip


def _rows(
    responses: Sequence[Response],
    grades: Mapping[tuple[str, int], Mapping[Premise, Grade]],
    reasons: Mapping[tuple[str, int], str],
) -> Iterable[dict[str, object]]:
    for response, number, _ in statements_of(responses):
        key = (response.key, number)
        yield {
            "id": response.key,
            "statement": number,
            "reason": reasons.get(key),
            "premises": [
                {
                    "premise": premise if isinstance(premise, str) else list(premise),
                    "support": grade.level.label,
                    "full": None if grade.full != grade.full else round(grade.full, 6),
                }
                for premise, grade in grades[key].items()
            ],
        }
