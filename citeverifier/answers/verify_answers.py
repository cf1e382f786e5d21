"""Verifying answers: what the cited documents support, what is cited in vain, what could be cited, where it says so.

All statements of all answers are asked together: their cited documents as a whole and one by one, then what only some
of them need (other documents, leaving a citation out, sentences, phrases), each in one call to the scorer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TypeVar

from citeverifier.answers.answer_record import AnswerRecord
from citeverifier.answers.answer_results import (
    CitationResult,
    EvidenceSentence,
    Judgement,
    MissingCitation,
    StatementResult,
    VerifiedAnswer,
)
from citeverifier.answers.judging import Judge
from citeverifier.answers.phrases import phrases, trimmed, without
from citeverifier.records import Document, Pair, Support
from citeverifier.text.answer_reading import ReadAnswer, ReadStatement
from citeverifier.text.markers import Span, sentence_spans
from citeverifier.text.sentences import sentences

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")


@dataclass(eq=False)
class _Item:
    """A statement at work; `alone` and `evidence` by document, `completing` and `superfluous` hold documents."""

    record: AnswerRecord
    read: ReadAnswer
    statement: ReadStatement
    whole: Judgement
    alone: dict[int, Judgement] = field(default_factory=dict)
    completing: set[int] = field(default_factory=set)
    superfluous: set[int] = field(default_factory=set)
    evidence: dict[int, EvidenceSentence] = field(default_factory=dict)
    unsupported: Span | None = None

    @property
    def cited(self) -> tuple[int, ...]:
        return self.statement.positions

    @property
    def others(self) -> list[int]:
        """The documents that it does not cite, where there is something left to support."""
        if self.cited and self.whole.support in (None, Support.FULL):
            return []
        return [i for i in range(len(self.record.documents)) if i not in self.cited]

    @property
    def missing(self) -> list[int]:
        """The uncited documents that support at least a part, or complete the cited ones; best first."""
        helping = [i for i in self.others if i in self.completing or _at_least_partial(self.alone[i])]
        return sorted(helping, key=lambda i: -(self.alone[i].p_partial or 0.0))

    @property
    def kept(self) -> list[int]:
        """The citations that are not superfluous, as far as is known."""
        return [i for i in self.cited if i not in self.superfluous]

    def ask(self, premise: Iterable[int | Document], text: str | None = None) -> Pair:
        """The statement, or another text, with documents of its answer or others."""
        documents = [self.record.documents[each] if isinstance(each, int) else each for each in premise]
        said = self.statement.text if text is None else text
        return Pair.of(said, documents, self.read.lang, kind="answer", context=self.record.question)


def verify_answers(records: Sequence[AnswerRecord], judge: Judge) -> list[VerifiedAnswer]:
    """One result an answer, in order."""
    reads = [record.read() for record in records]
    items = [
        [_Item(record, read, statement, _uncited(statement)) for statement in read.statements]
        for record, read in zip(records, reads, strict=True)
    ]
    every = [item for own in items for item in own]
    _judge_citations(every, judge)
    _find_missing(every, judge)
    _find_superfluous(every, judge)
    _find_evidence(every, judge)
    _find_unsupported(every, judge)
    return [
        VerifiedAnswer(
            record.answer,
            tuple(_result(item) for item in own),
            read.lang,
            record.id,
            tuple(dict.fromkeys(n for run in read.stray for n in (*(p + 1 for p in run.positions), *run.out_of_range))),
        )
        for record, read, own in zip(records, reads, items, strict=True)
    ]


def _uncited(statement: ReadStatement) -> Judgement:
    reason = "it cites no document that is there" if statement.out_of_range else "it cites nothing"
    return Judgement(Support.NONE, reason=reason)


def _together(ask: Callable[[list[Pair]], list[Answer]], questions: Mapping[Key, Pair]) -> dict[Key, Answer]:
    """The answers to named questions, asked at once."""
    return dict(zip(questions, ask(list(questions.values())), strict=True))


def _at_least_partial(judgement: Judgement) -> bool:
    return judgement.support is not None and judgement.support >= Support.PARTIAL


def _judge_citations(items: Sequence[_Item], judge: Judge) -> None:
    """What the cited documents support, together and alone."""
    alone = [(item, (i,)) for item in items for i in item.cited]
    premises = [*((item, item.cited) for item in items if item.cited), *alone]
    answers = _together(judge.judge, {(item, premise): item.ask(premise) for item, premise in premises})
    for item in items:
        if item.cited:
            item.whole = answers[item, item.cited]
            item.alone = {i: answers[item, (i,)] for i in item.cited}


def _find_missing(items: Sequence[_Item], judge: Judge) -> None:
    """What the other documents support, and which of them complete the cited ones."""
    alone = _together(judge.judge, {(item, i): item.ask([i]) for item in items for i in item.others})
    for (item, i), judgement in alone.items():
        item.alone[i] = judgement
    for item in items:
        if not item.cited:
            item.completing = {i for i in item.others if item.alone[i].support == Support.FULL}
    added = {(item, i): item.ask([*item.cited, i]) for item in items if item.cited for i in item.others}
    for (item, i), complete in _together(partial(judge.reaches, level=Support.FULL), added).items():
        if complete:
            item.completing.add(i)


def _find_superfluous(items: Sequence[_Item], judge: Judge) -> None:
    """Which citations a statement can do without: the weakest are left out first, one after the other.

    Of a fully supported statement any may go while support stays full; of a partly supported one those that support
    nothing by themselves, while it stays partial; where there is no support, all of these, unless a document that is
    missing needs them.
    """
    waiting: dict[_Item, list[int]] = {}
    for item in items:
        weakest = sorted(item.cited, key=lambda i: item.alone[i].p_partial or 0.0)
        useless = [i for i in weakest if item.alone[i].support == Support.NONE]
        if item.whole.support == Support.NONE:
            needed = any(item.alone[i].support != Support.FULL for i in item.completing)
            item.superfluous = set() if needed else set(useless)
        elif item.whole.support is not None and len(weakest) > 1:
            waiting[item] = weakest if item.whole.support == Support.FULL else useless
    while waiting := {item: left for item, left in waiting.items() if left and len(item.kept) > 1}:
        for level in (Support.PARTIAL, Support.FULL):
            asked = [item for item in waiting if item.whole.support == level]
            rests = [item.ask(i for i in item.kept if i != waiting[item][0]) for item in asked]
            for item, holds in zip(asked, judge.reaches(rests, level), strict=True):
                if holds:
                    item.superfluous.add(waiting[item][0])
        waiting = {item: left[1:] for item, left in waiting.items()}


def _find_evidence(items: Sequence[_Item], judge: Judge) -> None:
    """The best sentence of each document that supports a statement, by itself or with others."""
    questions: dict[tuple[_Item, int, Span], Pair] = {}
    for item in items:
        carrying = item.kept if _at_least_partial(item.whole) else []
        supporting = [i for i, judgement in item.alone.items() if _at_least_partial(judgement)]
        for i in dict.fromkeys([*carrying, *supporting, *item.completing]):
            document = item.record.documents[i]
            for start, end in _sentences(document.text, item.read.lang):
                sentence = Document(document.title, document.text[start:end])
                questions[item, i, (start, end)] = item.ask([sentence])
    scored = _together(partial(judge.scores, level=Support.PARTIAL), questions)
    for (item, i, (start, end)), (score, _) in scored.items():
        if not math.isnan(score) and (i not in item.evidence or score > item.evidence[i].score):
            item.evidence[i] = EvidenceSentence(i, start, end, item.record.documents[i].text[start:end], score)


@lru_cache(maxsize=4096)
def _sentences(text: str, lang: str) -> list[Span]:
    return sentence_spans(text, sentences(text, lang))


def _find_unsupported(items: Sequence[_Item], judge: Judge) -> None:
    """Of each partly supported statement the phrase without which it is supported best."""
    questions: dict[tuple[_Item, Span], Pair] = {}
    for item in items:
        if item.whole.support == Support.PARTIAL:
            text = item.statement.text
            spans = phrases(text, item.read.lang)
            if len(spans) > 1:
                questions |= {(item, span): item.ask(item.cited, without(text, span)) for span in spans}
    best: dict[_Item, tuple[float, Span]] = {}
    for (item, span), (score, _) in _together(partial(judge.scores, level=Support.FULL), questions).items():
        if not math.isnan(score) and (item not in best or score > best[item][0]):
            best[item] = score, span
    for item, (_, span) in best.items():
        item.unsupported = item.read.span(item.statement, *trimmed(item.statement.text, span))


def _result(item: _Item) -> StatementResult:
    return StatementResult(
        item.statement.text,
        item.statement.start,
        item.statement.end,
        item.whole,
        tuple(CitationResult(i, item.alone[i], i in item.superfluous, item.evidence.get(i)) for i in item.cited),
        tuple(MissingCitation(i, item.alone[i], i in item.completing, item.evidence.get(i)) for i in item.missing),
        item.statement.out_of_range,
        item.unsupported,
    )
