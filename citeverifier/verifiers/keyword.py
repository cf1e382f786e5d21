"""Token overlap, the floor: the share of a statement's words that its premise holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citeverifier.cost import Cost
from citeverifier.records import Pair, Support
from citeverifier.text.language import language
from citeverifier.text.rendering import render_document
from citeverifier.text.words import words
from citeverifier.verifiers.base import Scorer, Scores


class Keyword(Scorer):
    """Share of the statement's distinct words (stop words left out) found in any document of the premise.

    One score answers both levels. A statement of stop words alone is unscored.
    """

    name = "keyword"

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """Overlap in [0, 1] of each pair."""
        values = np.full(len(pairs), np.nan)
        reasons = {}
        for i, pair in enumerate(pairs):
            asked = set(words(pair.statement)) - language(pair.lang).stop_words
            if not asked:
                reasons[i] = "the statement has no words besides stop words"
                continue
            held = {word for document in pair.documents for word in words(render_document(document))}
            values[i] = len(asked & held) / len(asked)
        return Scores(
            values, reasons, cost=Cost(distinct_pairs=len({(pair.statement, pair.documents) for pair in pairs}))
        )
