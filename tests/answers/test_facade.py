"""Held: what a method cannot take is said in words; an answer in another language is warned of once."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from citeverifier import CiteVerifier
from citeverifier.records import RecordError
from citeverifier.verifiers.keyword import Keyword

DOCUMENTS = ["The Vistula is the longest river of Poland.", "Kraków lies on the Vistula."]
ANSWER = "Kraków lies on the Vistula [1]."
GERMAN = "Weichsel, Oder und Warthe sind Flüsse. Ihre Quellen liegen teils im Gebirge, teils im Flachland [1]."


@pytest.fixture
def verifier() -> CiteVerifier:
    return CiteVerifier(Keyword())


@pytest.mark.parametrize("method", ["verify", "cite", "fix"])
@pytest.mark.parametrize(
    ("handed", "message"),
    [
        ((None, DOCUMENTS), "answer: expected a string, or a list of strings, got NoneType"),
        ((ANSWER, None), "documents: expected a list of documents, got NoneType"),
        ((ANSWER, DOCUMENTS, 5), "question: expected a string, got int"),
        (([ANSWER], None), "documents: expected a list with an entry for each answer, got NoneType"),
        (([ANSWER], [DOCUMENTS], 5), "question: expected a list with an entry for each answer, got int"),
        (([ANSWER], [DOCUMENTS], [5]), "answer 0: question: expected a string, got int"),
        (([ANSWER, 3], [DOCUMENTS, DOCUMENTS]), "answer 1: expected a string, got int"),
        (([ANSWER], [None]), "answer 0: documents: expected a list of documents, got NoneType"),
    ],
)
def test_what_a_method_cannot_take_is_said(
    verifier: CiteVerifier, method: str, handed: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(RecordError) as error:
        getattr(verifier, method)(*handed)
    assert str(error.value) == message


def test_what_is_no_scorer_and_no_threshold_is_said(verifier: CiteVerifier) -> None:
    with pytest.raises(ValueError, match=r"scorer: expected a Scorer, such as Keyword\(\), got str"):
        CiteVerifier("keyword")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"threshold: expected a probability from 0 to 1, got '0\.5'"):
        verifier.at("0.5")  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["verify", "cite", "fix"])
def test_answers_in_another_language_are_warned_of_once_a_call(verifier: CiteVerifier, method: str) -> None:
    call = getattr(verifier, method)
    with pytest.warns(UserWarning, match="answer: neither English nor Polish") as told:
        call(GERMAN, DOCUMENTS)
    with pytest.warns(UserWarning, match="answers 1, 2, 3 ...: neither English nor Polish") as told_of_many:
        call([ANSWER, *[GERMAN] * 5], [DOCUMENTS] * 6)
    assert (len(told), len(told_of_many)) == (1, 1)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(GERMAN, DOCUMENTS, lang="en")
        call(ANSWER, DOCUMENTS)


def test_without_documents_it_is_said_why_nothing_is_cited(verifier: CiteVerifier) -> None:
    for result in (verifier.cite("Kraków lies on the Vistula.", []), verifier.fix(ANSWER, [])):
        assert [change.reason for change in result.changes] == ["the answer has no documents"]
