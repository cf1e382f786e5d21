"""Citation markers in a text: where they stand, what they point to, and the text without them.

Known: `[1]`, `[1,2]`, `[1 and 2-4]`, `[1][2]`, `[1]-[3]`, `[Doc 1]`, `[1, p. 2]`, `[citation:1]`, `(Source 1)`, `[^1]`,
`[1](target)`, `<sup>1</sup>`, `【1】`, `[1†source]`, `【4:0†source】`; before or after the full stop. Markers are taken
out *before* sentences are split, with their offsets, so that a splitter sees plain prose and every place in the plain
text is known in the original.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from citeverifier.text.language import words_of_all
from citeverifier.text.words import words

DASH = "[-‐‑–—−]"
_PART = re.compile(rf"(\d+)(?:\D*?{DASH}\D*(\d+))?")
SPACES = " \t\u00a0"
# Signs with which a marker, or what is put around it, may begin.
OPENING = ("[", "【", "［", "(", "<", "<sup", "*", "\\")
TARGET = r"\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:[ \t]+\"[^\"\n]*\")?\)"  # of a link, perhaps with a title
# What stands before a raised marker, a year among it; "m<sup>2</sup>" is a unit, "10<sup>6</sup>" a number.
_RAISED = (
    r"(?:(?<=[^\W\d_]{3})|(?<=[^\W\d_]{4} )|(?<=[.,;:!?)\"”’%])|(?<=[.,;:!?)\"”’] )|(?<=</sup>)"
    r"|(?<=\b(?:1[5-9]|20)\d\d))"
)
# Like a marker, but mostly something else: "(1)" (not where it counts a list's items), "¹", "^1^".
_UNREAD = re.compile(
    rf"(?<=\S)[{SPACES}]*(\((\d{{1,3}})\))(?=[.,;:!?]|\s*\Z)|{_RAISED}(([⁰¹²³⁴-⁹]{{1,3}})(?!\w)|\^(\d{{1,3}})\^)"
)
_DASH = re.compile(rf"[{SPACES}]*[-–—][{SPACES}]*")
_AROUND = 60  # characters before a marker in which what is put around it begins
# What is put around markers, "(see [1])", "**[1]**", "[[1]](target)", "<sup>[1]</sup>": its beginning, its end.
_WRAPPERS = (
    (re.compile(r"\((?P<words>[^\W\d_]*(?:[\s.:,]+[^\W\d_]+)*)[\s.:,]*\Z"), r"\s*\.?\)"),
    (re.compile(r"(?P<sign>\*\*|\*|__)\Z"), r"(?P=sign)"),
    (re.compile(r"\[\Z"), rf"\](?:{TARGET})?"),
    (re.compile(r"<(?P<sign>\w+)(?:\s[^<>]*)?>\s*\Z"), r"\s*</(?P=sign)>"),
)

WRAPPING = r"(?:\*\*|\*|__|\[|<\w+(?:\s[^<>]*)?>\s*){0,4}"  # the beginnings but the parenthesis
WRAPPED = rf"(?:\*\*|\*|__|\](?:{TARGET})?|\s*</\w+>){{0,4}}"  # and the ends

# A tag between words: they stand apart, as on lines of their own.
BREAK = re.compile(r"</?(?:br|p|div|ul|ol|li|table|tr|td|th|h[1-6]|blockquote|section)\b[^<>]*>", re.IGNORECASE)

Span = tuple[int, int]


@cache
def either(kind: str) -> str:
    """The words of a kind in every language, as a pattern."""
    return "|".join(map(re.escape, sorted(words_of_all(kind), key=len, reverse=True)))


@cache
def separator() -> str:
    """What stands between the numbers of a marker and between markers that belong together."""
    return rf"(?:[,;&](?:\s*\b(?:{either('marker_joins')})\b)?|\b(?:{either('marker_joins')})\b)"


@cache
def _place() -> str:
    """Where in a document, behind its number: ", p. 12-14", ", art. 5 ust. 2", " § 4"."""
    return rf"(?:[\s,:;]+(?:{either('place_words')})\.?\s*\d[\d.–-]*[a-z]{{0,2}})+"


def without_places(marker: str) -> str:
    """A marker without where in its documents it points to: "[4, p. 12]" is "[4]"."""
    return re.sub(_place(), "", marker, flags=re.IGNORECASE)


@cache
def marker_pattern() -> str:
    """A marker with the labels of every language, "[Doc 1, 3-4]", whatever the case of its letters."""
    label = rf"(?:{either('marker_labels')})[\s.:#_-]*"
    label = rf"{label}(?:(?<![^\W\d_])(?:{label}|(?:nr|no)\b[\s.:#_-]*))?"  # "(source: document 1)", "[Dokument nr 1]"
    bare = r"\^?\d{1,3}\^?"
    number = rf"(?:{label})?{bare}"
    more = rf"(?:\s*{DASH}\s*{number}|:\d{{1,4}}(?=†))?(?:†[^\]】\[【,;]*)?(?:{_place()})?"
    rest = rf"{more}(?:\s*{separator()}\s*{number}{more})*\s*"
    shapes = (
        rf"\\?[\[［]\s*{number}{rest}\\?[\]］]",
        rf"【\s*{number}{rest}】",
        rf"\(\s*(?:(?:{either('pointers')})\.?\s+)?{label}{bare}{rest}\)",
        rf"{_RAISED}<sup>\s*{number}{rest}</sup>",
        rf"(?<=\w)<sup>\s*{number}(?:\s*{separator()}\s*{number})+\s*</sup>",
    )
    return rf"(?:{'|'.join(shapes)})(?:{TARGET})?"


@cache
def marker_regex() -> re.Pattern[str]:
    """`marker_pattern`, compiled."""
    return re.compile(marker_pattern(), re.IGNORECASE)


@cache
def _begun_marker() -> re.Pattern[str]:
    """The beginning of a marker, perhaps within a label, or of what is put around one."""
    known = words_of_all("marker_labels") | words_of_all("place_words") | words_of_all("marker_joins") | {"nr", "no"}
    begun = "|".join(sorted({re.escape(word[:n]) for word in known for n in range(1, len(word) + 1)}))
    whole = rf"(?>(?<![^\W\d_])(?:{begun}|(?<=\d)[a-z]{{1,2}})(?![^\W\d_]))"  # a word is read in one way only
    inside = rf"(?:[\s\d,;:.#_^&‐‑–—−-]|{whole})*(?:†[^\]】\[【]*)?"
    around = rf"\([^()\n]{{0,{_AROUND}}}|<\w{{0,{_AROUND}}}>?{inside}(?:</?\w*)?|\*{{1,2}}|\\"
    return re.compile(rf"{WRAPPING}(?:(?:\\?[\[［]|【){inside}(?:\\|\]\([^()\n]*)?|{around})\Z", re.IGNORECASE)


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
    """Markers that belong together, "[1], [2]", with what is put around them, "(see [1])": `original[start:end]`."""

    start: int
    end: int
    markers: tuple[Marker, ...]


@dataclass(frozen=True, slots=True)
class Unmarked:
    """A text without its markers, and the way back.

    `text[i]` is `original[origins[i]]`, or a space that was put where a run of markers stood; the original's length
    closes `origins`. `runs` stand in the order of the original.
    """

    text: str
    runs: tuple[MarkerRun, ...]
    origins: tuple[int, ...]

    def span(self, start: int, end: int) -> Span:
        """Where `text[start:end]` (not empty) stands in the original."""
        return self.origins[start], self.origins[end - 1] + 1

    def place(self, original: int) -> int:
        """The offset in the text of what stands at `original`; of what was taken out, that of what follows."""
        return bisect_left(self.origins, original)

    def followed_by(self, rest: Unmarked, start: int) -> Unmarked:
        """What stands before `start` in the original, then the `rest`, which begins there."""
        end = self.place(start)
        runs = (*(run for run in self.runs if run.start < start), *rest.runs)
        return Unmarked(self.text[:end] + rest.text, runs, self.origins[:end] + rest.origins)


def is_apart(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether none of the spans (in order, apart) reaches into start to end."""
    before = bisect_left(spans, (end,))
    return not before or spans[before - 1][1] <= start


