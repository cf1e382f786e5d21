"""Held: intervals by bootstrap over questions, a question's items drawn together, the same for the same seed.

Differences are those of the metrics; p-values are small for real ones only, and calibrated.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from citeverifier.metrics.bootstrap import (
    Difference,
    auroc_estimate,
    decision_estimates,
    difference,
    harmonic,
    mean_estimate,
    metric_samples,
    resamples,
    share_samples,
)
from citeverifier.metrics.decisions import auroc, count

seeds = st.integers(0, 2**32 - 1)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=30), st.integers(1, 20), seeds)
def test_a_resample_draws_as_many_questions_as_there_are(units: list[str], rounds: int, seed: int) -> None:
    sampled = resamples(units, rounds, seed)
    assert list(sampled.numbers) == list(dict.fromkeys(units))
    assert sampled.weights.shape == (1 + rounds, len(set(units)))
    assert np.array_equal(sampled.weights[0], np.ones(len(set(units))))
    assert np.array_equal(sampled.weights.sum(axis=1), np.full(1 + rounds, len(set(units))))
    assert [list(sampled.numbers)[number] for number in sampled.of(units)] == units


def test_a_question_can_be_drawn_twice_or_not_at_all() -> None:
    drawn = resamples(range(10), rounds=200).weights[1:]
    assert drawn.min() == 0
    assert drawn.max() > 1
    assert len(np.unique(drawn, axis=0)) > 150


def test_resamples_depend_on_the_seed_only() -> None:
    again = [resamples(range(20), seed=seed).weights for seed in (13, 13, 14)]
    assert np.array_equal(again[0], again[1])
    assert not np.array_equal(again[0], again[2])


def test_no_questions_give_nan() -> None:
    sampled = resamples([], rounds=5)
    nothing = np.array([], dtype=bool)
    estimates = decision_estimates(nothing, nothing, sampled.of([]), sampled)
    estimates["auroc"] = auroc_estimate(nothing, np.array([]), sampled.of([]), sampled)
    assert all(math.isnan(x) for e in estimates.values() for x in (e.value, e.low, e.high))


items = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.booleans(), st.booleans(), st.sampled_from([0.1, 0.4, 0.4, 0.9])),
    min_size=1,
    max_size=25,
)


@settings(max_examples=40)
@given(items, seeds)
def test_intervals_are_those_of_items_repeated(rows: list[tuple[str, bool, bool, float]], seed: int) -> None:
    units = [row[0] for row in rows]
    gold, decision, score = (np.array([row[i] for row in rows]) for i in (1, 2, 3))
    sampled = resamples(units, rounds=30, seed=seed)
    unit = sampled.of(units)
    drawn: dict[str, list[float]] = {"auroc": [], "share": []}
    for weights in sampled.weights:
        times = weights[unit].astype(int)
        for name, value in count(gold.repeat(times), decision.repeat(times)).metrics().items():
            drawn.setdefault(name, []).append(value)
        drawn["auroc"].append(float(auroc(gold.repeat(times), score.repeat(times))))
        drawn["share"].append(float(decision.repeat(times).mean()) if times.sum() else math.nan)
    estimates = decision_estimates(gold, decision, unit, sampled)
    estimates |= {
        "auroc": auroc_estimate(gold, score, unit, sampled),
        "share": mean_estimate(decision, unit, sampled),
    }
    assert estimates.keys() == drawn.keys()
    for name, estimate in estimates.items():
        defined = [value for value in drawn[name][1:] if not math.isnan(value)]
        low, high = np.percentile(defined, [2.5, 97.5]) if defined else (math.nan, math.nan)
        assert estimate.value == pytest.approx(drawn[name][0], nan_ok=True)
        assert (estimate.low, estimate.high) == pytest.approx((low, high), nan_ok=True)


def test_questions_that_stand_together_widen_the_interval() -> None:
    right = np.repeat(np.arange(20) % 2 == 0, 10)  # ten items a question, all right or all wrong
    grouped, apart = np.repeat(np.arange(20), 10), np.arange(200)
    by_question = mean_estimate(right, grouped, resamples(grouped.tolist()))
    by_item = mean_estimate(right, apart, resamples(apart.tolist()))
    assert by_question.high - by_question.low > 2 * (by_item.high - by_item.low)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rate", [0.35, 0.5, 0.65])
def test_ordinary_intervals_hold_the_point_and_have_width(rate: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold = rng.random(200) < 0.5
    score = np.where(gold, rng.beta(3, 2, 200), rng.beta(2, 3, 200))
    sampled = resamples(range(200), rounds=300, seed=seed)
    unit = np.arange(200)
    estimates = decision_estimates(gold, score >= rate, unit, sampled)
    estimates["auroc"] = auroc_estimate(gold, score, unit, sampled)
    estimates["share"] = mean_estimate(score >= rate, unit, sampled)
    for name, e in estimates.items():
        assert e.low <= e.value <= e.high, name
        assert 0 < e.high - e.low < 0.5, name


def test_shares_weigh_their_items_and_the_harmonic_mean_is_of_each_resample() -> None:
    unit = np.array([0, 1, 1, 1])
    sampled = resamples([0, 1], rounds=50)
    right, weight = np.array([True, False, False, True]), np.array([1, 1 / 3, 1 / 3, 1 / 3])
    samples = share_samples(right, weight, unit, sampled)
    assert samples[0] == pytest.approx((1 + 1 / 3) / 2)
    assert {round(value, 6) for value in samples.tolist()} <= {1.0, round(1 / 3, 6), round(2 / 3, 6)}
    recall, precision = np.array([1.0, 0.0, 0.5, math.nan]), np.array([0.5, 0.0, 0.5, 1.0])
    assert harmonic(recall, precision) == pytest.approx([2 / 3, 0.0, 0.5, math.nan], nan_ok=True)


# --- two verifiers on the same trials --------------------------------------------------------------------------------


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
