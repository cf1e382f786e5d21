"""Sentences of a text, by yasbd's rules per language (abbreviations such as "m.in.", "prof.", "U.S." end none)."""

from __future__ import annotations

from functools import cache
from typing import Any

from citeverifier.records import LANGUAGES


@cache
def _splitter(lang: str) -> Any:
    from yasbd import BoundaryDetector

    if lang not in LANGUAGES:
        raise ValueError(f"expected a language of {', '.join(LANGUAGES)}, came {lang!r}")
    return BoundaryDetector(lang)


def sentences(text: str, lang: str) -> list[str]:
    """The sentences of a text in order, stripped, none empty."""
    return [part.strip() for part in _splitter(lang).segment(text) if part.strip()]