def find_markers(text: str, count: int, skip: Sequence[Span] = (), start: int = 0) -> list[Marker]:
    """The markers from `start` on of a text whose answer may cite `count` documents, in order.

    In the spans of `skip` (in order, apart) nothing is a marker: code, links; nor is "[0, 1]", an interval. The second
    marker of "[1]-[3]" points to what lies between, too.
    """
    markers: list[Marker] = []
    for match in marker_regex().finditer(text, start):
        if is_apart(skip, *match.span()):
            marker = Marker(*match.span(), *_numbers(match.group(), count))
            if 0 in marker.out_of_range and len(marker.positions + marker.out_of_range) == 2:
                continue
            joined = markers and marker.positions and _DASH.fullmatch(text, markers[-1].end, marker.start)
            if joined and markers[-1].positions:  # "[1]-[3]"
                between = range(markers[-1].positions[-1] + 1, marker.positions[0])
                marker = replace(marker, positions=(*between, *marker.positions))
            markers.append(marker)
    return markers


def unread_marker(text: str, count: int) -> str | None:
    """What a text without markers may cite one of `count` documents with, and is not read as one: "(1)", "¹", "^1^"."""
    for match in _UNREAD.finditer(text):
        digits = match[2] or match[4] or match[5]
        if 1 <= int("".join(str(unicodedata.digit(digit)) for digit in digits)) <= count:
            return match[1] or match[3]
    return None


def may_begin_marker(text: str) -> bool:
    """Whether a text that begins with an opening bracket, and ends before it closes, may go on as a marker."""
    return _begun_marker().match(text) is not None


