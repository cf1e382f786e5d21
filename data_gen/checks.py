"""What is looked for in an LLM's text before it becomes data: refusals, its language, lost numbers and names."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from citeverifier.data.perturb import names, numbers
from citeverifier.llm.parsing import parse_json
from citeverifier.records import LANGUAGES
from citeverifier.text.language import language
from citeverifier.text.words import normalise, words

_REFUSALS = {
    "en": ("i'm sorry", "i am sorry", "i cannot", "i can't", "i'm unable", "i am unable", "as an ai"),
    "pl": ("przykro mi", "przepraszam", "nie mogę", "nie jestem w stanie", "jako model językowy"),
}
_LONG = 12  # a text of so many words holds a stop word
_STEM = 4  # letters that survive inflection: "Warsaw", "Warszawie"


def is_refusal(text: str) -> bool:
    """Whether a reply begins by refusing, in any known language."""
    start = text.strip().lower().replace("’", "'")[:60]
    return any(start.startswith(phrase) for phrases in _REFUSALS.values() for phrase in phrases)


def json_object(text: str) -> Mapping[str, Any] | str:
    """The one JSON object of a reply, or why there is none: "refusal" or "no JSON"."""
    found, _ = parse_json(text)
    if isinstance(found, Mapping):
        return found
    return "refusal" if is_refusal(text) else "no JSON"


def in_language(text: str, lang: str) -> bool:
    """Whether a text may be of a language, by stop words that only one language has; short texts often tell nothing.

    False where another language has more of them, or where a long text has none of its own.
    """
    said = words(text)
    counts = {}
    for code in LANGUAGES:
        foreign = {word for other in LANGUAGES if other != code for word in _small_words(other)}
        counts[code] = sum(word in _small_words(code) - foreign for word in said)
    if max(count for code, count in counts.items() if code != lang) > counts[lang]:
        return False
    return counts[lang] > 0 or len(said) < _LONG


def _small_words(lang: str) -> frozenset[str]:
    return language(lang).stop_words | language(lang).pronouns


def same_words(first: str, second: str) -> bool:
    """Whether two texts differ in nothing but spacing, case and punctuation."""
    return normalise(first) == normalise(second)


def lost_numbers(source: str, target: str) -> list[str]:
    """The numbers of two or more digits that a translation does not hold, however it groups them ("1,234", "1 234")."""
    held = set(words(target))
    return [number for number in dict.fromkeys(numbers(source)) if len(number) > 1 and words(number)[0] not in held]


def names_kept(source: str, target: str, lang: str) -> float:
    """The share of the source's names that the target holds, by the beginnings of their words; 1 where it has none.

    `lang` is the source's. Some names have another form in another language ("Germany", "Niemcy"), so the share is
    seldom 1, and tells only where most are missing.
    """
    found = names(source, lang)
    if not found:
        return 1.0
    stems = {_stem(word) for word in words(target)}
    return sum(any(_stem(word) in stems for word in words(name)) for name in found) / len(found)


def _stem(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.replace("ł", "l"))
    return "".join(sign for sign in plain if not unicodedata.combining(sign))[:_STEM]
