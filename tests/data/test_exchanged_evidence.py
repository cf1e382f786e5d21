"""Statement and twin change places with what they tell otherwise, in the documents too; whatever is unclear stays."""

from __future__ import annotations

import pytest

from citeverifier.data.close_reading import load_close_reading
from citeverifier.data.exchanged_evidence import exchange_evidence, exchanged
from citeverifier.data.pair_recipes import BELOW_FULL, FULL
from citeverifier.records import Document, Pair, Support


def pair(statement: str, *texts: str, lang: str = "en") -> Pair:
    return Pair.of(statement, [Document("Notes", text) for text in texts], lang, id="s", support=FULL)


def twin_of(true: Pair, text: str) -> Pair:
    return Pair.of(text, true.documents, true.lang, id="s/corrupted", example="s", support=BELOW_FULL)


@pytest.mark.parametrize(
    ("lang", "true", "false", "text", "becomes"),
    [
        ("en", "Ola paid.", "Jan paid.", "Ola paid for Jan.", "Jan paid for Ola."),
        ("en", "Ola Lis paid Jan.", "Jan paid Ola Lis.", "Jan was paid by Ola Lis.", "Ola Lis was paid by Jan."),
        ("en", "It sold 12 cups.", "It sold 30 cups.", "12 cups, 30 mugs.", "30 cups, 12 mugs."),
        ("en", "The red one won.", "The blue one won.", "The red car won.", "The blue car won."),
        (
            "en",
            "It has 12 rooms.",
            "It has 15 rooms.",
            "Its 12 rooms cost 1.12 million.",
            "Its 15 rooms cost 1.12 million.",
        ),
        ("pl", "Dach jest zielony.", "Dach jest czerwony.", "Dach mamy zielony.", "Dach mamy czerwony."),
    ],
)
def test_what_differs_changes_places_in_the_documents(
    lang: str, true: str, false: str, text: str, becomes: str
) -> None:
    documents = exchanged(pair(true, text, lang=lang), false)
    assert documents == (Document("Notes", becomes),)


@pytest.mark.parametrize(
    ("true", "false", "text"),
    [
        ("Ola paid.", "Jan paid.", "Ola paid for Jan, since she was rich."),  # she stays Ola
        ("Ola paid.", "Jan paid.", "Anna paid for all."),  # told in other words
        ("It was red.", "It was not red.", "A red car."),
        ("It came from Oslo.", "It came to Oslo.", "It came from Oslo."),  # little words stand anywhere
        ("It closed early.", "It closed late.", "It closed early, earlier than ever."),  # another form of the word
        ("Ola met Jan and Ola paid.", "Ola met Jan and Jan paid.", "Ola met Jan. Ola paid."),  # both stand elsewhere
    ],
)
def test_what_is_unclear_stays(true: str, false: str, text: str) -> None:
    assert exchanged(pair(true, text), false) is None


def test_pronouns_are_looked_for_in_the_language_of_the_documents() -> None:
    polish = pair("Kowal wyjechał do Oslo.", "Kowal left Bergen for Oslo on Monday.", lang="pl")
    documents = exchanged(polish, "Kowal wyjechał do Bergen.")
    assert documents == (Document("Notes", "Kowal left Oslo for Bergen on Monday."),)
    asked_of_her = pair("Nowak zapłacił.", "Nowak paid for Kowal, and she was glad of it.", lang="pl")
    assert exchanged(asked_of_her, "Kowal zapłacił.") is None


def test_the_twin_takes_the_statements_place_and_labels_stay() -> None:
    true = pair("Ola paid.", "Ola paid for Jan.", "Jan slept.")
    first, second = exchange_evidence([true, twin_of(true, "Jan paid.")], 1.0, 0)
    assert (first.statement, second.statement) == ("Jan paid.", "Ola paid.")
    assert (first.support_min, second.support_max) == (Support.FULL, Support.PARTIAL)
    assert [document.text for document in second.documents] == ["Jan paid for Ola.", "Ola slept."]
    assert second.unsupported == ((0, 3),)
    assert first.documents == second.documents


def test_no_pair_is_lost_and_the_draw_repeats() -> None:
    pairs = load_close_reading("test", "plain")[:600]
    made = list(exchange_evidence(pairs, 0.5, 3))
    assert [new.id for new in made] == [old.id for old in pairs]
    assert made == list(exchange_evidence(pairs, 0.5, 3))
    changed = [(old, new) for old, new in zip(pairs, made, strict=True) if old.documents != new.documents]
    assert 0.05 < len(changed) / len(pairs) < 0.3
    assert all(new.support_min == old.support_min and new.statement != old.statement for old, new in changed)
    assert list(exchange_evidence(pairs, 0.0, 3)) == pairs
