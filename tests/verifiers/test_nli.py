"""Held: P(entailment) by the class the config names, premise first; long premises never cut the statement."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from citeverifier.records import Support
from citeverifier.verifiers.nli import Nli, entailment_class

from .conftest import LONG, make_pair

PARTIAL, FULL = Support.PARTIAL, Support.FULL
NAMES = ["contradiction", "ENTAILMENT", "neutral"]


@pytest.fixture(scope="module", params=["bert", "xlm-roberta", "modernbert"])
def folder(request: pytest.FixtureRequest, tiny_classifier: Any) -> str:
    return str(tiny_classifier(request.param, NAMES))


def by_transformers(folder: str, premise: str, hypothesis: str) -> float:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.inference_mode():
        logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits
    return float(logits.softmax(dim=-1)[0, 1])


def test_the_probability_that_the_premise_entails_the_statement(folder: str) -> None:
    verifier = Nli(folder, dtype="float32")
    pairs = [
        make_pair("The Vistula is long.", "The Vistula is 1,047 km long."),
        make_pair("Mars is a planet.", "Mars is red.", "It is a planet."),
    ]
    expected = [
        by_transformers(folder, "The Vistula is 1,047 km long.", "The Vistula is long."),
        by_transformers(folder, "Mars is red.\n\nIt is a planet.", "Mars is a planet."),
    ]
    assert expected[0] != pytest.approx(expected[1], rel=0.02)
    scores = verifier.score(pairs, FULL)
    assert scores.values.tolist() == pytest.approx(expected, rel=1e-3)
    assert verifier.score(pairs[::-1], PARTIAL).values.tolist() == pytest.approx(expected[::-1], rel=1e-3)


def test_equal_pairs_are_asked_once_and_known_ones_not_again(folder: str) -> None:
    verifier = Nli(folder, dtype="float32")
    one, other = make_pair("A river.", "A text."), make_pair("A lake.", "A text.")
    scores = verifier.score([one, other, one], FULL)
    assert (scores.cost.distinct_pairs, scores.values[0]) == (2, scores.values[2])
    again = verifier.score([other, one], PARTIAL)
    assert (again.cost.distinct_pairs, again.cost.tokens) == (0, 0)
    assert again.values.tolist() == scores.values[[1, 0]].tolist()


def test_a_long_premise_is_windowed_or_packed_and_the_statement_whole(tiny_classifier: Any) -> None:
    verifier = Nli(str(tiny_classifier("xlm-roberta", NAMES)), max_length=160, dtype="float32")
    inputs = verifier._once.engine.__self__.inputs  # type: ignore[attr-defined]
    long = make_pair("The Vistula flows through Warsaw.", LONG)
    statement = inputs.tokenizer(long.statement, add_special_tokens=False)["input_ids"]
    windows = inputs.windows(long)
    assert len(windows) > 3
    for window in windows:
        assert len(window["input_ids"]) <= 160
        assert window["input_ids"][-1 - len(statement) : -1] == statement
    partial, full = verifier.score([long], PARTIAL), verifier.score([long], FULL)
    assert (dict(partial.cost.notes), dict(full.cost.notes)) == (
        {"windowed": 1, "packed": 0},
        {"windowed": 0, "packed": 1},
    )
    assert np.isfinite([partial.values[0], full.values[0]]).all()
    mixed = verifier.score([make_pair("Short.", "A text."), long], PARTIAL)
    assert mixed.values[1] == partial.values[0]
    too_long = verifier.score([make_pair("word " * 300, "A text.")], FULL)
    assert "no room" in too_long.reasons[0]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["entailment", "neutral", "contradiction"], 0),
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], 2),
        (["not_entailment", "entailment"], 1),
    ],
)
def test_the_class_is_found_by_its_name(names: list[str], expected: int) -> None:
    assert entailment_class("x", dict(enumerate(names))) == expected


def test_without_an_entailment_class_the_names_are_shown(tiny_classifier: Any) -> None:
    folder = str(tiny_classifier("bert", ["LABEL_0", "LABEL_1", "LABEL_2"]))
    with pytest.raises(ValueError, match=r"one class named 'entailment' .* came \['LABEL_0', 'LABEL_1', 'LABEL_2'\]"):
        Nli(folder)


def test_the_fingerprint_is_of_files_and_parameters(tiny_classifier: Any) -> None:
    first, second = (str(tiny_classifier("bert", names)) for names in (NAMES, NAMES[::-1]))
    assert Nli(first).fingerprint == Nli(first).fingerprint
    assert len({Nli(first).fingerprint, Nli(second).fingerprint, Nli(first, max_length=100).fingerprint}) == 3
