"""The trained verifier's options: its number format, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForSequenceClassification

from citeverifier.models.checkpoint import CheckpointConfig, Shape, load_tokenizer, save_checkpoint
from citeverifier.models.late_interaction import LateInteraction
from citeverifier.records import Support
from citeverifier.verifiers.ordinal import OrdinalVerifier

from .conftest import LONG, make_pair

PAIRS = [make_pair("The Vistula is long.", text) for text in ("The Vistula is 1,047 km long.", "Mars is red.", LONG)]


@pytest.fixture(scope="module")
def folder(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    def make(shape: Shape) -> str:
        path, place = str(tiny("bert")), tmp_path_factory.mktemp(shape)
        torch.manual_seed(1)
        model: Any = (
            LateInteraction(AutoModel.from_pretrained(path))
            if shape == "late_interaction"
            else AutoModelForSequenceClassification.from_pretrained(path, num_labels=1)
        )
        config = CheckpointConfig(shape, 2.0, 1.0, {"partial": 0.5, "full": 0.5}, 128, False)
        save_checkpoint(place, model, load_tokenizer(path, 512), config)
        return str(place)

    return make


def test_number_formats_score_nearly_the_same_and_are_told_apart(folder: Any) -> None:
    path = folder("late_interaction")
    exact, small = OrdinalVerifier(path, dtype="float32"), OrdinalVerifier(path, dtype="bfloat16")
    expected, rounded = (v.score(PAIRS, Support.FULL).values for v in (exact, small))
    assert np.ptp(expected) > 0.05
    assert 0 < np.abs(rounded - expected).max() < 0.02
    assert exact.fingerprint != small.fingerprint


def test_an_unknown_number_format_is_an_error(folder: Any) -> None:
    with pytest.raises(ValueError, match="expected dtype auto, float32 or bfloat16, got 'fp16'"):
        OrdinalVerifier(folder("cross_encoder"), dtype="fp16")  # type: ignore[arg-type]
