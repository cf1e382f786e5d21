"""The edits of paper 3 derived from how far premises support a statement; no LLM.

| edit | where |
|---|---|
| misleading | a cited document that supports nothing of the statement |
| redundant | a cited document that supports a part, where the others support all of it; also a third that does alone |
| evidence | what is cited supports a part or nothing, and an uncited document makes it full (else: gives a part) |
| substandard, refinement | the cited documents support only a part each, and an uncited one supports all of it alone |
| credibility | one cited document supports it alone, and so does an uncited one: a second, independent source |

A cited document supports a part, too, where it does more for the cited ones together than any other document would in
its place. A second cited document that supports the statement alone is never redundant: else the edits would ask for
what they delete. Edits are of one pass; what they leave may call for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from citeverifier.rating.responses import CitedStatement, Context, Edit
from citeverifier.records import Support

_PARTS = 2  # documents that are named where no support is cited and none gives all of it
_INDEPENDENT = 2  # documents that support a statement alone, worth citing
QUESTION, EARLIER = "question", "earlier"

Premise = tuple[int, ...] | str


@dataclass(frozen=True, slots=True)
class Grade:
    """How far a premise supports a statement, and P(full), which orders premises of one level."""

    level: Support
    full: float


def premises_of(statement: CitedStatement, count: int, *, question: bool, earlier: bool) -> list[Premise]:
    """What must be graded to edit a statement of a response with `count` documents, each premise once.

    Each document alone, the cited ones together, these without each one of them, with each other document, and with
    each other in the place of each one; for the context the question and the earlier statements, where there are any.
    """
    cited = tuple(sorted(statement.citations))
    others = [i for i in range(count) if i not in cited]
    premises: list[Premise] = [(i,) for i in range(count)]
    if cited:
        premises.append(cited)
        premises += [tuple(k for k in cited if k != i) for i in cited if len(cited) > 2]
        premises += [_with(cited, i) for i in others]
        premises += [_instead(cited, gone, i) for gone in cited if len(cited) > 1 for i in others]
    premises += [QUESTION] * question + [EARLIER] * earlier
    return list(dict.fromkeys(premises))


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


def edits_of(statement: CitedStatement, grades: Mapping[Premise, Grade], count: int) -> tuple[Edit, ...]:
    """The edits that a statement's citations need, by the table above. Dangling numbers are misleading."""
    cited, others = statement.citations, [i for i in range(count) if i not in statement.citations]
    alone = {i: grades[i,] for i in range(count)}
    kept = [i for i in cited if alone[i].level > Support.NONE or _adds(i, cited, others, grades)]
    edits = [Edit("misleading", i) for i in cited if i not in kept]
    edits += [Edit("misleading", number - 1) for number in statement.dangling]
    single = _surest_first((i for i in kept if alone[i].level is Support.FULL), alone)
    better = _surest_first((i for i in others if alone[i].level is Support.FULL), alone)
    if not kept:
        parts = _surest_first((i for i in others if alone[i].level is Support.PARTIAL), alone)
        return (*edits, *(Edit("evidence", i) for i in better[:1] or parts[:_PARTS]))
    if single:
        edits += [Edit("redundant", i) for i in kept if i not in single[:_INDEPENDENT]]
        edits += [Edit("credibility", i) for i in better[:1] if len(single) < _INDEPENDENT]
        return tuple(edits)
    if better:
        return (*edits, *(Edit("substandard", i) for i in kept), Edit("refinement", better[0]))
    if _whole(cited, kept, grades) < Support.FULL:
        with_each = {i: grades[_with(cited, i)] for i in others}
        lifting = _surest_first((i for i in others if with_each[i].level is Support.FULL), with_each)
        return (*edits, *(Edit("evidence", i) for i in lifting[:1]))
    spare = [i for i in kept if len(kept) > 1 and _whole(cited, [k for k in kept if k != i], grades) is Support.FULL]
    return (*edits, *(Edit("redundant", i) for i in _surest_first(spare, alone)[-1:]))


def _adds(i: int, cited: Sequence[int], others: Sequence[int], grades: Mapping[Premise, Grade]) -> bool:
    """Whether a cited document does more for the cited ones together than any other would in its place."""
    if len(cited) < 2 or not others:
        return False
    whole = grades[tuple(sorted(cited))].full
    return all(whole > grades[_instead(cited, i, other)].full for other in others)


def _whole(cited: Sequence[int], kept: Sequence[int], grades: Mapping[Premise, Grade]) -> Support:
    """The support of what is kept; where that very premise was not graded, of the smallest one that holds it."""
    known = [premise for premise in grades if not isinstance(premise, str) and set(kept) <= set(premise) <= set(cited)]
    return grades[min(known, key=len)].level


def _surest_first(positions: Iterable[int], grades: Mapping[int, Grade]) -> list[int]:
    """The positions, most surely full first."""
    return sorted(positions, key=lambda i: -grades[i].full)


def _with(cited: Sequence[int], other: int) -> Premise:
    return tuple(sorted((*cited, other)))


def _instead(cited: Sequence[int], gone: int, other: int) -> Premise:
    return tuple(sorted((*(i for i in cited if i != gone), other)))
