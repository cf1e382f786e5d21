"""Citation markers in a text: where they stand, what they point to, and the text without them.

Known: `[1]`, `[1,2]`, `[1][2]`, `[1, 2-4]`, `[Doc 1]`, `【1】`, `[1†source]`, `【4:0†source】`; before or after the
full stop. Markers are taken out *before* sentences are split, with their offsets, so that a splitter sees plain prose
and every place in the plain text is known in the original.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from citeverifier.text.language import words_of_all
from citeverifier.text.sentences import sentences

_PART = re.compile(r"(\d+)(?:\s*[-–—]\s*\D*(\d+))?")
SPACES = " \t\u00a0"

Span = tuple[int, int]


@cache
def _marker() -> re.Pattern[str]:
    """A marker with the labels of every language: "[Doc 1, 3-4]"."""
    labels = "|".join(sorted(words_of_all("marker_labels"), key=len, reverse=True))
    number = rf"(?:(?:{labels})\.?\s*)?\d{{1,3}}"
    item = rf"{number}(?:\s*[-–—]\s*{number}|:\d{{1,4}}(?=†))?(?:†[^\]】\[【,;]*)?"
    items = rf"\s*{item}(?:\s*[,;]\s*{item})*\s*"
    return re.compile(rf"\[{items}\]|【{items}】", re.IGNORECASE)


@cache
def _begun_marker() -> re.Pattern[str]:
    """The beginning of a marker, perhaps within a label."""
    labels = {label[:n] for label in words_of_all("marker_labels") for n in range(1, len(label) + 1)}
    begun = "|".join(sorted(labels, key=len, reverse=True))
    return re.compile(rf"[\[【](?:[\s\d,;:.–—-]|{begun})*(?:†[^\]】\[【]*)?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker: `original[start:end]`.

    `positions` are the 0-based documents it points to, each once; `out_of_range` the printed numbers that name none.
    """

    start: int
    end: int
    positions: tuple[int, ...]
    out_of_range: tuple[int, ...]


class Citing:
    """What `markers` say together."""

    __slots__ = ()
    markers: tuple[Marker, ...]

    @property
    def positions(self) -> tuple[int, ...]:
        """The 0-based documents it cites, each once, in the order of their markers."""
        return tuple(dict.fromkeys(position for marker in self.markers for position in marker.positions))

    @property
    def out_of_range(self) -> tuple[int, ...]:
        """The printed numbers that name no document, each once, in the order of their markers."""
        return tuple(dict.fromkeys(number for marker in self.markers for number in marker.out_of_range))


@dataclass(frozen=True, slots=True)
class MarkerRun(Citing):
    """Neighbouring markers with nothing but spaces between them: `original[start:end]`."""

    start: int
    end: int
    markers: tuple[Marker, ...]


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
        number = bisect_right(self.cuts, place, key=lambda cut: cut.at + len(cut.filler))
        if number < len(self.cuts) and self.cuts[number].at <= place and self.cuts[number].filler:
            return self.cuts[number].start  # the filler itself
        return place + self._shift(number)

    def place(self, original: int) -> int:
        """The offset in the text of the character at `original`; what was cut out maps to where it stood."""
        number = bisect_right(self.cuts, original, key=lambda cut: cut.start)
        if number and original < self.cuts[number - 1].end:
            return self.cuts[number - 1].at
        return original - self._shift(number)

    def _shift(self, number: int) -> int:
        """How many characters more the original has up to the end of the first `number` cuts."""
        if number == 0:
            return 0
        last = self.cuts[number - 1]
        return last.end - last.at - len(last.filler)


@dataclass(frozen=True, slots=True)
class CitedSentence(Citing):
    """A sentence of an answer, markers removed: `unmarked.text[start:end]`, and the markers that belong to it."""

    text: str
    start: int
    end: int
    markers: tuple[Marker, ...]


def find_markers(text: str, count: int, skip: Sequence[Span] = ()) -> tuple[Marker, ...]:
    """The markers of a text whose answer may cite `count` documents, in order.

    In the spans of `skip` (in order, apart) nothing is a marker: code, links.
    """
    starts = [start for start, _ in skip]
    found = []
    for match in _marker().finditer(text):
        before = bisect_right(starts, match.end() - 1)
        if not before or skip[before - 1][1] <= match.start():
            found.append(Marker(match.start(), match.end(), *_numbers(match.group(), count)))
    return tuple(found)


