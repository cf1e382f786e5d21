"""HTML as the text a person reads: a page as plain text, a report as Markdown whose lines know theirs in the file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser

_HIDDEN = {"script", "style", "template", "noscript", "svg", "select", "button", "title", "nav"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li",
    "main", "ol", "p", "pre", "section", "summary", "table", "tr", "ul",
}  # fmt: skip
# What Markdown has where an element begins and ends.
_OPENS = {f"h{n}": f"{'#' * n} " for n in range(1, 7)} | {"tr": "|", "td": " ", "th": " ", "code": "`"}
_CLOSES = {"td": " |", "th": " |", "code": "`"}
_BEGINS_BLOCK = re.compile(r"[#>|*+~`-]|\d{1,3}[.)]|\[[^\]]*\]:")  # what Markdown reads as more at a line's start
_POWER = re.compile(r"(?:(?<!\b(?:1[5-9]|20)\d)\d|(?<![^\W\d_])[^\W\d_]{1,2})\Z")  # "10", "30 m" before what is raised
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_NUMBERS = re.compile(r"\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*")


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The text of an HTML file; `lines[n]` is the line (from 1) of the file on which line n of the text begins."""

    title: str
    text: str
    lines: tuple[int, ...]


def read_html(html: str, *, markdown: bool = False) -> HtmlText:
    """The visible text, one block a line; with `markdown`, headings, lists, tables, links and quotes are Markdown's."""
    reader = _Reader(markdown)
    reader.feed(html)
    reader.close()
    lines = [("".join(pieces).rstrip(), line) for pieces, line in reader.lines]
    return HtmlText(
        " ".join(reader.title.split()), "\n".join(text for text, _ in lines), tuple(line for _, line in lines)
    )


class _Reader(HTMLParser):
    def __init__(self, markdown: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.markdown = markdown
        self.title = ""
        self.lines: list[tuple[list[str], int]] = [([], 1)]
        self.hidden: list[str] = []
        self.lists: list[int | None] = []  # the number of the next item; None in a list without numbers
        self.links: list[str | None] = []
        self.quotes = 0
        self.raised = self.cites = self.in_cell = self.said = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.in_cell and tag in ("td", "th", "tr"):  # HTML lets end tags be left out
            self.handle_endtag("td")
        if tag in _HIDDEN or (tag == "pre" and self.markdown):  # code makes no statement
            self.hidden.append(tag)
        if tag in _BLOCKS:
            self._end_block()
        given = dict(attrs)
        if tag in ("ol", "ul"):
            start = given.get("start") or "1"
            self.lists.append((int(start) if start.isdecimal() else 1) if tag == "ol" else None)
        elif tag == "sup":
            self.raised, self.cites = True, _POWER.search("".join(self.lines[-1][0]).rstrip(" [")) is None
        elif tag == "a":
            self.cites = True  # "km<sup><a ...>2</a></sup>"
        elif tag == "blockquote":
            self.quotes += 1
        if self.markdown:
            self._sign(tag, given)
        elif tag in ("td", "th"):
            self._add(" ")

    def _sign(self, tag: str, given: dict[str, str | None]) -> None:
        self._add(_OPENS.get(tag, ""))
        if tag in ("tr", "td", "th"):
            self.in_cell = tag != "tr"
        elif tag == "li":
            number = self.lists[-1] if self.lists else None
            self._add("- " if number is None else f"{number}. ")
            if number is not None:
                self.lists[-1] = number + 1
        elif tag == "a":
            target = given.get("href") or ""
            self.links.append(None if not target or target.startswith("#") else target)
            self._add("[" if self.links[-1] else "")

    def handle_endtag(self, tag: str) -> None:
        if self.in_cell and tag in ("tr", "table"):
            self.handle_endtag("td")
        if tag in self.hidden:  # what was left open inside ends with it
            while self.hidden.pop() != tag:
                pass
        if self.markdown:
            self._add(_CLOSES.get(tag, ""))
            self.in_cell = self.in_cell and tag not in ("td", "th")
            if tag == "a" and self.links and (target := self.links.pop()):
                self._add(f"]({target})")
        if tag in _BLOCKS:
            self._end_block()
        if tag in ("ol", "ul") and self.lists:
            self.lists.pop()
        self.quotes -= tag == "blockquote" and self.quotes > 0
        self.raised = self.raised and tag != "sup"

    def handle_data(self, data: str) -> None:
        if self.hidden:
            self.title += data if self.hidden == ["title"] and not self.title else ""
            return
        if self.raised and _NUMBERS.fullmatch(data.strip()):
            data = f"[{data.strip()}]" if self.cites else data.translate(_RAISED)
        line = self.getpos()[0]
        for number, part in enumerate(data.split("\n")):
            text = re.sub(r"\s+", " ", part)
            if number and self.lines[-1][0]:  # a line of the file ends within a block
                if text.strip() and not (self.markdown and (self.in_cell or _BEGINS_BLOCK.match(text.strip()))):
                    self.lines.append(([], line + number))
                    text = text.lstrip()
                else:
                    text = f" {text.lstrip()}"
            text = text if self.lines[-1][0] else text.lstrip()
            self.said = self.said or bool(text.strip())
            self._add(text, line + number)

    def _add(self, text: str, line: int | None = None) -> None:
        """Add to the line that is open; its first piece says where in the file it stands."""
        if not text or self.hidden:
            return
        if not self.lines[-1][0]:
            quoted = "> " if self.quotes else "   " if self.lists and not _BEGINS_BLOCK.match(text) else ""
            self.lines[-1] = ([quoted if self.markdown else ""], line or self.getpos()[0])
        self.lines[-1][0].append(text)

    def _end_block(self) -> None:
        """What follows stands in another block, after an empty line; within a table's cell, after a space."""
        if self.in_cell:
            self._add(" ")
        elif self.said:
            self.lines += [([], self.getpos()[0]), ([], self.getpos()[0])]
            self.said = False
