"""The keyword verifier at a pace at which a run can be killed in the middle."""

from __future__ import annotations

import time
from collections.abc import Sequence

from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scores
from citeverifier.verifiers.keyword import Keyword


class SlowKeyword(Keyword):
    """Takes half a second for every call."""

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """As Keyword does."""
        time.sleep(0.5)
        return super().score(pairs, level)
