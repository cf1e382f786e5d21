"""Citing: documents for the statements of an answer that cite none."""

from __future__ import annotations

from collections.abc import Sequence

from citeverifier.answers.judging import Judge
from citeverifier.answers.records import AnswerRecord
from citeverifier.answers.results import Change, RewrittenAnswer
from citeverifier.answers.verify import read_record
from citeverifier.correction.support import BySupport
from citeverifier.text.answer_reading import ReadStatement
from citeverifier.text.answer_writing import write_answer
from citeverifier.verifiers.base import Listing, Selection


def cite_answers(records: Sequence[AnswerRecord], judge: Judge) -> list[RewrittenAnswer]:
    """Each answer with citations added to its uncited statements; what cites already stays as it is.

    A statement gets the one document that fully supports it, or the two that do together; else those that support a
    part of it; else none. All statements of all answers are asked together.
    """
    reads = [read_record(record) for record in records]
    uncited = [
        (number, statement)
        for number, (record, read) in enumerate(zip(records, reads, strict=True))
        for statement in read.statements
        if record.documents and not statement.runs
    ]
    chosen = dict(zip(uncited, _choose(records, [read.lang for read in reads], uncited, judge), strict=True))
    written = []
    for number, (record, read) in enumerate(zip(records, reads, strict=True)):
        citations: list[tuple[int, ...] | None] = []
        changes = []
        for statement in read.statements:
            selection = chosen.get((number, statement), Selection(()))
            if statement.runs:
                citations += [None] * len(statement.points)
                continue
            after = selection.positions or ()
            citations.append(after)
            score, why = max(selection.scores, default=None), selection.reason
            changes.append(Change(statement.text, statement.start, statement.end, (), after, score=score, reason=why))
        written.append(
            RewrittenAnswer(record.answer, write_answer(read, citations), tuple(changes), read.lang, record.id)
        )
    return written


def _choose(
    records: Sequence[AnswerRecord],
    langs: Sequence[str],
    uncited: Sequence[tuple[int, ReadStatement]],
    judge: Judge,
) -> list[Selection]:
    """A selection an uncited statement."""
    if not uncited:
        return []
    method = BySupport(judge.scorer, context=True, thresholds=judge.thresholds)
    return method.choose([Listing(s.text, records[i].documents, langs[i], records[i].question) for i, s in uncited])
