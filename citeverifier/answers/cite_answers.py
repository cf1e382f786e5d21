"""Citing: documents for the statements of an answer that cite none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citeverifier.answers.answer_record import AnswerRecord
from citeverifier.answers.answer_results import Change, RewrittenAnswer
from citeverifier.answers.correction.method import CorrectionMethod
from citeverifier.text.answer_writing import write_answer
from citeverifier.verifiers.base import Listing, Selection


def cite_answers(records: Sequence[AnswerRecord], method: CorrectionMethod) -> list[RewrittenAnswer]:
    """Each answer with citations added to its uncited statements; what cites already stays as it is.

    A statement gets the documents that the method chooses for it, none where nothing supports it. All statements of all
    answers are asked together.
    """
    reads = [record.read() for record in records]
    uncited = [
        (number, statement)
        for number, (record, read) in enumerate(zip(records, reads, strict=True))
        for statement in read.statements
        if record.documents and not statement.runs
    ]
    listings = [
        Listing(statement.text, records[number].documents, reads[number].lang, records[number].question)
        for number, statement in uncited
    ]
    chosen = dict(zip(uncited, method.choose(listings) if listings else [], strict=True))
    written = []
    for number, (record, read) in enumerate(zip(records, reads, strict=True)):
        citations: list[tuple[int, ...] | None] = []
        changes = []
        for statement in read.statements:
            if statement.runs:
                citations += [None] * len(statement.points)
                continue
            selection = chosen.get((number, statement), Selection(()))
            after = selection.positions or ()
            citations.append(after)
            change = Change(statement.text, statement.start, statement.end, (), after, scores=selection.scores)
            changes.append(replace(change, score=max(change.scores, default=None), reason=selection.reason))
        text = write_answer(read, citations)
        written.append(RewrittenAnswer(record.answer, text, tuple(changes), read.lang, record.id))
    return written
