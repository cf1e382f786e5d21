"""models/average.py: the mean of a packed reader and of one in full numbers, everything else from the finished run."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from citeverifier.models.late_interaction_tokens import READER
from citeverifier.models.reader import in_int8

SCRIPT = Path(__file__).parents[2] / "models" / "average.py"


def test_the_mean_of_two_readers(tmp_path: Path) -> None:
    before, run, out = (tmp_path / name for name in ("before", "run", "out"))
    ones, name = torch.ones(2, 4), "layers.0.output.dense.weight"
    for folder, weights in (
        (before, in_int8({name: ones, "head.bias": ones[0]})),
        (run, {name: 3 * ones, "head.bias": ones[0]}),
    ):
        folder.mkdir()
        save_file({key: weight.contiguous() for key, weight in weights.items()}, folder / READER)
        (folder / "config.json").write_text(folder.name)
    runpy.run_path(str(SCRIPT))["average"](before, run, out)
    mean = load_file(out / READER)
    torch.testing.assert_close(mean[name], 2 * ones)
    torch.testing.assert_close(mean["head.bias"], ones[0])
    assert (out / "config.json").read_text() == "run"
    with pytest.raises(FileExistsError):
        runpy.run_path(str(SCRIPT))["average"](before, run, out)
