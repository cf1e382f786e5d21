"""Reading an answer as it comes: which factual points are closed, and what of the text may be passed on already.

A point closes where its markers cannot change any more: at the first sign behind them that is neither a marker nor
punctuation ("... long [1]. The" closes at "T"); at the end of the line where the whole line must be known (a marker
that leads it, a table, code or emphasis that is still open); or at the end of the answer. Where that is depends on the
text alone, so that an answer reads the same in whatever chunks it comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from citeverifier.text.answer_reading import FactualPoint, ReadAnswer, read_answer
from citeverifier.text.markers import SPACES, Marker, find_markers, may_begin_marker

_BEHIND = frozenset(SPACES + ".,;:!?…)\"'”’»*_")  # what may follow the markers of a point
_OPENING = frozenset("[【")


@dataclass(frozen=True, slots=True)
class Closing:
    """Points that closed together: `answer` is the text so far, read; `points` those of its points that are new.

    What they and the words before them are is `answer.text[start:]`; before `start` all is decided.
    """

    answer: ReadAnswer
    start: int
    points: tuple[int, ...]

    @property
    def asked(self) -> tuple[FactualPoint, ...]:
        """The new points."""
        return tuple(self.answer.points[i] for i in self.points)


class PointReader:
    """Takes an answer in chunks; `count` documents may be cited."""

    def __init__(self, count: int, lang: str) -> None:
        self.count, self.lang = count, lang
        self.text = ""
        self.closed = 0  # everything before is decided
        self._ended = False
        self._seen = 0  # no marker begins between `closed` and here

    def feed(self, chunk: str, *, last: bool = False) -> Iterator[Closing]:
        """The closings that the chunk brings; `last` says that the answer ends with it."""
        self.text += chunk
        self._ended = last
        markers = find_markers(self.text[self._seen :], self.count)
        offset = self._seen
        for marker in markers:
            start = offset + marker.start
            if start < self.closed:
                continue
            end = self._end(start, offset + marker.end, last)
            if end is None:
                self._seen = start
                return
            yield self._closing(start, end)
        self._seen = self._held()

    @property
    def free(self) -> int:
        """Up to where the text can be passed on as it is: before the first marker that is open or may begin, and the
        spaces before that; all of it when the answer has ended."""
        if self._ended:
            return len(self.text)
        place = self._seen
        while place > self.closed and self.text[place - 1] in SPACES:
            place -= 1
        return place

    def _closing(self, start: int, end: int) -> Closing:
        answer = read_answer(self.text[:end], self.count, self.lang)
        points = tuple(i for i, point in enumerate(answer.points) if point.run and point.run.start >= start)
        closing = Closing(answer, self.closed, points)
        self.closed = self._seen = end
        return closing

    def _held(self) -> int:
        """Where a marker may begin at the end of the text, else the text's end."""
        place = max(self.text.rfind(sign, self.closed) for sign in _OPENING)
        return place if place >= 0 and may_begin_marker(self.text[place:]) else len(self.text)

    def _end(self, start: int, end: int, last: bool) -> int | None:
        """Where the point of a marker `text[start:end]` closes; None where that is yet to come."""
        text = self.text
        line = text.rfind("\n", 0, start) + 1
        if _needs_line(text[line:start]):
            newline = text.find("\n", end)
            return newline if newline >= 0 else len(text) if last else None
        place = end
        while place < len(text):
            marker = _marker_at(text, place) if text[place] in _OPENING else None
            if marker is not None:
                end = place = place + marker.end
            elif place == end and text[place] == "(":  # perhaps a link's target
                closing = re.compile(r"[)\n]").search(text, place)
                if closing is None:
                    return len(text) if last else None
                return closing.end() if closing.group() == ")" else closing.start()
            elif text[place] in _OPENING and not last and may_begin_marker(text[place:]):
                return None
            elif text[place] in _BEHIND:
                place += 1
            else:
                return place
        return place if last else None


def _marker_at(text: str, place: int) -> Marker | None:
    """The marker that begins there."""
    close = min((at for sign in "]】" if (at := text.find(sign, place)) >= 0), default=-1)
    markers = find_markers(text[place : close + 1], 0) if close >= 0 else ()
    return markers[0] if markers and markers[0].start == 0 else None


def _needs_line(before: str) -> bool:
    """Whether a marker behind this beginning of a line can be read only with the whole line."""
    if not re.search(r"[^\W\d_]", before) or before.lstrip(" \t>").startswith("|"):
        return True
    bare = re.sub(r"\[[^\[\]]*\]", "", before)
    return before.count("`") % 2 == 1 or before.count("**") % 2 == 1 or "[" in bare or bare.rfind("<") > bare.rfind(">")
