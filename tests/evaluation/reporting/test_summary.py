"""Held: every key of metrics.json; unscored out of the headline, wrong beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from by_hand import right
from sklearn.metrics import f1_score, roc_auc_score

from citeverifier.cost import Cost
from citeverifier.data.mini import load_mini
from citeverifier.evaluation.schemes.cite_separate import CiteSeparate
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.pairs import Pairs
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.evaluation.schemes.trials import Prediction, Trial
from citeverifier.records import Example, Pair, Support

Evaluate = Callable[..., tuple[list[Prediction], dict[str, Any]]]
NAMES = ("accuracy", "acc_true", "acc_false", "f1")


# --- the file's contract -----------------------------------------------------------------------------------------


def noisy(trial: Trial) -> float:
    """An ordinary verifier: right more often than not, with ties."""
    draw = np.random.default_rng(list(trial.id.encode())).normal(0.6 if trial.gold else 0.4, 0.2)
    return float(np.clip(draw, 0, 1).round(2))


def unscored(*settings: str, otherwise: Callable[[Trial], float] = noisy) -> Callable[[Trial], float]:
    return lambda trial: math.nan if trial.setting in settings else otherwise(trial)


@pytest.fixture(scope="module")
def mini() -> list[Example]:
    return load_mini("test", "en")


def test_every_key_of_the_contract_is_there(evaluate: Evaluate, mini: list[Example], pairs: list[Pair]) -> None:
    for scheme, records in ((Merged(), mini), (Separate(), mini), (CiteSeparate(), mini), (Pairs(), pairs)):
        _, summary = evaluate(scheme, records, noisy)
        assert summary.keys() >= {
            "scheme", "lang", "verifier", "data", "n", "unscored", "metrics", "intervals", "counts", "settings", "cost",
        }  # fmt: skip
        assert summary["metrics"].keys() >= {*NAMES, "exact", "auroc", "twin_accuracy"}
        assert summary["counts"].keys() == {"tp", "fp", "fn", "tn"}
        assert summary["cost"].keys() >= {"seconds", "pairs", "distinct_pairs", "calls", "tokens"}
        assert (summary["scheme"], summary["lang"], summary["verifier"]) == (scheme.name, "en", "by hand")
        assert summary["data"]["path"] == "somewhere"
        for part in (*summary["settings"].values(), *summary["kinds"].values()):
            assert part.keys() >= {"n", "unscored", "metrics", "intervals"}
        for name, (low, high) in summary["intervals"].items():
            assert low <= summary["metrics"][name] <= high, name
        assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_metrics_recompute_from_the_predictions(evaluate: Evaluate, mini: list[Example]) -> None:
    predictions, summary = evaluate(Separate(), mini, noisy)
    gold, decision, score = (
        np.array(side) for side in zip(*((p.trial.gold, p.decision, p.score) for p in predictions), strict=True)
    )
    metrics = summary["metrics"]
    assert metrics["accuracy"] == pytest.approx((gold == decision).mean(), abs=1e-6)
    assert metrics["acc_true"] == pytest.approx(decision[gold].mean(), abs=1e-6)
    assert metrics["acc_false"] == pytest.approx((~decision[~gold]).mean(), abs=1e-6)
    assert metrics["f1"] == pytest.approx(f1_score(gold, decision), abs=1e-6)
    assert metrics["macro_f1"] == pytest.approx(f1_score(gold, decision, average="macro"), abs=1e-6)
    assert metrics["auroc"] == pytest.approx(roc_auc_score(gold, score), abs=1e-6)
    for name, own in summary["settings"].items():
        chosen = np.array([p.trial.setting.startswith(name) for p in predictions])
        assert own["n"] == chosen.sum()
        assert own["metrics"]["accuracy"] == pytest.approx((gold == decision)[chosen].mean(), abs=1e-6)
    for name, own in summary["kinds"].items():
        chosen = np.array([p.trial.kind == name for p in predictions])
        assert own["n"] == chosen.sum()
        assert own["metrics"]["accuracy"] == pytest.approx((gold == decision)[chosen].mean(), abs=1e-6)
    assert sum(kind["n"] for kind in summary["kinds"].values()) == summary["n"] == len(predictions)


def test_each_scheme_has_its_own_metrics(evaluate: Evaluate, mini: list[Example], pairs: list[Pair]) -> None:
    by_scheme = {
        scheme.name: {
            name for name, value in evaluate(scheme, records, noisy)[1]["metrics"].items() if value is not None
        }
        for scheme, records in ((Merged(), mini), (Separate(), mini), (CiteSeparate(), mini), (Pairs(), pairs))
    }
    plain = {*NAMES, "balanced_accuracy", "macro_f1", "auroc"}
    edits = {f"twin_accuracy_{statement.edit}" for example in mini for statement in example.statements}
    assert by_scheme["merged"] == by_scheme["separate"] == plain | {"twin_accuracy"} | edits
    assert by_scheme["cite_separate"] == plain | {"exact", "ndcg_10"}
    assert by_scheme["pairs"] == plain | {"three_level_accuracy"}


def test_refined_settings_count_together_too(evaluate: Evaluate, worked_example: Example) -> None:
    # The twin is seen through with document 0, taken for true with document 1.
    scores = {"correct": 0.9, "incorrect.altered": 0.1, "incorrect.other": 0.9, "irrelevant": 0.1}
    _, summary = evaluate(Separate(), [worked_example], lambda trial: scores[trial.setting])
    accuracy = {name: (part["n"], part["metrics"]["accuracy"]) for name, part in summary["settings"].items()}
    assert list(accuracy) == ["correct", "incorrect", "incorrect.altered", "incorrect.other", "irrelevant"]
    assert accuracy == {
        "correct": (2, 1.0),
        "incorrect": (2, 0.5),
        "incorrect.altered": (1, 1.0),
        "incorrect.other": (1, 0.0),
        "irrelevant": (2, 1.0),
    }
    assert summary["n"] == 6


# --- unscored, nan, thresholds -----------------------------------------------------------------------------------


def test_unscored_trials_are_left_out_of_the_headline_and_wrong_beside_it(
    evaluate: Evaluate, worked_example: Example
) -> None:
    _, summary = evaluate(Merged(), [worked_example], unscored("correct", "removed", otherwise=right))
    assert (summary["n"], summary["unscored"]) == (5, 2)
    assert summary["counts"] == {"tp": 1, "fn": 0, "fp": 0, "tn": 2}
    assert [summary["metrics"][name] for name in NAMES] == [1.0, 1.0, 1.0, 1.0]
    wrong = summary["unscored_as_wrong"]["metrics"]
    # correct becomes a miss, removed a false alarm: tp 1, fn 1, fp 1, tn 2.
    assert [wrong[name] for name in NAMES] == [0.6, 0.5, round(2 / 3, 6), 0.5]
    assert summary["settings"]["correct"]["unscored"] == 1
    assert summary["settings"]["correct"]["metrics"]["accuracy"] is None
    assert summary["settings"]["added"]["unscored"] == 0


def test_nothing_scored_gives_null_not_a_number(evaluate: Evaluate, worked_example: Example) -> None:
    for scheme in (Merged(), Separate(), CiteSeparate()):
        _, summary = evaluate(scheme, [worked_example], lambda trial: math.nan)
        assert summary["unscored"] == summary["n"] > 0
        assert set(summary["metrics"].values()) == {None}
        assert summary["intervals"] == {}
        assert summary["unscored_as_wrong"]["metrics"]["accuracy"] == 0.0
        json.dumps(summary, allow_nan=False)


def test_what_one_class_cannot_define_is_null(evaluate: Evaluate, worked_example: Example) -> None:
    _, summary = evaluate(Separate(), [worked_example], noisy)
    correct, irrelevant = (summary["settings"][name] for name in ("correct", "irrelevant"))
    assert correct["metrics"]["acc_false"] is None
    assert correct["metrics"]["auroc"] is None
    assert irrelevant["metrics"]["acc_true"] is None
    assert "acc_true" not in irrelevant["intervals"]


def test_default_decides_at_one_half(evaluate: Evaluate, worked_example: Example) -> None:
    high = {Support.PARTIAL: 0.8, Support.FULL: 0.8}

    def score(trial: Trial) -> float:
        return 0.6 if trial.gold else 0.1

    _, summary = evaluate(Separate(), [worked_example], score, thresholds=high)
    assert (summary["metrics"]["acc_true"], summary["default"]["metrics"]["acc_true"]) == (0.0, 1.0)
    assert (summary["metrics"]["twin_accuracy"], summary["default"]["metrics"]["twin_accuracy"]) == (0.0, 1.0)
    _, summary = evaluate(CiteSeparate(), [worked_example], score, thresholds=high)
    assert (summary["metrics"]["exact"], summary["default"]["metrics"]["exact"]) == (0.5, 1.0)
    assert summary["metrics"]["auroc"] == summary["default"]["metrics"]["auroc"] == 1.0


def test_only_thresholds_that_were_used_are_named(
    evaluate: Evaluate, worked_example: Example, pairs: list[Pair]
) -> None:
    values = {Support.PARTIAL: 0.25, Support.FULL: 0.75}
    partial = {"partial": {"value": 0.25, "source": "fitted by hand"}}
    full = {"full": {"value": 0.75, "source": "fitted by hand"}}
    for scheme, records, expected in (
        (Separate(), [worked_example], partial),
        (Merged(), [worked_example], full),
        (Pairs(), pairs, partial | full),
    ):
        assert evaluate(scheme, records, noisy, thresholds=values)[1]["thresholds"] == expected


def test_costs_are_told(evaluate: Evaluate, worked_example: Example) -> None:
    cost = Cost(1.23456, 5, 4, 3, 2, notes={"windowed": 1})
    _, summary = evaluate(Merged(), [worked_example], noisy, cost=cost)
    assert summary["cost"] == {
        "seconds": 1.235, "pairs": 5, "distinct_pairs": 4, "calls": 3, "tokens": 2, "statements": 2, "windowed": 1,
    }  # fmt: skip


# --- intervals ---------------------------------------------------------------------------------------------------


def test_both_languages_of_a_question_are_drawn_together(evaluate: Evaluate, mini: list[Example]) -> None:
    def score(trial: Trial) -> float:  # the same answer in both languages
        return noisy(replace(trial, id=trial.id.replace("/pl/", "/en/")))

    both = [version for example in mini for version in (example, replace(example, lang="pl"))]
    _, one = evaluate(Separate(), mini, score)
    _, two = evaluate(Separate(), both, score, lang="all")
    assert two["n"] == 2 * one["n"]
    assert two["metrics"] == one["metrics"]
    assert two["intervals"].keys() == one["intervals"].keys()
    for name, interval in two["intervals"].items():
        assert interval == pytest.approx(one["intervals"][name], abs=2e-6), name


def test_intervals_depend_on_the_seed_and_values_do_not(evaluate: Evaluate, mini: list[Example]) -> None:
    first, again, other = (evaluate(Merged(), mini, noisy, seed=seed)[1] for seed in (13, 13, 14))
    assert first == again
    assert first["metrics"] == other["metrics"]
    assert first["intervals"] != other["intervals"]


# --- what makes runs comparable ----------------------------------------------------------------------------------


def test_the_schemes_settings_are_told(evaluate: Evaluate, worked_example: Example, pairs: list[Pair]) -> None:
    _, summary = evaluate(Merged(seed=7, context=True), [worked_example], noisy)
    assert summary["scheme_settings"] == {"seed": 7, "context": True, "level": "full"}
    assert evaluate(Pairs(), pairs, noisy)[1]["scheme_settings"] == {"context": False}


def test_statements_are_counted_by_language(evaluate: Evaluate, worked_example: Example) -> None:
    both = [worked_example, replace(worked_example, lang="pl")]
    assert evaluate(CiteSeparate(), both, noisy)[1]["cost"]["statements"] == 4
    assert evaluate(CiteSeparate(include_corrupted=False), both, noisy)[1]["cost"]["statements"] == 2
