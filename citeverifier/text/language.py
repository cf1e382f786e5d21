"""What the rules need to know of a language, read from `languages/<code>.yaml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from citeverifier.records import LANGUAGES
from citeverifier.text.words import words


@dataclass(frozen=True)
class Language:
    """Word lists of one language. `opposites` and `negations` are pairs that trade places.

    `source_headings` head an answer's list of sources, in lower case. `instruction` is what a document that wants to be
    believed says to whoever checks it (the audit puts it there). `letters` tell the language from others.
    `large_numbers`: by how words for them begin. `refusals`: how a model begins that refuses. `reply_words`: by what
    they mean, for reading a model's free answer; `*` ends a word in any way.
    `notes_title`: of a made document about others.
    """

    code: str
    name: str
    pronouns: frozenset[str]
    months: tuple[str, ...]
    yes_no: tuple[str, str]
    opposites: tuple[tuple[str, str], ...]
    negations: tuple[tuple[str, str], ...]
    never_last: frozenset[str]
    stop_words: frozenset[str]
    source_headings: frozenset[str]
    instruction: str
    letters: frozenset[str]
    large_numbers: Mapping[str, int]
    refusals: tuple[str, ...]
    reply_words: Mapping[str, tuple[str, ...]]
    notes_title: str


@cache
def language(code: str) -> Language:
    """The word lists of a language; raises ValueError naming the known ones."""
    if code not in LANGUAGES:
        raise ValueError(f"expected a language of {', '.join(LANGUAGES)}, got {code!r}")
    path = Path(__file__).parent / "languages" / f"{code}.yaml"
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    yes, no = raw["yes_no"]
    return Language(
        code=code,
        name=raw["name"],
        pronouns=frozenset(raw["pronouns"]),
        months=tuple(raw["months"]),
        yes_no=(yes, no),
        opposites=tuple((a, b) for a, b in raw["opposites"]),
        negations=tuple((a, b) for a, b in raw["negations"]),
        never_last=frozenset(raw["never_last"]),
        stop_words=frozenset(raw["stop_words"]),
        source_headings=frozenset(raw["source_headings"]),
        instruction=raw["instruction"],
        letters=frozenset(raw.get("letters", "")),
        large_numbers=raw["large_numbers"],
        refusals=tuple(raw["refusals"]),
        reply_words={kind: tuple(some) for kind, some in raw["reply_words"].items()},
        notes_title=raw["notes_title"],
    )


def guess_language(text: str) -> str:
    """The language whose own stop words and pronouns a text has most of; the first known one where it has none."""
    said = Counter(words(text))
    small = {code: language(code).stop_words | language(code).pronouns for code in LANGUAGES}

    def count(code: str) -> int:
        foreign = frozenset[str]().union(*(own for other, own in small.items() if other != code))
        return sum(said[word] for word in small[code] - foreign)

    return max(LANGUAGES, key=count)
