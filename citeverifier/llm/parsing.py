"""Answers out of free text, for models that cannot be constrained. What does not parse has a reason, never a default.

Every function returns (value, what was wrong): the value is None where there is none, and the words are None where all
is well. Reasoning between <think> tags is no answer; nor is anything after a <think> that was never closed.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from citeverifier.records import LANGUAGES
from citeverifier.text.language import language

_ANSWER = (
    r"answer|verdict|conclusion|decision|judge?ment|result|rating|score|citations|documents|"
    r"odpowiedź|odpowiedz|werdykt|wniosek|decyzja|ocena|wynik|cytowania|dokumenty"
)
_LABEL = rf"\b(?P<final>(?:final|overall|ostateczn\w+|końcow\w+)\s+)?(?:{_ANSWER})\s*(?:is|to|brzmi|jest)?\s*[:=]\s*"
_IS = rf"\b(?P<final>(?:final|overall|ostateczn\w+|końcow\w+)\s+)?(?:{_ANSWER})\s*(?:(?:is|to|brzmi)\s*:?|[:=\-–—])\s*"
# What may follow a bare yes or no. "No evidence ...", "Nie wiem" and "No. 5" are no verdicts.
_END = r"(?!\.\s*\d)(?=\s*(?:$|[.,;:!?)\]}\n]|[-–—]\s|(?:because|since|as|ponieważ|bo|gdyż)\b))"


def parse_verdict(text: str, lang: str) -> tuple[bool | None, str | None]:
    """The verdict of an answer that may reason first: yes or no in `lang`'s words or in English.

    A final verdict ("Final answer: yes") wins over others with a label ("Verdict: no"), these over an answer's first
    words and sentences that are nothing but a yes or no. Those that count must agree.
    """
    plain = _plain(text)
    for pattern in _verdict_patterns(lang):
        found = {_verdict_words(lang)[match["word"].casefold()] for match in pattern.finditer(plain)}
        if len(found) > 1:
            return None, f"contradictory verdicts in {_quote(text)}"
        if found:
            return found.pop(), None
    return None, f"no verdict in {_quote(text)}" if plain.strip() else "empty answer"


def _verdict_words(lang: str) -> dict[str, bool]:
    yes, no = language(lang).yes_no
    # English last: a model asked in Polish may answer in English.
    return {"yes": True, "no": False, yes: True, no: False}


@cache
def _verdict_patterns(lang: str) -> tuple[re.Pattern[str], ...]:
    """Final labelled verdicts, labelled ones, bare ones."""
    words = "|".join(re.escape(word) for word in _verdict_words(lang))
    both = rf"(?!(?:{words})\s*[,/]?\s*(?:/|or|and|but|lub|albo|czy|i|oraz|ale)\s*(?:{words})\b)"
    word = rf"{both}(?P<word>{words})\b{_END}"
    yes, no = language(lang).yes_no
    own = rf"{both}(?P<word>{yes}|{no})\b{_END}"  # within a text only: "no" is a Polish word too
    flags = re.IGNORECASE | re.MULTILINE
    return (
        re.compile(_IS.replace(r"\s+)?", r"\s+)", 1) + word, flags),
        re.compile(_IS + word, flags),
        re.compile(rf"(?:^[^\S\n]*|[.!?:]\s+){own}", flags),
        re.compile(rf"\A\s*{word}", flags),
    )


def parse_number(text: str, low: float, high: float) -> tuple[float | None, str | None]:
    """One number in [low, high]: labelled ("Rating: 4"), with its scale ("4/5", "4 out of 5"), or the only one."""
    plain = _plain(text)
    number = r"(?<![\w.,])(?P<number>[-−]?\d{1,9}(?:[.,]\d{1,9})?)(?![.,]?\d)"
    scaled = re.compile(
        number + r"(?:\s*(?:/|out of|of|na|z)\s*(?P<scale>\d{1,9})(?![.,]?\d))?(?P<percent>\s?%)?", re.I
    )
    labelled = [scaled.match(plain, match.end()) for match in re.finditer(_IS, plain, re.IGNORECASE)]
    matches = [match for match in labelled if match] or list(scaled.finditer(plain))
    found: set[float] = set()
    for match in matches:
        if match["percent"] and high != 100:
            return None, f"expected a number from {low:g} to {high:g}, got a percentage in {_quote(text)}"
        if match["scale"] and float(match["scale"]) != high:
            return None, f"expected a number from {low:g} to {high:g}, got one of another scale in {_quote(text)}"
        found.add(float(match["number"].replace(",", ".").replace("−", "-")))
    if len(found) != 1:
        return None, f"expected one number, got {len(found) or 'none'} in {_quote(text)}"
    value = found.pop()
    if not low <= value <= high:
        return None, f"expected a number from {low:g} to {high:g}, got {value:g}"
    return value, None


def parse_json(text: str) -> tuple[Any, str | None]:
    """The JSON value of an answer: the whole text, a fenced block, or the only object (or array) in prose.

    JSON that breaks off is none, even where a part of it could be read.
    """
    plain = without_thinking(text).strip()
    for candidate in (plain, *re.findall(r"```\w*[ \t]*\n(.*?)```", plain, re.DOTALL)):
        try:
            return _load(candidate), None
        except ValueError:
            continue
    opening, closing = ("{", "}") if "{" in plain else ("[", "]")
    found: list[Any] = []
    for block in _blocks(plain, opening, closing):
        if block is None:
            return None, f"JSON breaks off in {_quote(text)}"
        try:
            found.append(_load(block))
        except ValueError:
            continue
    if len(found) != 1:
        return None, f"expected one JSON value, got {len(found) or 'none'} in {_quote(text)}"
    return found[0], None


def _load(text: str) -> Any:
    """Strict JSON; raises ValueError, for what is nested too deep as well."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _blocks(text: str, opening: str, closing: str) -> list[str | None]:
    """The outermost bracketed parts, brackets within strings left out of account; None for one that never closes."""
    blocks: list[str | None] = []
    depth = start = 0
    for match in re.finditer(rf'"(?:[^"\\\n]|\\.)*"|\{opening}|\{closing}', text):
        sign = match.group()
        if sign == opening:
            start = match.start() if depth == 0 else start
            depth += 1
        elif sign == closing and depth:
            depth -= 1
            if depth == 0:
                blocks.append(text[start : match.end()])
    return blocks + [None] * (depth > 0)


