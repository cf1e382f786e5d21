"""Correcting the citations of answers (paper 4). Only markers change; a point that cannot be scored keeps its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citeverifier.correction.base import Method
from citeverifier.correction.points import Count, FixedPoint, decide
from citeverifier.correction.stream import Corrector
from citeverifier.cost import Cost
from citeverifier.records import Document


@dataclass(frozen=True, slots=True)
class FixedAnswer:
    """An answer with its citations corrected, and its factual points in order."""

    text: str
    points: tuple[FixedPoint, ...]


def fix(
    answers: Sequence[str],
    documents: Sequence[Sequence[Document]],
    method: Method,
    *,
    langs: Sequence[str],
    questions: Sequence[str | None] | None = None,
    count: Count = "kept",
) -> list[FixedAnswer]:
    """Correct each answer by its documents; the points of all answers are scored together.

    Args:
        answers: texts, Markdown or plain, with citation markers.
        documents: those that each answer may cite.
        method: scores documents for points.
        langs: each answer's language.
        questions: what each answer was given to, for methods that read it.
        count: "kept": a point cites as many documents as before; "free": as many as it needs.

    Raises:
        ValueError: lengths differ, or `count` is nothing the method can do.
    """
    return fix_counted(answers, documents, method, langs=langs, questions=questions, count=count)[0]


def fix_counted(
    answers: Sequence[str],
    documents: Sequence[Sequence[Document]],
    method: Method,
    *,
    langs: Sequence[str],
    questions: Sequence[str | None] | None = None,
    count: Count = "kept",
) -> tuple[list[FixedAnswer], Cost]:
    """`fix`, and what its calls cost."""
    asked = [None] * len(answers) if questions is None else questions
    lengths = {"documents": len(documents), "langs": len(langs), "questions": len(asked)}
    if wrong := [f"{n} {name}" for name, n in lengths.items() if n != len(answers)]:
        raise ValueError(f"expected one entry an answer ({len(answers)}), came {', '.join(wrong)}")
    correctors = [
        Corrector(own, method, lang=lang, question=question, count=count)
        for own, lang, question in zip(documents, langs, asked, strict=True)
    ]
    closed = [corrector.read(text, last=True) for corrector, text in zip(correctors, answers, strict=True)]
    claims = [[corrector.claims(c) for c in closings] for corrector, closings in zip(correctors, closed, strict=True)]
    decided, cost = decide([claim for of in claims for some in of for claim in some], method, count)
    fixed = iter(decided)
    made = []
    for corrector, closings, of in zip(correctors, closed, claims, strict=True):
        pieces = [
            corrector.write(closing, [point for _ in some for point in next(fixed)])
            for closing, some in zip(closings, of, strict=True)
        ]
        made.append(FixedAnswer("".join(pieces) + corrector.rest(), tuple(corrector.points)))
    return made, cost
