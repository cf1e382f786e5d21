"""Sentences of a text, by yasbd's rules per language (abbreviations such as "m.in.", "prof.", "U.S." end none)."""

from __future__ import annotations

from functools import cache
from typing import Any

from citeverifier.records import LANGUAGES
from citeverifier.text.language import language


@cache
def _splitter(lang: str) -> Any:
    from yasbd import BoundaryDetector

    if lang not in LANGUAGES:
        raise ValueError(f"expected a language of {', '.join(LANGUAGES)}, got {lang!r}")
    return BoundaryDetector(lang)


def sentences(text: str, lang: str) -> list[str]:
    """The sentences of a text in order, stripped, none empty."""
    found: list[str] = []
    for part in map(str.strip, _splitter(lang).segment(text)):
        if found and part and _goes_on(found[-1], part, lang):
            found[-1] = f"{found[-1]} {part}"
        elif part:
            found.append(part)
    return found


def _goes_on(before: str, after: str, lang: str) -> bool:
    """Whether what the splitter took for the end of a sentence is the end of an abbreviation."""
    known = language(lang)
    last, first = before.split()[-1].lstrip("(").lower(), after.split()[0].strip(",;:").lower()
    return last in known.never_last or (last in known.seldom_last and first not in known.stop_words | known.pronouns)
