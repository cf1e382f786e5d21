"""python models/average.py BEFORE CHECKPOINT OUT: a checkpoint whose reader is the mean of two.

BEFORE is what CHECKPOINT's reader went on learning from (the packed verifier's folder, say), CHECKPOINT the finished
run. Their matches are the same. What is fitted on dev is not averaged: fit it anew with
`python train.py +experiment=reader backbone.name=OUT training.max_steps=0`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from safetensors.torch import load_file, save_file

from citeverifier.models.late_interaction_tokens import READER
from citeverifier.models.reader import unpacked


def average(before: Path, checkpoint: Path, out: Path) -> None:
    """Copy the checkpoint's files to a new folder `out`, its reader's weights half and half with those before."""
    one, other = (unpacked(load_file(folder / READER)) for folder in (before, checkpoint))
    out.mkdir(parents=True)
    for file in checkpoint.iterdir():
        if file.is_file():
            shutil.copyfile(file, out / file.name)
    mean = {name: (weight.float() + one[name].float()) / 2 for name, weight in other.items()}
    save_file(mean, out / READER, metadata={"format": "pt"})


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    average(*map(Path, sys.argv[1:4]))
