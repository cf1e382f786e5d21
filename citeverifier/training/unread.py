"""Which documents a reader need not read: those that match a statement so little that reading never made it likely."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from citeverifier.models.cut_points import probability
from citeverifier.records import Support

LIKELY = 0.25  # P(support >= partial) of pairs that have to be read
MISSED = 0.005  # of which so many may match less than what is read
LEAST = 200  # of them, for a limit that means something


def fit_unread(
    matched: NDArray[np.float64], read: NDArray[np.float64], logits: NDArray[np.float64]
) -> Mapping[str, float]:
    """{"below": the logit of the matches under which nothing is read, "logit": what stands for the reader's then}.

    Empty where dev has fewer than LEAST likely pairs, or all match as well as they do: everything is read.

    Args:
        matched, read, logits: (n,) folded logits of dev pairs: of the matches, of the reader, and of all together.
    """
    likely = probability(logits, Support.PARTIAL, delta=0.0) >= LIKELY
    if likely.sum() < LEAST:
        return {}
    below = float(np.quantile(matched[likely], MISSED))
    far = matched < below
    return {"below": round(below, 4), "logit": round(float(read[far].mean()), 4)} if far.any() else {}
