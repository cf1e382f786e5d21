"""Held: differences are those of the metrics, p-values are small for real ones only, and calibrated."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from citeverifier.metrics.bootstrap import resamples
from citeverifier.metrics.decisions import auroc, count
from citeverifier.metrics.paired import Difference, difference, metric_samples


def paired_differences(
    gold: np.ndarray,
    decisions: tuple[np.ndarray, np.ndarray],
    scores: tuple[np.ndarray, np.ndarray] | None,
    units: list[int],
) -> dict[str, Difference]:
    """Each metric of the first minus the second, resampled together."""
    sampled = resamples(units)
    first, second = (
        metric_samples(gold, decisions[i], None if scores is None else scores[i], units, sampled) for i in (0, 1)
    )
    return {name: difference(first[name], second[name]) for name in first}


def trials(n: int, seed: int = 0) -> tuple[np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return rng.random(n) < 0.5, rng


def flipped(gold: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(gold ^ (rng.random(len(gold)) < share))


def test_values_are_differences_of_the_metrics() -> None:
    gold, rng = trials(200)
    decisions = (flipped(gold, 0.2, rng), flipped(gold, 0.3, rng))
    scores = (gold * 0.4 + rng.random(200), gold * 0.2 + rng.random(200))
    deltas = paired_differences(gold, decisions, scores, list(range(200)))
    metrics = [count(gold, decision).metrics() for decision in decisions]
    for name in ("accuracy", "f1"):
        assert deltas[name].value == pytest.approx(metrics[0][name] - metrics[1][name])
    assert deltas["auroc"].value == pytest.approx(float(auroc(gold, scores[0])) - float(auroc(gold, scores[1])))
    for one in deltas.values():
        assert one.low <= one.value <= one.high


def test_the_same_decisions_differ_by_nothing() -> None:
    gold, rng = trials(100)
    decision, score = flipped(gold, 0.2, rng), rng.random(100)
    for delta in paired_differences(gold, (decision, decision), (score, score), list(range(100))).values():
        assert (delta.value, delta.low, delta.high, delta.p) == (0, 0, 0, 1)


def test_a_clear_difference_has_a_small_p_and_turns_its_sign() -> None:
    gold, rng = trials(300)
    good, bad = flipped(gold, 0.05, rng), flipped(gold, 0.4, rng)
    there = paired_differences(gold, (good, bad), None, list(range(300)))
    back = paired_differences(gold, (bad, good), None, list(range(300)))
    assert "auroc" not in there
    for name in ("accuracy", "f1"):
        assert there[name].p == pytest.approx(2 / 1001), "the least that a thousand resamples can say"
        assert there[name].low > 0 > back[name].high
        assert back[name].p == there[name].p


def test_p_is_near_mcnemars() -> None:
    gold = np.ones(400, dtype=bool)
    first, second = gold.copy(), gold.copy()
    first[:20], second[20:55] = False, False  # 20 against 35 discordant trials
    delta = paired_differences(gold, (first, second), None, list(range(400)))["accuracy"]
    assert delta.value == pytest.approx(15 / 400)
    assert delta.p == pytest.approx(
        2 * norm.sf(15 / math.sqrt(55)), abs=0.025
    )  # .043; a thousand resamples give or take


def test_trials_of_one_question_are_one_draw() -> None:
    gold, rng = trials(60)
    decisions = flipped(gold, 0.1, rng), flipped(gold, 0.25, rng)
    alone = paired_differences(gold, decisions, None, list(range(60)))["accuracy"]
    tenfold = tuple(np.tile(decision, 10) for decision in decisions)
    tied = paired_differences(np.tile(gold, 10), (tenfold[0], tenfold[1]), None, list(range(60)) * 10)["accuracy"]
    assert (tied.value, tied.low, tied.high, tied.p) == pytest.approx((alone.value, alone.low, alone.high, alone.p))


def test_p_is_small_by_chance_about_as_often_as_it_says() -> None:
    small = 0
    for seed in range(200):
        gold, rng = trials(150, seed)
        decisions = flipped(gold, 0.3, rng), flipped(gold, 0.3, rng)
        small += paired_differences(gold, decisions, None, list(range(150)))["accuracy"].p < 0.05
    assert 1 <= small <= 22  # 10 expected; 5 standard deviations would be 25


def test_undefined_metrics_stay_undefined() -> None:
    gold = np.zeros(4, dtype=bool)
    decision = np.array([False, False, False, False])
    deltas = paired_differences(gold, (decision, decision), (np.arange(4.0), np.arange(4.0)), [0, 1, 2, 3])
    assert math.isnan(deltas["f1"].p)
    assert math.isnan(deltas["auroc"].p)
    assert deltas["accuracy"].p == 1