# --- lists of documents --------------------------------------------------------------------------------------------

_DOCUMENT = r"(?:documents?|docs?|dokument(?:y|ów|ach|u|em|ami|om)?|dok|nr|no)"
_TOKEN = re.compile(
    r"[\[【](?P<group>[^\[\]【】\n]{1,200})[\]】]"
    r"|(?<![\w.])(?P<bare>\d{1,3}(?:\s?[-–—]\s?\d{1,3})?)(?![\w%]|[.,]\d|:\d)"
    r"|(?P<word>[^\W\d_]+)|(?P<digits>\d[\d.,]*)|(?P<stop>[.!?:\n])"
)
_ITEM = re.compile(rf"\s*\^?(?:{_DOCUMENT}\b\.?)?\s*(\d{{1,9}})(?:\s?[-–—]\s?(\d{{1,9}}))?\s*(?:†.*)?\Z", re.IGNORECASE)
_CONNECTING = re.compile(rf"(?:and|i|oraz|a\s+także|{_DOCUMENT})\Z", re.IGNORECASE)
_NONE = re.compile(r"\b(?:none|nothing|żaden|żadne|żadnego|żadnych|brak)\b|\[\s*\]", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|nie|no|except|without|oprócz|poza|n't)\b|n't\b", re.IGNORECASE)
_ALONE = 6  # words that may stand around a list of bare numbers


def parse_indices(text: str, count: int) -> tuple[tuple[int, ...] | None, tuple[str, ...]]:
    """Documents named as "[1], [3] and 4", "[1, 2-4]", "1, 3" or "none": 0-based positions below `count`, in order.

    The list after the last label ("Citations: ...") counts, else the only list there is, or one at each line's
    beginning. Positions are None where no list can be made out; positions that do not exist and repeats are left out.
    Either way the problems say so, one each.
    """
    plain = _plain(text, keep_brackets=True)
    labels = list(re.finditer(_LABEL, plain, re.IGNORECASE))
    scope = plain[labels[-1].end() :] if labels else plain
    runs = _runs(scope)
    named = [run for run in runs if run.bracketed]
    words = [word for word in re.findall(r"[^\W\d_]+", scope) if not _CONNECTING.match(word)]
    if not named and len(words) <= _ALONE:
        named = runs
    if not named:
        if _NONE.search(scope):
            return (), ()
        return None, (f"no list of documents in {_quote(text)}",)
    lines = [line for line in scope.splitlines() if line.strip()]
    if len(named) > 1 and not (len(named) == len(lines) and all(run.heads_line for run in named)):
        return None, (f"several lists of documents in {_quote(text)}",)
    if _NONE.search(scope) or (len(named) == 1 and _NOT.search(scope)):
        return None, (f"contradictory list of documents in {_quote(text)}",)
    return _positions([item for run in named for item in run.items], count)


class _Run:
    """A list of numbers: (first, last) of each item, whether any stands in brackets, whether it begins its line."""

    def __init__(self, heads_line: bool) -> None:
        self.items: list[tuple[int, int]] = []
        self.bracketed = False
        self.heads_line = heads_line


def _runs(scope: str) -> list[_Run]:
    """The lists in a text; words other than "and", "document" and the like, full stops and new lines part them."""
    runs: list[_Run] = []
    run: _Run | None = None
    heads_line = True
    for match in _TOKEN.finditer(scope):
        items = _items(match["group"].split(",")) if match["group"] else _items([match["bare"] or ""])
        if items:
            if run is None:
                run = _Run(heads_line)
                runs.append(run)
            run.items += items
            run.bracketed = run.bracketed or match["group"] is not None
            heads_line = False
        elif match["word"] and _CONNECTING.match(match["word"]):
            continue
        else:
            run = None
            heads_line = match["stop"] == "\n"
    return runs


def _items(parts: list[str]) -> list[tuple[int, int]]:
    """(first, last) of each part; empty where any part is no number or range."""
    matches = [_ITEM.match(piece) for part in parts for piece in re.split(r";|\band\b|\bi\b|\boraz\b", part)]
    if not all(matches):
        return []
    return [(int(match[1]), int(match[2] or match[1])) for match in matches if match]


def _positions(items: list[tuple[int, int]], count: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    positions: dict[int, None] = {}
    problems: list[str] = []
    for first, last in items:
        if last < first:
            problems.append(f"range {first}-{last} runs backwards")
            continue
        outside = [n for n in (first, last) if not 1 <= n <= count]
        if outside:
            named = f"{first}" if first == last else f"{first}-{last}"
            problems.append(f"document {named} outside 1 to {count}")
        for number in range(max(first, 1), min(last, count) + 1):
            if number - 1 in positions:
                problems.append(f"document {number} named again")
            positions[number - 1] = None
    return tuple(positions), tuple(problems)


# --- shared --------------------------------------------------------------------------------------------------------


def without_thinking(text: str) -> str:
    """The answer without the reasoning before it; empty where the reasoning was never closed."""
    text = text.rpartition("</think>")[2]
    return text.partition("<think>")[0]


def _plain(text: str, *, keep_brackets: bool = False) -> str:
    """Without reasoning and Markdown's emphasis, headings, quotes and bullets."""
    text = re.sub(r"^[^\S\n]*(?:[#>]+|[-*•+](?=\s))", "", without_thinking(text), flags=re.MULTILINE)
    return re.sub(r"[*_`\"'„”“’()]" if keep_brackets else r"[*_`\"'„”“’()\[\]{}]", "", text)


def _quote(text: str, limit: int = 120) -> str:
    """The answer's end, where its verdict should be, for an error message."""
    text = text.strip()
    return repr(text) if len(text) <= limit else f"...{text[-limit:]!r} ({len(text):,} characters)"


assert {"en", "pl"} <= set(LANGUAGES)  # the labels and connectives above are written for these
