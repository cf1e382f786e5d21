"""Held: the shares of titles that go, statement and twin treated alike, texts untouched."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from citeverifier.data.titles import vary_titles
from citeverifier.records import Document, Pair

DOCUMENTS = (Document("Vistula", "It is 1,047 km long."), Document("Oder", "It is 854 km long."))


def pairs_of(count: int, lang: str) -> list[Pair]:
    return [
        Pair(f"p{i}", f"e{i}", f"e{i}/s0", lang, "g", "The Vistula is longer than the Oder.", DOCUMENTS, "gold")
        for i in range(count)
    ]


@pytest.mark.parametrize(("lang", "word"), [("en", "Document"), ("pl", "Dokument")])
def test_about_the_shares_lose_their_titles_and_nothing_else_changes(lang: str, word: str) -> None:
    varied = list(vary_titles(pairs_of(1000, lang), 0.25, 0.05, seed=13))
    titles = Counter(tuple(document.title for document in pair.documents) for pair in varied)
    assert set(titles) == {("Vistula", "Oder"), ("", ""), (word, word)}
    assert 200 < titles["", ""] < 300
    assert 25 < titles[word, word] < 80
    assert {tuple(document.text for document in pair.documents) for pair in varied} == {
        tuple(document.text for document in DOCUMENTS)
    }


def test_all_pairs_of_a_statement_and_of_its_twin_fare_alike() -> None:
    for pair in pairs_of(50, "en"):
        group = [pair, replace(pair, id="other"), replace(pair, statement_id=f"{pair.statement_id}/corrupted")]
        titles = {tuple(d.title for d in varied.documents) for varied in vary_titles(group, 0.5, 0.2, seed=1)}
        assert len(titles) == 1


def test_no_share_changes_nothing() -> None:
    assert list(vary_titles(pairs_of(20, "en"), 0.0, 0.0, seed=13)) == pairs_of(20, "en")
