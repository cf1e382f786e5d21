"""The words of a text that another, nearly equal one has otherwise."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_LEAST_ALIKE = 0.6  # below it the texts are worded too differently for single words to stand for the difference
_WORD = re.compile(r"\w+(?:[.,]\d+)*|[^\w\s]")


def changed_words(before: str, after: str) -> tuple[tuple[int, int], ...]:
    """Spans (start, end) in characters of `after` whose words `before` does not have there; () where they differ a lot.

    Of words that changed places both are named; where words are only missing from `after`, those on both sides of the
    gap.
    """
    old = [word.lower() for word in _WORD.findall(before)]
    words = list(_WORD.finditer(after))
    new = [word.group().lower() for word in words]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _LEAST_ALIKE:
        return ()
    places: set[int] = set()
    if sorted(old) == sorted(new):
        places.update(place for place, (one, other) in enumerate(zip(old, new, strict=True)) if one != other)
    else:
        for operation, _, _, first, last in matcher.get_opcodes():
            if operation == "delete":
                first, last = max(0, first - 1), min(len(words), first + 1)
            if operation != "equal":
                places.update(range(first, last))
    return tuple(words[place].span() for place in sorted(places))
