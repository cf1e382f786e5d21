"""Held: the statement-only floor must be fitted on both classes, learns from statements, and never sees a document."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from citeverifier.records import LEVELS, Document, Pair, Support
from citeverifier.verifiers.statement_only import StatementOnly

TELLTALE = {Support.NONE: "never", Support.PARTIAL: "sometimes", Support.FULL: "always"}


@pytest.fixture
def telltale(pairs: list[Pair]) -> list[Pair]:
    """The labelled pairs, with a word in each statement that gives its label away."""
    return [
        replace(pair, statement=f"{pair.statement} {TELLTALE[pair.support_min]}")
        for pair in pairs
        if pair.support_min is not None
    ]


@pytest.fixture
def fitted(telltale: list[Pair]) -> StatementOnly:
    verifier = StatementOnly()
    verifier.fit(telltale)
    return verifier


def test_it_must_be_fitted_first(pairs: list[Pair]) -> None:
    with pytest.raises(RuntimeError, match=r"expected fit\(pairs\) before score"):
        StatementOnly().score(pairs, Support.FULL)


@pytest.mark.parametrize(
    ("keep", "level"),
    [
        ({Support.NONE}, "partial"),
        ({Support.PARTIAL, Support.FULL}, "partial"),
        ({Support.NONE, Support.PARTIAL}, "full"),
        (set(), "partial"),
    ],
)
def test_it_needs_both_classes_at_both_levels(pairs: list[Pair], keep: set[Support], level: str) -> None:
    verifier = StatementOnly()
    with pytest.raises(ValueError, match=f"expected pairs that reach {level} and pairs that do not"):
        verifier.fit([pair for pair in pairs if pair.support_min in keep])
    with pytest.raises(RuntimeError):
        verifier.score(pairs, Support.PARTIAL)


def test_pairs_that_decide_no_level_are_not_learnt_from(pairs: list[Pair]) -> None:
    undecided = [replace(pair, support_min=Support.NONE, support_max=Support.FULL) for pair in pairs]
    with pytest.raises(ValueError, match="expected pairs that reach partial"):
        StatementOnly().fit([*undecided, pairs[0]])


def test_each_level_learns_its_own_labels(fitted: StatementOnly, telltale: list[Pair]) -> None:
    for level in LEVELS:
        values = fitted.score(telltale, level).values
        reaches = np.array([pair.reaches(level) for pair in telltale], dtype=bool)
        assert values[reaches].min() > values[~reaches].max()
        assert values.min() >= 0
        assert values.max() <= 1


def test_documents_and_context_change_nothing(fitted: StatementOnly, telltale: list[Pair]) -> None:
    others = [replace(pair, documents=(Document("", "always never"),), context="always") for pair in telltale]
    for level in LEVELS:
        assert np.array_equal(fitted.score(others, level).values, fitted.score(telltale, level).values)


def test_batched_is_single(fitted: StatementOnly, telltale: list[Pair]) -> None:
    batched = fitted.score(telltale, Support.FULL).values
    assert batched == pytest.approx([fitted.score([pair], Support.FULL).values[0] for pair in telltale])


def test_cost_counts_distinct_statements(fitted: StatementOnly, telltale: list[Pair]) -> None:
    scores = fitted.score([*telltale, *telltale], Support.FULL)
    assert scores.values.shape == (48,)
    assert scores.cost.distinct_pairs == 24
    assert fitted.score([], Support.FULL).values.shape == (0,)
