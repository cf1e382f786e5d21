"""Training pairs as they come in use: without page titles, or with a title that says nothing.

A verifier that always saw "TITLE: TEXT" leans on the title for who "he" is, and falls where a retriever gives none.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace

from citeverifier.records import Pair
from citeverifier.text.language import language


def vary_titles(pairs: Iterable[Pair], dropped: float, replaced: float, seed: int) -> Iterator[Pair]:
    """The pairs: a share `dropped` without document titles, a share `replaced` titled "Document", the rest as they are.

    All pairs of a statement and of its twin fare alike, so that titles tell no label.
    """
    for pair in pairs:
        statement = pair.statement_id.removesuffix("/corrupted")
        drawn = random.Random(f"{seed}:titles:{statement}:{pair.lang}").random()
        if drawn >= dropped + replaced:
            yield pair
        else:
            title = "" if drawn < dropped else language(pair.lang).untitled
            yield replace(pair, documents=tuple(replace(document, title=title) for document in pair.documents))
