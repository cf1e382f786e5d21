"""python models/average.py BEFORE CHECKPOINT OUT [SHARE]: a checkpoint whose weights are the mean of two with a reader.

BEFORE is what CHECKPOINT went on learning from (the packed verifier's folder, say), CHECKPOINT the finished run, SHARE
how much of CHECKPOINT there is in the mean (0.5). What is fitted on dev is not averaged: fit it anew with
`python train.py +experiment=reader backbone.name=OUT training.max_steps=0`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from safetensors.torch import load_file, save_file

from citeverifier.models.late_interaction_tokens import HEAD, READER
from citeverifier.models.reader import unpacked


def average(before: Path, checkpoint: Path, out: Path, share: float = 0.5) -> None:
    """Copy the checkpoint's files to a new folder `out`; its weights count `share`, those before the rest."""
    out.mkdir(parents=True)
    for file in checkpoint.iterdir():
        if file.is_file():
            shutil.copyfile(file, out / file.name)
    for name in ("model.safetensors", HEAD, READER):
        one, other = (unpacked(load_file(folder / name)) for folder in (before, checkpoint))
        mean = {key: share * weight.float() + (1 - share) * one[key].float() for key, weight in other.items()}
        save_file(mean, out / name, metadata={"format": "pt"})


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    average(*map(Path, sys.argv[1:4]), *map(float, sys.argv[4:]))
