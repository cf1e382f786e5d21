"""Held: kappa is scikit-learn's, chance alone is no agreement, and lengths must agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from citeverifier.metrics.agreement import agreement


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_kappa_is_scikit_learns(decisions: list[tuple[bool, bool]]) -> None:
    first, second = (np.array(column, dtype=bool) for column in zip(*decisions, strict=True))
    found = agreement(first, second)
    assert found.n == len(decisions)
    assert found.equal == pytest.approx(np.mean([a == b for a, b in decisions]))
    if len({*first, *second}) == 1:
        assert math.isnan(found.kappa)
    else:
        assert found.kappa == pytest.approx(cohen_kappa_score(first, second))


def test_opposites() -> None:
    first = np.array([True, False, True, False])
    assert agreement(first, ~first).kappa == -1
    assert agreement(first, first).kappa == 1


def test_nothing_in_common_is_undefined() -> None:
    none = np.empty(0, dtype=bool)
    found = agreement(none, none)
    assert found.n == 0
    assert math.isnan(found.equal)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="got 2 and 3"):
        agreement(np.zeros(2, dtype=bool), np.zeros(3, dtype=bool))