def _numbers(marker: str, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The 0-based positions of a marker and its printed numbers out of range."""
    positions: dict[int, None] = {}
    outside: dict[int, None] = {}
    marker = without_places(re.sub(rf"(?<=[\]］】)>]){TARGET}\Z", "", marker))
    for item in re.split(separator(), marker, flags=re.IGNORECASE):
        numbers = re.sub(r"(?<=\d):.*", "", item.split("†")[0], flags=re.DOTALL)
        part = _PART.search(numbers)
        assert part is not None  # the pattern holds a number in every item
        first, last = sorted((int(part[1]), int(part[2] or part[1])))
        positions.update(dict.fromkeys(range(max(first, 1) - 1, min(last, count))))
        outside.update({number: None for number in (first, last) if not 1 <= number <= count})
    return tuple(positions), tuple(outside)


@cache
def _join() -> re.Pattern[str]:
    return re.compile(rf"[{SPACES}]*(?:(?:{separator()}|[-–—])[{SPACES}]*)?", re.IGNORECASE)


def joined(text: str, end: int, start: int) -> bool:
    """Whether a marker that ends at `end` and one that starts at `start` belong together."""
    return _join().fullmatch(text, end, start) is not None


def _runs(text: str, markers: Sequence[Marker]) -> tuple[MarkerRun, ...]:
    """The markers in runs; one in signs of its own has them in its span, "**[1]**, **[2]**" is one run of two."""
    groups: list[list[Marker]] = []
    for marker in markers:
        if groups and joined(text, groups[-1][-1].end, marker.start):
            groups[-1].append(marker)
        else:
            groups.append([marker])
    runs: list[MarkerRun] = []
    for group in groups:
        start, end = _wrapped(text, group[0].start, group[-1].end)
        before = runs[-1] if runs else None
        if before and start < before.end:  # the signs are those of the run before: "**[1]**[2]**"
            start, end = group[0].start, group[-1].end
        if len(group) == 1 and text[start] != "(":  # what is in parentheses stays in them
            group = [replace(group[0], start=start, end=end)]
        if (
            before
            and before.end == before.markers[-1].end
            and start == group[0].start
            and joined(text, before.end, start)
        ):
            runs[-1] = MarkerRun(before.start, end, (*before.markers, *group))
        else:
            runs.append(MarkerRun(start, end, tuple(group)))
    return tuple(runs)


def _wrapped(text: str, start: int, end: int) -> Span:
    """Markers, `text[start:end]`, with all that is put around them."""
    grown = True
    while grown:
        grown = False
        for opening, closing in _WRAPPERS:
            before = opening.search(text, max(0, start - _AROUND), start)
            if before is None or not set(words(before.groupdict().get("words", ""))) <= words_of_all("reference_words"):
                continue
            sign = before.groupdict().get("sign", "")
            if after := re.compile(closing.replace("(?P=sign)", re.escape(sign))).match(text, end):
                start, end, grown = before.start(), after.end(), True
    return start, end


def opening_before(text: str, place: int) -> int:
    """Where what may be put around a marker at `place` begins; `place` itself where nothing is."""
    while True:
        tries = (opening.search(text, max(0, place - _AROUND), place) for opening, _ in _WRAPPERS)
        if (found := next((match for match in tries if match), None)) is None:
            return place
        place = found.start()


def remove_markers(
    text: str, count: int, skip: Sequence[Span] = (), signs: Sequence[Span] = (), start: int = 0
) -> Unmarked:
    """The text from `start` on without its markers.

    Those that belong together go as one cut, with the spaces before them: "so it is [1], and" becomes "so it is, and",
    "It is.[1]Then" "It is. Then". No marker is seen in the spans of `skip`; those of `signs` (in order, apart, no
    marker in them) are taken out as well, a line break ("<br>") as a space.
    """
    runs = _runs(text, find_markers(text, count, skip, start))
    cuts = [cut_of(text, run) for run in runs]
    cuts += [(*sign, " " if BREAK.fullmatch(text, *sign) else "") for sign in signs]
    pieces: list[str] = []
    origins: list[int] = []
    done = start
    for start, end, filler in sorted(cuts):
        start = max(done, start)
        filler = filler if start < end else ""
        pieces += [text[done:start], filler]
        origins += [*range(done, start), *[start] * len(filler)]
        done = max(start, end)
    pieces.append(text[done:])
    return Unmarked("".join(pieces), runs, (*origins, *range(done, len(text) + 1)))


def cut_of(text: str, run: MarkerRun) -> tuple[int, int, str]:
    """What goes with a run of markers, `text[start:end]`, and what stands in its place: "" or one space."""
    before, end = spaces_before(text, run.start), run.end
    following = text[end : end + 1]
    if not before or text[before - 1] == "\n":  # a marker that leads its line goes with the spaces after it
        if following in tuple(".,;:!?…") and before > 1 and text[before - 2].isalnum():  # or ends the line before
            return before - 1, end, ""
        while text[end : end + 1] and text[end] in SPACES:
            end += 1
        return run.start, end, ""
    if following.isalnum() or following in tuple("([„“\"'«`"):
        return run.start, end, " " if before == run.start else ""
    return before, end, ""


def spaces_before(text: str, place: int) -> int:
    """Where the spaces before a place begin."""
    while place and text[place - 1] in SPACES:
        place -= 1
    return place
