"""The papers' road on the bundled set, for processes of their own."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

from composing import composed

from citeverifier.commands import paper
from data_gen.pipeline import run as make_data


def config(*overrides: str) -> Any:
    """The road's config."""
    return composed("paper", *overrides)


def tiny_data(folder: Path) -> None:
    """The data steps of tiny, in this process."""

    def call(name: str, command: str) -> None:
        make_data(composed("data_gen", *shlex.split(command)[3:]))

    paper._call = call
    road = config("size=tiny", f"output_dir={folder}", "limit.training=8", "limit.benchmark=4")
    road.skip = [name for name in road.steps if name not in ("training", "benchmark")]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    paper.run(road)
