"""The sources of a Markdown report, and its text with `[n]` markers: what a file must say to be verified by itself.

A source stands in a numbered list under "Sources" ("1. ...", "[1] ..."), in a footnote ("[^1]: ...") or in a link's
definition ("[1]: ..."). Its text is what a link in it leads to, what a quote (">") below it says, or the entry itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from citeverifier.records import RecordError
from citeverifier.text.answer_reading import without_sources
from citeverifier.text.markdown import read_markdown
from citeverifier.text.markers import find_markers, is_apart

_LISTED = re.compile(r"[ \t]{0,3}(?:[-*+][ \t]+)?(?:\[(\d{1,3})\]:?|(\d{1,3})[.)])[ \t]+(\S.*)")
_NOTE = re.compile(r"[ \t]{0,3}\[(\^[^\]\s]+)\]:[ \t]*(.*)")
_DEFINED = re.compile(r"[ \t]{0,3}\[([^\]\[^][^\]\[\n]*)\]:[ \t]+(\S.*)")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_QUOTE = re.compile(r"[ \t]*>[ \t]?(.*)")
_LINK = re.compile(
    r"\[([^\]\n]*)\]\((?![\s)]|<>)(<[^>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)[^)\n]*\)"  # "[title](target)"
    r"|<?(https?://[^\s<>]+)"
)
_NAMED = re.compile(r"\[([^\[\]\n]{1,200})\](?=(?:\[([^\[\]\n]{1,200})\])?)")  # "[label]", and what follows at once
_MOST = 999  # a marker has three digits


@dataclass(frozen=True, slots=True)
class Source:
    """A source as the report gives it: how markers name it ("1", "^smith"), and the line of the file it stands on.

    `target`: the URL or path that its link leads to; `text`: its quote, else without a link the entry itself, else "".
    """

    label: str
    line: int
    title: str
    target: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """A report: `text` has as many lines as the file, `[n]` for every marker, and empty lines for its sources.

    `[n]` is `sources[n - 1]`; `labels[n - 1]` is how the file names it, with those that name no source behind them.
    """

    text: str
    sources: tuple[Source, ...]
    labels: tuple[str, ...]


def read_report(text: str, places: Sequence[int]) -> Report:
    """The report that a Markdown text is; `places[n]` is the line (from 1) of the file on which its line n begins.

    Raises RecordError ("3: ...": the line in the file) where a source is given twice.
    """
    text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    span = without_sources(text, read_markdown(text).blocks)[1]
    listed = range(len(lines), len(lines)) if span is None else range(*(text.count("\n", 0, place) for place in span))
    if span and span[1] == len(text):
        listed = range(listed.start, len(lines))
    sources: dict[str, Source] = {}
    for label, first, end, said in list(_entries(lines, listed)):
        if label in sources:
            raise RecordError(f"{places[first]}: source [{label}] stands on line {sources[label].line}, too")
        sources[label] = _source(label, places[first], said, lines[first + 1 : end])
        lines[first:end] = [""] * (end - first)
    lines[listed.start : listed.stop] = [""] * len(listed)
    numbers = {label.removeprefix("^") for label in sources}
    if numbers == {str(number) for number in range(1, len(sources) + 1)}:
        sources = dict(sorted(sources.items(), key=lambda item: int(item[0].removeprefix("^"))))
    labels = list(sources)
    return Report(_renumbered("\n".join(lines), labels), tuple(sources.values()), tuple(labels))


def _entries(lines: Sequence[str], listed: range) -> Iterator[tuple[str, int, int, str]]:
    """(label, first line, the line behind it, what the first line says) of each source; `listed`: the list's lines."""
    end, fenced = 0, False
    used: set[str] = set()
    for first, line in enumerate(lines):
        if first < end:  # it belongs to the source above
            continue
        fenced ^= _FENCE.match(line) is not None
        match = None if fenced else _NOTE.match(line) or (_LISTED if first in listed[1:] else _DEFINED).match(line)
        if match:
            label = match[1] or next(n for n in map(str, count(int(match[2]))) if n not in used)  # "1." again counts up
            used.add(label)
            end = _end(lines, first, lazy=first in listed[1:] or match.re is _NOTE)
            yield label, first, end, match[match.lastindex or 1]


def _end(lines: Sequence[str], first: int, *, lazy: bool) -> int:
    """The line behind a source: what is indented or quoted belongs to it or, where lazy, has no empty line before."""
    end = first + 1
    for number in range(end, len(lines)):
        line = lines[number]
        if any(sign.match(line) for sign in (_NOTE, _LISTED, _DEFINED)) or line.startswith("#"):
            break
        if line.strip():
            if not (line.startswith((" ", "\t", ">")) or (lazy and end == number)):
                break
            end = number + 1
    return end


def _source(label: str, line: int, said: str, below: list[str]) -> Source:
    quoted = " ".join(match[1].strip() for each in below if (match := _QUOTE.match(each)))
    entry = " ".join([said, *(each.strip() for each in below if not _QUOTE.match(each))]).strip()
    link = _LINK.search(entry)
    path = re.fullmatch(r"<?([^\s>]+\.\w{2,8})>?(?:\s+[\"(].*)?", entry)  # a definition's target, or a file by its name
    if link:
        target: str | None = (link[2] or link[3]).strip("<>").rstrip(".,;")
        title = link[1] or (entry[: link.start()] + entry[link.end() :]).strip(' .,:;-–—"')
    else:
        target, title = (path[1], "") if path else (None, "")
    return Source(label, line, title, target, quoted or ("" if target else entry))


def _renumbered(text: str, labels: list[str]) -> str:
    """The text with `[n]` for each marker; those that name no source are added to the labels."""
    places = {label.casefold(): number for number, label in enumerate(labels, 1)}
    if all(label == str(number) for label, number in places.items()):
        return text
    closed = read_markdown(text).closed

    def printed(label: str) -> str:
        if label.casefold() not in places:
            labels.append(label)
            places[label.casefold()] = len(labels)
        return f"[{places[label.casefold()]}]"

    def marker(match: re.Match[str]) -> str:
        label, following = match[1], match[2]
        if not is_apart(closed, *match.span()):
            return match[0]
        if label.startswith("^") or label.casefold() in places:
            return printed(label)
        if numbers := find_markers(match[0], _MOST):
            cited = [str(place + 1) for place in numbers[0].positions] + [str(n) for n in numbers[0].out_of_range]
            return "".join(map(printed, cited))
        return f"{label} " if following and following.casefold() in places else match[0]  # the words of a link

    return _NAMED.sub(marker, text)
