"""Correcting the citations of answers (paper 4). Only markers change; a point that cannot be scored keeps its own."""

from __future__ import annotations

from collections.abc import Sequence

from citeverifier.answers.answer_record import AnswerRecord
from citeverifier.answers.answer_results import RewrittenAnswer
from citeverifier.answers.correction.method import CorrectionMethod
from citeverifier.answers.fix_stream import Corrector
from citeverifier.answers.fixed_points import Count, decide
from citeverifier.cost import Cost


def fix_answers(
    records: Sequence[AnswerRecord], method: CorrectionMethod, count: Count = "kept"
) -> tuple[list[RewrittenAnswer], Cost]:
    """Each answer with the citations of its factual points corrected, and what that cost.

    The points of all answers are scored together. `count` "kept": a point cites as many documents as before; "free": as
    many as it needs. Raises ValueError where `count` is nothing the method can do.
    """
    correctors = [
        Corrector(record.documents, method, lang=record.language, question=record.question, count=count)
        for record in records
    ]
    closings = [corrector.read(record.answer, last=True) for corrector, record in zip(correctors, records, strict=True)]
    asked = zip(correctors, closings, strict=True)
    changes, cost = decide([claim for corrector, closed in asked for claim in corrector.claims(closed)], method, count)
    decided = iter(changes)
    fixed = []
    for record, corrector, closed in zip(records, correctors, closings, strict=True):
        text = corrector.write(closed, decided)
        fixed.append(RewrittenAnswer(record.answer, text, tuple(corrector.changes), record.language, record.id))
    return fixed, cost
