"""Held: abbreviations stay inside their sentence in both languages, and nothing of a text is lost in splitting it."""

from __future__ import annotations

import pytest

from citeverifier.data.mini import load_mini
from citeverifier.text.sentences import sentences

# Every text is the list of its sentences.
TEXTS = [
    ("en", ["The U.S. Senate met Dr. Smith.", "He left at 5 p.m. on Monday."]),
    ("en", ["He lived in the U.S.", "He died there."]),
    ("en", ["Mr. Jones and Prof. Lee visited St. Paul's.", "It rained."]),
    ("en", ["Prices rose 3.5 percent, e.g. in Paris.", "J. R. Smith left, i.e. he moved on."]),
    ("en", ["It airs at 8:30 p.m. ET on Mondays.", "It ends at 10 p.m.", "The rest is music."]),
    ("en", ["It came out on Warner Bros. Records.", "He left Warner Bros.", "It was over."]),
    ("en", ["Did it work?", "It did!", "Nobody knew."]),
    ("pl", ["Według prof. Nowaka zbudował ją m.in. Kazimierz Wielki.", "Stoi do dziś."]),
    ("pl", ["Powstał w 1364 r. w Krakowie.", "Był duży."]),
    ("pl", ["Powstał w 1364 r.", "Założył go Kazimierz Wielki przy ul. Gołębiej, tzw. stary gmach."]),
    ("pl", ["Kazimierz (ur. 30 kwietnia 1310 r., zm. 5 listopada 1370 r.) był królem.", "Panował długo."]),
    ("pl", ["Prof. dr hab. Anna Nowak mieszka przy pl. Wolności.", "Zob. np. dzieła św. Jana, tj. trzy tomy."]),
    ("pl", ["Przyszło ok. 5 tys. osób, w tym prof. Lis.", "Reszta wyjechała do m.in. Łodzi i im. nieznanych."]),
]


@pytest.mark.parametrize(("lang", "parts"), TEXTS)
def test_abbreviations_end_no_sentence(lang: str, parts: list[str]) -> None:
    assert sentences(" ".join(parts), lang) == parts


@pytest.mark.parametrize("lang", ["en", "pl"])
def test_sentences_are_stripped_and_none_is_empty(lang: str) -> None:
    assert sentences(" \n ", lang) == []
    assert sentences("", lang) == []
    assert sentences("  Ala ma kota. \n\n Tom ma psa.  ", lang) == ["Ala ma kota.", "Tom ma psa."]


@pytest.mark.parametrize("lang", ["en", "pl"])
def test_nothing_is_lost(lang: str) -> None:
    for example in load_mini("dev", lang):
        for document in example.documents:
            assert " ".join(sentences(document.text, lang)).split() == document.text.split()


@pytest.mark.parametrize("lang", ["en", "pl"])
def test_a_statement_is_one_sentence(lang: str) -> None:
    texts = [statement.text for example in load_mini(None, lang) for statement in example.statements]
    split = [parts for text in texts if len(parts := sentences(text, lang)) != 1]
    # Only the meaning tells whether "1934 r." before a capital ends a Polish sentence.
    assert all(part.endswith(" r.") for parts in split for part in parts[:-1])
    assert len(split) <= 0.02 * len(texts)


@pytest.mark.parametrize(
    "said", ["Cats sleep well, e.g. at nighttime.", "Dr. Smith wrote “it rains [sic].” and departed.", "It has 1.5 m."]
)
def test_a_text_of_any_length_has_the_sentences_of_its_parts(said: str) -> None:
    """Over 5,000 characters it is split piece by piece; nothing is lost, and no sentence is cut."""
    assert sentences(" ".join([said] * 400), "en") == sentences(said, "en") * 400
    long = "word " * 1200 + "end."
    assert sentences(f"{said} {long}", "en")[0] == sentences(said, "en")[0]
    for text in ("[" * 12000, "(a" * 6000, long):
        assert "".join("".join(sentences(text, "en")).split()) == "".join(text.split())
