"""Token overlap, the floor: the share of a statement's words that its premise holds."""

from __future__ import annotations

from collections.abc import Sequence

from citeverifier.records import Pair, Support
from citeverifier.text.rendering import render_document
from citeverifier.text.word_overlap import word_overlap
from citeverifier.verifiers.base import Scorer, Scores, score_each


class Keyword(Scorer):
    """Share of the statement's distinct words (stop words left out) found in any document of the premise.

    One score answers both levels. A statement of stop words alone is unscored.
    """

    name = "keyword"

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """Overlap in [0, 1] of each pair."""
        return score_each(pairs, _overlap)


def _overlap(pair: Pair) -> float | str:
    share = word_overlap(pair.statement, map(render_document, pair.documents), pair.lang)
    return "the statement has no words besides stop words" if share is None else share
