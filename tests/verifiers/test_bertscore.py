"""Held: BERTScore's precision by its definition on a tiny encoder; equal texts score one; premises have no limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize
from transformers import AutoModel, AutoTokenizer

from citeverifier.records import Support
from citeverifier.verifiers.bertscore import BertScore

from .conftest import LONG, make_pair

FULL, PARTIAL = Support.FULL, Support.PARTIAL


def by_definition(folder: str, statement: str, *texts: str) -> float:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()

    def vectors(text: str) -> torch.Tensor:
        with torch.inference_mode():
            hidden = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 1:-1]
        return normalize(hidden, dim=-1)

    cosine = vectors(statement) @ torch.cat([vectors(text) for text in texts]).T
    return float(cosine.amax(dim=1).mean().clamp(0, 1))


@pytest.mark.parametrize("architecture", ["bert", "xlm-roberta"])
def test_the_mean_of_the_best_cosines(tiny: Any, architecture: str) -> None:
    folder = str(tiny(architecture))
    cases = [
        ("The Vistula is long.", "The Vistula is 1,047 km long."),
        ("Mars is a planet.", "Mars is red.", "It is a planet."),
    ]
    scores = BertScore(folder, dtype="float32").score([make_pair(*case) for case in cases], FULL)
    assert scores.values.tolist() == pytest.approx([by_definition(folder, *case) for case in cases], abs=1e-5)


def test_equal_texts_score_one_and_more_documents_never_less(tiny: Any) -> None:
    verifier = BertScore(str(tiny("bert")), dtype="float32")
    one = "The Vistula is a river."
    same, alone, both = (
        verifier.score([make_pair(one, *texts)], PARTIAL).values[0]
        for texts in ([one], ["Mars is red."], ["Mars is red.", "A river of Poland."])
    )
    assert same == pytest.approx(1.0, abs=1e-5)
    assert alone <= both <= same


def test_long_premises_are_windowed_and_long_statements_unscored(tiny: Any) -> None:
    verifier = BertScore(str(tiny("bert")), window=128, dtype="float32")
    scores = verifier.score([make_pair("A river.", LONG), make_pair("word " * 600, "A text.")], FULL)
    assert np.isfinite(scores.values).tolist() == [True, False]
    assert scores.cost.notes["windowed"] == 1
    assert "tokens" in scores.reasons[1]


def test_fingerprints_tell_parameters_apart(tiny: Any) -> None:
    folder = str(tiny("bert"))
    assert BertScore(folder).fingerprint == BertScore(folder).fingerprint != BertScore(folder, window=64).fingerprint
