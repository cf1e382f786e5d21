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
        if found and found[-1].split()[-1].lstrip("(").lower() in language(lang).never_last:
            found[-1] = f"{found[-1]} {part}".strip()
        elif part:
            found.append(part)
    return found
