"""Held: weighted correlations and areas are scipy's and scikit-learn's of the repeated items; nan where undefined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from citeverifier.metrics.correlation import kendall, one_against_one, pearson, spearman


@pytest.mark.parametrize("seed", range(5))
def test_each_resample_gives_what_its_repeated_items_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    score, label = rng.normal(size=40).round(1), rng.integers(0, 3, 40)
    weights = np.vstack([np.ones(40), rng.multinomial(40, np.full(40, 1 / 40), size=4)]).astype(float)
    ours = {
        "pearson": pearson(score, label.astype(float), weights),
        "spearman": spearman(score, label.astype(float), weights),
        "kendall": kendall(score, label, weights),
    }
    areas = one_against_one(score, label, weights)
    for i, drawn in enumerate(weights.astype(int)):
        s, n = np.repeat(score, drawn), np.repeat(label, drawn)
        expected = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
        for name, of in expected.items():
            assert ours[name][i] == pytest.approx(of(s, n)[0], abs=1e-9)
        by_hand = []
        for name, high, low in (("fs_ns", 2, 0), ("fs_ps", 2, 1), ("ps_ns", 1, 0)):
            both = (n == high) | (n == low)
            by_hand.append(roc_auc_score(n[both] == high, s[both]))
            assert areas[name][i] == pytest.approx(by_hand[-1])
        assert areas["overall"][i] == pytest.approx(np.mean(by_hand))
        assert areas["overall"][i] == pytest.approx(_hand_and_till(s, n))


def _hand_and_till(score: np.ndarray, label: np.ndarray) -> float:
    """The multi-class area of one-against-one comparisons, counted pair by pair."""
    areas = []
    for high, low in ((2, 0), (2, 1), (1, 0)):
        difference = score[label == high][:, None] - score[label == low][None, :]
        areas.append(((difference > 0) + 0.5 * (difference == 0)).mean())
    return float(np.mean(areas))


def test_what_a_constant_or_one_level_leaves_undefined_is_nan() -> None:
    whole = np.ones((1, 4))
    same, rising = np.full(4, 0.3), np.arange(4.0)
    assert np.isnan(pearson(same, rising, whole)).all()
    assert np.isnan(spearman(rising, same, whole)).all()
    assert np.isnan(kendall(rising, np.zeros(4, dtype=int), whole)).all()
    areas = one_against_one(rising, np.array([2, 2, 1, 1]), whole)
    assert areas["fs_ps"][0] == 0.0
    assert np.isnan([areas["fs_ns"][0], areas["ps_ns"][0], areas["overall"][0]]).all()
