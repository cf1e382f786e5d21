"""What is looked for in an LLM's text before it becomes data: refusals, its language, lost numbers and names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from citeverifier.data.perturb import names, numbers
from citeverifier.llm.parsing import parse_json
from citeverifier.records import LANGUAGES
from citeverifier.text.language import language
from citeverifier.text.sentences import sentences
from citeverifier.text.words import normalise, words

_LONG = 16  # a text of so many words holds a stop word or a letter of its language's own
_FEW = 3  # so many names tell whether names were kept
_CAPITAL_FIRST = re.compile(r"^\W*\w+")
_STEM = 4  # letters that survive inflection: "Warsaw", "Warszawie"

_FAILURES = {"cut": "reply cut off", "refused": "refusal", "empty": "empty reply", "expected JSON": "no JSON"}
NO_REPLY = "no reply"  # the server gave none; the client has tried again already


def failure(error: str | None) -> str:
    """Why a reply has no text, as one of a few reasons to count; NO_REPLY where asking in another way is no help."""
    return next((reason for start, reason in _FAILURES.items() if (error or "").startswith(start)), NO_REPLY)


def is_refusal(text: str) -> bool:
    """Whether a reply begins by refusing, in any known language."""
    start = text.strip().lower().replace("’", "'")[:60]
    return any(start.startswith(phrase) for code in LANGUAGES for phrase in language(code).refusals)


def object_schema(**fields: str | Sequence[str]) -> dict[str, Any]:
    """The JSON schema of an object with these fields: a type, or the strings that a field may be."""
    properties = {
        name: {"type": kind} if isinstance(kind, str) else {"type": "string", "enum": list(kind)}
        for name, kind in fields.items()
    }
    return {"type": "object", "properties": properties, "required": list(fields), "additionalProperties": False}


def json_object(text: str) -> Mapping[str, Any] | str:
    """The one JSON object of a reply, or why there is none: "refusal" or "no JSON"."""
    value, _ = parse_json(text)
    if isinstance(value, Mapping):
        return value
    return "refusal" if is_refusal(text) else "no JSON"


def in_language(text: str, lang: str) -> bool:
    """Whether a text may be of a language, by stop words that only one language has; short texts often tell nothing.

    False where another language has more of them, or where a long text has none of its own.
    """
    spoken = words(text)
    counts = {}
    for code in LANGUAGES:
        foreign = {word for other in LANGUAGES if other != code for word in _small_words(other)}
        counts[code] = sum(word in _small_words(code) - foreign for word in spoken)
    if max((count for code, count in counts.items() if code != lang), default=0) > counts[lang]:
        return False
    letters = language(lang).letters
    return counts[lang] > 0 or len(spoken) < _LONG or any(letters & set(word) for word in spoken)


def _small_words(lang: str) -> frozenset[str]:
    return language(lang).stop_words | language(lang).pronouns


def same_words(first: str, second: str) -> bool:
    """Whether two texts differ in nothing but spacing, case and punctuation."""
    return normalise(first) == normalise(second)


def lost_numbers(source: str, target: str) -> list[str]:
    """The numbers of two or more digits that a translation lacks, however written ("1,234", "1 234", "5 tys.")."""
    units = {unit: factor for code in LANGUAGES for unit, factor in language(code).large_numbers.items()}
    written = words(target)
    held = set(written)
    for number, unit in pairwise(written):
        for beginning, factor in units.items():
            if unit.startswith(beginning) and number.isdigit():
                held.add(str(int(number) * factor))
    return [number for number in dict.fromkeys(numbers(source)) if len(number) > 1 and words(number)[0] not in held]


def names_kept(source: str, target: str, lang: str) -> float:
    """The share of the source's names that the target holds, by the beginnings of their words; 1 where it has few.

    `lang` is the source's. A capital at a sentence's beginning makes no name. Some names have another form in another
    language ("Germany", "Niemcy"), so the share is seldom 1, and tells only where most are missing.
    """
    inside = " ".join(_CAPITAL_FIRST.sub(" ", sentence) for sentence in sentences(source, lang))
    in_source = names(inside, lang)
    if len(in_source) < _FEW:
        return 1.0
    stems = {_stem(word) for word in words(target)}
    return sum(any(_stem(word) in stems for word in words(name)) for name in in_source) / len(in_source)


def _stem(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.replace("ł", "l"))
    return "".join(sign for sign in plain if not unicodedata.combining(sign))[:_STEM]
