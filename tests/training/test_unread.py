"""Documents that match too little to be read: the limit keeps all but a few of what reading makes likely."""

from __future__ import annotations

import numpy as np
import pytest

from citeverifier.training.unread import LEAST, LIKELY, MISSED, fit_unread


def test_few_likely_pairs_lie_below_the_limit() -> None:
    rng = np.random.default_rng(1)
    matched = rng.normal(size=5000) * 2
    read = matched + rng.normal(size=5000)
    fitted = fit_unread(matched, read, matched + read)
    likely = matched + read >= np.log(LIKELY / (1 - LIKELY))
    far = matched < fitted["below"]
    assert 0 < far[likely].mean() <= MISSED + 1 / likely.sum()
    assert far.mean() > 0.1
    assert fitted["logit"] == pytest.approx(read[far].mean(), abs=1e-3)


def test_everything_is_read_where_dev_does_not_tell() -> None:
    few = np.linspace(-3, 3, LEAST)
    assert fit_unread(few, few, few) == {}
    same = np.ones(2 * LEAST)
    assert fit_unread(same, same, same) == {}
