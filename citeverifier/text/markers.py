"""Citation markers in a text: where they stand, what they point to, and the text without them.

Known: `[1]`, `[1,2]`, `[1][2]`, `[1, 2-4]`, `[Doc 1]`, `【1】`, `[1†source]`, `【4:0†source】`; before or after the
full stop. Markers are taken out *before* sentences are split, with their offsets, so that a splitter sees plain prose
and every place in the plain text is known in the original.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from citeverifier.text.sentences import sentences

_NUMBER = r"(?:(?:doc(?:ument)?|dok(?:ument)?|source|źródło)\.?\s*)?\d{1,3}"
_ITEM = rf"{_NUMBER}(?:\s*[-–—]\s*{_NUMBER}|:\d{{1,4}}(?=†))?(?:†[^\]】\[【,;]*)?"
_LIST = rf"\s*{_ITEM}(?:\s*[,;]\s*{_ITEM})*\s*"
_MARKER = re.compile(rf"\[{_LIST}\]|【{_LIST}】", re.IGNORECASE)
_RUN = re.compile(rf"(?:{_MARKER.pattern})(?:[ \t\u00a0]*(?:{_MARKER.pattern}))*", re.IGNORECASE)
_PART = re.compile(r"(\d+)(?:\s*[-–—]\s*\D*(\d+))?")
_SPACES = " \t\u00a0"


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker: `original[start:end]`.

    `positions` are the 0-based documents it points to, each once; `out_of_range` the printed numbers that name none.
    """

    start: int
    end: int
    positions: tuple[int, ...]
    out_of_range: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """What was taken out: `original[start:end]`, with `filler` ("" or one space) in its place at `at` of the text."""

    start: int
    end: int
    at: int
    filler: str


@dataclass(frozen=True, slots=True)
class Unmarked:
    """A text without its markers, and the way back.

    `text` is the original with every cut taken out; `markers` stand in the order of the original.
    """

    text: str
    markers: tuple[Marker, ...]
    cuts: tuple[Cut, ...]

    def original(self, place: int) -> int:
        """The offset in the original of the character at `place` of the text (0 to len(text))."""
        number = bisect_right([cut.at + len(cut.filler) for cut in self.cuts], place)
        if number < len(self.cuts) and self.cuts[number].at <= place and self.cuts[number].filler:
            return self.cuts[number].start  # the filler itself
        return place + sum(cut.end - cut.start - len(cut.filler) for cut in self.cuts[:number])

    def place(self, original: int) -> int:
        """The offset in the text of the character at `original`; what was cut out maps to where it stood."""
        number = bisect_right([cut.start for cut in self.cuts], original)
        if number and original < self.cuts[number - 1].end:
            return self.cuts[number - 1].at
        return original - sum(cut.end - cut.start - len(cut.filler) for cut in self.cuts[:number])


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer, markers removed: `unmarked.text[start:end]`, and the markers that belong to it."""

    text: str
    start: int
    end: int
    markers: tuple[Marker, ...]

    @property
    def positions(self) -> tuple[int, ...]:
        """The 0-based documents it cites, each once, in the order of their markers."""
        return tuple(dict.fromkeys(p for marker in self.markers for p in marker.positions))

    @property
    def out_of_range(self) -> tuple[int, ...]:
        """The printed numbers that name no document."""
        return tuple(dict.fromkeys(n for marker in self.markers for n in marker.out_of_range))


def find_markers(text: str, count: int) -> tuple[Marker, ...]:
    """The markers of a text whose answer may cite `count` documents, in order."""
    return tuple(
        Marker(match.start(), match.end(), *_numbers(match.group(), count)) for match in _MARKER.finditer(text)
    )


def _numbers(marker: str, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The 0-based positions of a marker and its printed numbers out of range."""
    positions: dict[int, None] = {}
    outside: dict[int, None] = {}
    for item in re.split(r"[,;]", marker):
        part = _PART.search(item.split("†")[0].split(":")[0])
        assert part is not None  # the pattern holds a number in every item
        first, last = int(part[1]), int(part[2] or part[1])
        first, last = min(first, last), max(first, last)
        positions.update(dict.fromkeys(range(max(first, 1) - 1, min(last, count))))
        outside.update({number: None for number in (first, last) if not 1 <= number <= count})
    return tuple(positions), tuple(outside)


def remove_markers(text: str, count: int) -> Unmarked:
    """The text without its markers. Neighbouring markers go as one cut, with the spaces before them.

    "so it is [1], and" becomes "so it is, and"; "It is.[1]Then" becomes "It is. Then".
    """
    cuts: list[Cut] = []
    pieces: list[str] = []
    done = length = 0
    for run in _RUN.finditer(text):
        start, end = run.span()
        before = text[:start].rstrip(_SPACES)
        following = text[end : end + 1]
        filler = ""
        if not before or before[-1] == "\n":  # a marker that leads its line goes with the spaces after it
            end += len(text[end:]) - len(text[end:].lstrip(_SPACES))
        elif not following.isalnum() and following not in tuple("([„“\"'«"):
            start = max(done, len(before))
        elif len(before) == start:
            filler = " "
        pieces += [text[done:start], filler]
        length += start - done
        cuts.append(Cut(start, end, length, filler))
        length += len(filler)
        done = end
    pieces.append(text[done:])
    return Unmarked("".join(pieces), find_markers(text, count), tuple(cuts))


def cited_sentences(unmarked: Unmarked, lang: str) -> list[CitedSentence]:
    """The sentences of the text, each with its markers.

    A marker belongs to the sentence that it stands in or right behind ("... here. [1]"); one that leads a line, to the
    sentence that follows.
    """
    spans = sentence_spans(unmarked.text, sentences(unmarked.text, lang))
    owned: list[list[Marker]] = [[] for _ in spans]
    for marker in unmarked.markers:
        place = unmarked.place(marker.start)
        line = unmarked.text.rfind("\n", 0, place) + 1
        leads = not unmarked.text[line:place].strip()
        following = next((i for i, (_, end) in enumerate(spans) if end > place), None)
        behind = next((i for i in reversed(range(len(spans))) if spans[i][0] < place), None)
        owner = following if leads and following is not None else behind
        if owner is None:
            owner = following
        if owner is not None:
            owned[owner].append(marker)
    return [
        CitedSentence(unmarked.text[start:end], start, end, tuple(markers))
        for (start, end), markers in zip(spans, owned, strict=True)
    ]


def sentence_spans(text: str, parts: Sequence[str]) -> list[tuple[int, int]]:
    """Where each sentence of a text stands, as (start, end); the parts may differ from the text in white space.

    Raises ValueError where the parts are not the text's own.
    """
    spans = []
    place = 0
    for part in parts:
        start = None
        for sign in part:
            if sign.isspace():
                continue
            while place < len(text) and text[place].isspace():
                place += 1
            if place >= len(text) or text[place] != sign:
                raise ValueError(f"expected sentences of the text in order, came {part[:60]!r} near offset {place}")
            start = place if start is None else start
            place += 1
        if start is not None:
            spans.append((start, place))
    return spans
