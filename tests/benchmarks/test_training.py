"""Held: the training benchmark tokenises as many pairs as it is asked for."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from citeverifier.training.hyperparameters import Backbone, TrainingOptions

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("shape", ["cross_encoder", "late_interaction"])
def test_pairs_are_prepared(shape: Any, tiny: Any) -> None:
    with patch.object(sys, "path", [str(FOLDER), *sys.path]):  # for its "common"
        prepared = runpy.run_path(str(FOLDER / "training.py"))["prepared"]
    data, seconds = prepared(
        TrainingOptions(output_dir="", shape=shape, backbone=Backbone(str(tiny("bert"))), max_length=512), 4
    )
    assert len(data.items) == len(data.pairs) == len(data.labels) > 0
    assert seconds > 0