def may_begin_marker(text: str) -> bool:
    """Whether a text that begins with an opening bracket, and ends before it closes, may go on as a marker."""
    return _begun_marker().match(text) is not None


def marker_runs(text: str, markers: Sequence[Marker]) -> tuple[MarkerRun, ...]:
    """The markers of a text, neighbouring ones together."""
    groups: list[list[Marker]] = []
    for marker in markers:
        if groups and not text[groups[-1][-1].end : marker.start].strip(SPACES):
            groups[-1].append(marker)
        else:
            groups.append([marker])
    return tuple(MarkerRun(group[0].start, group[-1].end, tuple(group)) for group in groups)


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


def remove_markers(text: str, count: int, skip: Sequence[Span] = (), signs: Sequence[Span] = ()) -> Unmarked:
    """The text without its markers. Neighbouring markers go as one cut, with the spaces before them.

    "so it is [1], and" becomes "so it is, and"; "It is.[1]Then" becomes "It is. Then". No marker is seen in the spans
    of `skip`; those of `signs` (in order, apart, no marker in them) are taken out as well.
    """
    markers = find_markers(text, count, skip)
    runs = [(run.start, run.end, True) for run in marker_runs(text, markers)]
    cuts: list[Cut] = []
    pieces: list[str] = []
    done = length = 0
    for start, end, is_run in sorted(runs + [(start, end, False) for start, end in signs]):
        filler = ""
        if is_run:
            start, end, filler = _cut(text, start, end)
        start = max(done, start)
        end = max(start, end)
        pieces += [text[done:start], filler]
        length += start - done
        cuts.append(Cut(start, end, length, filler))
        length += len(filler)
        done = end
    pieces.append(text[done:])
    return Unmarked("".join(pieces), markers, tuple(cuts))


def _cut(text: str, start: int, end: int) -> tuple[int, int, str]:
    """What goes with a run of markers, and what stands in its place."""
    before = start
    while before and text[before - 1] in SPACES:
        before -= 1
    following = text[end : end + 1]
    if not before or text[before - 1] == "\n":  # a marker that leads its line goes with the spaces after it
        while text[end : end + 1] and text[end] in SPACES:
            end += 1
        return start, end, ""
    if not following.isalnum() and following not in tuple("([„“\"'«"):
        return before, end, ""
    return start, end, " " if before == start else ""


def cited_sentences(unmarked: Unmarked, lang: str, within: Span) -> list[CitedSentence]:
    """The sentences of what `original[within]` became in the text, each with its markers.

    A marker belongs to the sentence that it stands in or right behind ("... here. [1]"); one that leads a line, to the
    sentence that follows.
    """
    first, last = unmarked.place(within[0]), unmarked.place(within[1])
    low, high = (bisect_left(unmarked.markers, place, key=lambda marker: marker.start) for place in within)
    part = unmarked.text[first:last]
    spans = [(first + start, first + end) for start, end in sentence_spans(part, sentences(part, lang))]
    owned: list[list[Marker]] = [[] for _ in spans]
    for marker in unmarked.markers[low:high]:
        place = unmarked.place(marker.start)
        line = max(first, unmarked.text.rfind("\n", first, place) + 1)
        leads = not unmarked.text[line:place].strip()
        following = bisect_right(spans, place, key=lambda span: span[1])
        behind = bisect_left(spans, place, key=lambda span: span[0]) - 1
        if spans:
            owned[following if (leads or behind < 0) and following < len(spans) else behind].append(marker)
    return [
        CitedSentence(unmarked.text[start:end], start, end, tuple(markers))
        for (start, end), markers in zip(spans, owned, strict=True)
    ]


def sentence_spans(text: str, parts: Sequence[str]) -> list[Span]:
    """Where each sentence of a text stands, as (start, end); the parts may differ from the text in white space.

    Raises ValueError where the parts are not the text's own.
    """
    signs = [(place, sign) for place, sign in enumerate(text) if not sign.isspace()]
    spans = []
    done = 0
    for part in parts:
        wanted = "".join(part.split())
        own = signs[done : done + len(wanted)]
        if "".join(sign for _, sign in own) != wanted:
            place = own[0][0] if own else len(text)
            raise ValueError(f"expected sentences of the text in order, got {part[:60]!r} near offset {place}")
        if own:
            spans.append((own[0][0], own[-1][0] + 1))
        done += len(wanted)
    return spans
