"""Correcting an answer while it is being written: text passes at once, a marker as soon as its factual point closes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from citeverifier.answers.answer_results import Change
from citeverifier.answers.correction.method import CorrectionMethod
from citeverifier.answers.fixed_points import Claim, Count, check_count, decide
from citeverifier.answers.point_reader import Closing, PointReader
from citeverifier.records import Document
from citeverifier.text.answer_writing import write_answer
from citeverifier.verifiers.base import Listing


def stream(
    chunks: Iterable[str],
    documents: Sequence[Document],
    method: CorrectionMethod,
    *,
    lang: str,
    question: str | None = None,
    count: Count = "kept",
) -> Iterator[str]:
    """The corrected answer in chunks, together what `fix_answers` makes of the whole, however it was cut.

    Raises ValueError where `count` is nothing the method can do.
    """
    corrector = Corrector(documents, method, lang=lang, question=question, count=count)
    for chunk in chunks:
        if piece := corrector.feed(chunk):
            yield piece
    if piece := corrector.finish():
        yield piece


class Corrector:
    """One answer, corrected as it comes: `feed` its chunks, then `finish`; both give text that can be shown.

    `changes` has what became of each factual point that is closed.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        method: CorrectionMethod,
        *,
        lang: str,
        question: str | None = None,
        count: Count = "kept",
    ) -> None:
        check_count(method, count)
        self.documents, self.method, self.question, self.count = tuple(documents), method, question, count
        self.changes: list[Change] = []
        self._reader = PointReader(len(self.documents), lang)
        self._passed = 0  # of the original text

    def feed(self, chunk: str) -> str:
        """What can be shown now."""
        return self._correct(self.read(chunk))

    def finish(self) -> str:
        """What is left when the answer has ended."""
        return self._correct(self.read("", last=True))

    def _correct(self, closings: Sequence[Closing]) -> str:
        claims = self.claims(closings)
        return self.write(closings, iter(decide(claims, self.method, self.count)[0] if claims else []))

    # The steps of `feed`, apart, so that `fix_answers` can score the points of many answers at once.

    def read(self, chunk: str, *, last: bool = False) -> list[Closing]:
        """The points that the chunk closes."""
        return list(self._reader.feed(chunk, last=last))

    def claims(self, closings: Sequence[Closing]) -> list[Claim]:
        """What to ask about them."""
        return [
            Claim(Listing(points[0].text, self.documents, self._reader.lang, self.question), points)
            for closing in closings
            for _, same in groupby(closing.asked, key=lambda point: (point.start, point.end))
            if (points := tuple(same))
        ]

    def write(self, closings: Sequence[Closing], changes: Iterator[Change]) -> str:
        """The text that can be passed on now, with the new markers of the closings' points; takes a change a point."""
        pieces = []
        for closing in closings:
            citations: list[tuple[int, ...] | None] = [None] * len(closing.answer.points)
            for i, change in zip(closing.points, changes, strict=False):
                citations[i] = None if change.reason else change.after
                self.changes.append(change)
            pieces.append(write_answer(closing.answer, citations)[self._passed :])
            self._passed = len(closing.answer.text)
        free = max(self._passed, self._reader.free)
        pieces.append(self._reader.text[self._passed : free])
        self._passed = free
        return "".join(pieces)
