"""Contrasts: one fact exchanged, in the statement or in the documents, with the label that follows."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from citeverifier.data.contrasts import (
    altered_document,
    altered_statement,
    names_turned_round,
    negated_refuted,
    with_contrasts,
)
from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import BELOW_FULL, FULL, ordinal_pairs
from citeverifier.records import Document, Pair

MOON = Pair(
    "moon", "moon", "moon", "en", "g", "Neil Armstrong followed Frank Borman in 1969.",
    (Document("Crew", "In 1969 Neil Armstrong followed Frank Borman. Jim Lovell and 12 others trained with them."),),
    "labelled:people:supports", support_min=FULL[0], support_max=FULL[1],
)  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "lang", "turned"),
    [
        ("Neil Armstrong followed Frank Borman.", "en", "Frank Borman followed Neil Armstrong."),
        ("Jan Matejko uczył Jacka Malczewskiego.", "pl", "Jacka Malczewskiego uczył Jan Matejko."),
        ("Neil Armstrong and Frank Borman flew.", "en", None),
        ("Poland borders Germany, Ukraine and Belarus.", "en", None),
        ("The crew landed.", "en", None),
    ],
)
def test_names_change_places_unless_their_order_means_nothing(statement: str, lang: str, turned: str | None) -> None:
    assert names_turned_round(statement, lang) == turned


def test_an_altered_statement_is_below_full_and_keeps_its_documents() -> None:
    kinds = Counter()
    for seed in range(60):
        contrast = altered_statement(MOON, random.Random(seed))
        assert contrast is not None
        assert contrast.statement != MOON.statement
        assert contrast.documents == MOON.documents
        assert contrast.example == MOON.example
        assert (contrast.support_min, contrast.support_max) == BELOW_FULL
        kinds[contrast.kind] += 1
    assert {"contrast:roles", "contrast:date", "contrast:name"} <= set(kinds)


def test_an_altered_document_supports_what_it_still_says() -> None:
    kinds = Counter()
    for seed in range(60):
        contrast = altered_document(MOON, random.Random(seed))
        if contrast is None:
            continue
        assert contrast.statement == MOON.statement
        (before,), (after,) = MOON.documents, contrast.documents
        lost = {word for word in before.text.split() if word not in after.text}
        assert lost
        told = any(word.strip(".") in MOON.statement for word in lost)
        assert (contrast.support_min, contrast.support_max) == (BELOW_FULL if told else FULL)
        kinds[contrast.kind] += 1
    assert set(kinds) == {"contrast:document_exchanged", "contrast:document_elsewhere"}


def test_a_question_as_a_statement_stays_as_it_is() -> None:
    asked = replace(MOON, statement="Did Neil Armstrong follow Frank Borman? Yes.")
    assert altered_statement(asked, random.Random(0)) is None
    assert negated_refuted(asked, random.Random(0)) is None


@pytest.mark.parametrize(
    ("statement", "lang", "negated"),
    [
        ("The crew was late.", "en", "The crew was not late."),
        ("Załoga nie była spóźniona.", "pl", "Załoga była spóźniona."),
    ],
)
def test_a_refuted_statement_negated_is_supported(statement: str, lang: str, negated: str) -> None:
    refuted = replace(MOON, statement=statement, lang=lang, kind="labelled:people:refutes")
    contrast = negated_refuted(refuted, random.Random(0))
    assert contrast is not None
    assert contrast.statement == negated
    assert (contrast.support_min, contrast.support_max) == FULL


def test_contrasts_follow_their_pairs_and_depend_on_the_seed_alone() -> None:
    pairs = list(ordinal_pairs(load_mini("dev")[:10]))
    mixed = list(with_contrasts(pairs, 0.5, seed=3))
    assert mixed == list(with_contrasts(pairs, 0.5, seed=3))
    assert [pair for pair in mixed if not pair.kind.startswith("contrast:")] == pairs
    assert len(pairs) < len(mixed) < 1.5 * len(pairs)
    assert len({pair.id for pair in mixed}) == len(mixed)
    for pair, contrast in pairwise(mixed):
        if contrast.kind.startswith("contrast:"):
            assert contrast.id == f"{pair.id}:contrast"
    assert list(with_contrasts(pairs, 0.0, seed=3)) == pairs
