"""A verifier that knows the bundled set: a statement with all of its cited documents is supported, nothing else is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citeverifier.data.mini import load_mini
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores

_KNOWN = {
    statement.text: {example.documents[position].text for position in statement.citations}
    for example in load_mini()
    for statement in example.statements
}


class Oracle(Scorer):
    """1 where the premise holds every document that the statement cites in the bundled set, else 0."""

    name = "oracle"

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """0 or 1."""
        held = [{document.text for document in pair.documents} for pair in pairs]
        needed = [_KNOWN.get(pair.statement) for pair in pairs]
        return Scores(np.array([float(n is not None and n <= h) for n, h in zip(needed, held, strict=True)]))
