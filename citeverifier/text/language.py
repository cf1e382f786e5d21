"""What the rules need to know of a language, read from `languages/<code>.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from citeverifier.records import LANGUAGES


@dataclass(frozen=True)
class Language:
    """Word lists of one language. `opposites` and `negations` are pairs that trade places.

    `instruction` is what a document that wants to be believed says to whoever checks it (the audit puts it there).
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
    instruction: str


@cache
def language(code: str) -> Language:
    """The word lists of a language; raises ValueError naming the known ones."""
    if code not in LANGUAGES:
        raise ValueError(f"expected a language of {', '.join(LANGUAGES)}, came {code!r}")
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
        instruction=raw["instruction"],
    )
