"""Statements whose numbers, dates and signs are written otherwise than in their documents: "12%" and "12 percent"."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache

from citeverifier.records import Pair, twin_id
from citeverifier.text.language import Language, language
from citeverifier.text.quantities import QuantityReader

_LONG = 10_000  # from here on a number is grouped: shorter ones may be years
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[,\u00a0 ]\d{3})+(?![\d.,]\d)")
_UNGROUPED = re.compile(r"(?<![\d.,])\d{5,}(?![\d.,]\d)")
_COUNT = re.compile(r"(\b[a-z]+,? )(\d{1,2})(?= [a-z])")  # "has 5 towns", but no decimal, score, or "Aster 5"
_SIGNS = str.maketrans("–—“”„’", '--"""\'')


def vary_notation(pairs: Iterable[Pair], share: float, seed: int) -> Iterator[Pair]:
    """The pairs, in a share of which the statement writes its numbers, dates and signs in another way.

    A verifier that saw few such pairs takes "12 percent" for another number than "12%". All pairs of a statement and of
    its twin are drawn alike, so that notation tells no label. Statements with marked spans stay as they are.
    """
    for pair in pairs:
        rng = random.Random(f"{seed}:notation:{twin_id(pair.statement_id)}:{pair.lang}")
        if rng.random() < share and not pair.unsupported:
            pair = replace(pair, statement=rewritten(pair.statement, pair.lang, rng))
        yield pair


def rewritten(text: str, lang: str, rng: random.Random) -> str:
    """The text, each kind of notation in it changed or left by chance; its quantities stay the same."""
    for rule in _RULES:
        changed = rule(text, language(lang))
        if changed != text and rng.random() < 0.7 and _values(changed, lang) == _values(text, lang):
            text = changed
    return text


def _values(text: str, lang: str) -> list[float]:
    return sorted(quantity.value for quantity in _reader(lang).read(text))


@cache
def _reader(lang: str) -> QuantityReader:
    return QuantityReader([language(lang).quantities])


def _percent(text: str, words: Language) -> str:
    said = "|".join(map(re.escape, words.percent_words))
    other = re.sub(rf"(?<=\d) (?:{said})\b", "%", text)
    return other if other != text else re.sub(r"(?<=\d)\s?%", f" {words.percent_words[0]}", text)


def _millions(text: str, words: Language) -> str:
    """In digits, grouped: 86.4 million."""
    large = {word: value for word, value in words.quantities["large"].items() if value >= 1e6 and len(word) > 2}
    number = re.compile(rf"(?<![\d.,])(\d{{1,3}}(?:[.,]\d{{1,3}})?) ({'|'.join(large)})\b")

    def in_digits(match: re.Match[str]) -> str:
        return _grouped(round(float(match[1].replace(",", ".")) * large[match[2]]), words)

    return number.sub(in_digits, text)


def _thousands(text: str, words: Language) -> str:
    other = _GROUPED.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    return other if other != text else _UNGROUPED.sub(lambda match: _grouped(int(match[0]), words), text)


def _grouped(number: int, words: Language) -> str:
    return f"{number:,}".replace(",", words.thousands) if number >= _LONG else str(number)


def _counts(text: str, words: Language) -> str:
    """Small numbers in digits, or in words where a language has one word for each."""
    numbers = words.quantities["numbers"]
    word = re.compile(rf"(?<![\w-])(?:{'|'.join(numbers)})(?![\w-])")
    other = word.sub(lambda match: str(numbers[match[0]]), text)
    in_words = {str(value): name for name, value in numbers.items()}
    if other != text or len(in_words) < len(numbers):
        return other
    months = {month.capitalize() for month in words.quantities["months"]}
    if months & set(re.findall(r"\w+", text)):
        return text
    return _COUNT.sub(lambda match: f"{match[1]}{in_words.get(match[2], match[2])}", text)


def _dates(text: str, words: Language) -> str:
    """From "21 July 1969" to "July 21, 1969" or back, where the language has both."""
    if not words.month_first:
        return text
    month = "|".join(month.capitalize() for month in words.quantities["months"])
    other = re.sub(rf"\b(\d{{1,2}}) ({month}) (\d{{4}})\b", r"\2 \1, \3", text)
    return other if other != text else re.sub(rf"\b({month}) (\d{{1,2}}), (\d{{4}})\b", r"\2 \1 \3", text)


def _signs(text: str, words: Language) -> str:
    return text.translate(_SIGNS)


_RULES: tuple[Callable[[str, Language], str], ...] = (_percent, _thousands, _millions, _counts, _dates, _signs)
