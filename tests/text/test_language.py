"""Held: a language is a file; each has whole word lists, and an unknown one is refused by name."""

from __future__ import annotations

import pytest

from citeverifier.records import LANGUAGES
from citeverifier.text.language import language


def test_the_known_languages() -> None:
    assert LANGUAGES == ("en", "pl")


@pytest.mark.parametrize("code", LANGUAGES)
def test_word_lists_are_whole(code: str) -> None:
    words = language(code)
    assert words.code == code
    assert len(set(words.months)) == 12
    assert len(set(words.yes_no)) == 2
    assert words.pronouns
    assert words.stop_words
    assert words.yes_no[0] in words.instruction
    swaps = words.opposites + words.negations
    assert all(a and b and a != b for a, b in swaps)
    assert all(isinstance(word, str) for word in [*words.yes_no, *words.stop_words, *words.pronouns, *sum(swaps, ())])


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_negation_is_its_verb_and_more_words(code: str) -> None:
    assert all(len(negated) > len(verb) for verb, negated in language(code).negations)


def test_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="expected a language of en, pl, got 'de'"):
        language("de")
