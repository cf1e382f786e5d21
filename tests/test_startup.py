"""What loads no torch: every --help, the package itself, verifiers that need none, the LLM path."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_process import REPOSITORY, alone, imported

LIGHT = {
    "train.py --help": (str(REPOSITORY / "train.py"), "--help"),
    "eval.py --help": (str(REPOSITORY / "eval.py"), "--help"),
    "citeverifier --help": ("-m", "citeverifier", "--help"),
    "citeverifier score --help": ("-m", "citeverifier", "score", "--help"),
    "citeverifier serve --help": ("-m", "citeverifier", "serve", "--help"),
    "citeverifier mcp --help": ("-m", "citeverifier", "mcp", "--help"),
    "data_gen --help": ("-m", "data_gen", "--help"),
    "answers by word overlap": (
        "-c",
        "from citeverifier import CiteVerifier; from citeverifier.verifiers.keyword import Keyword;"
        "v = CiteVerifier(Keyword()); d = ['a b']; v.verify('a b [1].', d); v.cite('a b.', d); v.fix('a b [1].', d)",
    ),
    "the server's app": ("-c", "import citeverifier.server.app, citeverifier.commands.serve"),
    "verifiers without a model": (
        "-c",
        "import citeverifier.verifiers.keyword, citeverifier.verifiers.bm25, "
        "citeverifier.verifiers.llm, citeverifier.llm.client, citeverifier.commands.score",
    ),
    "stages of data_gen": (
        "-c",
        "import data_gen.__main__; from data_gen import answer, card, corrupt, filter, grounded, nearest, pack, "
        "pipeline, point, questions, review, stage, step, translate",
    ),
}


@pytest.mark.parametrize("command", LIGHT)
def test_loads_no_torch(command: str, tmp_path: Path) -> None:
    heavy = {"torch", "transformers", "accelerate", "datasets", "sklearn"}
    if command != "the server's app":
        heavy |= {"fastapi", "uvicorn", "mcp"}
    if command.endswith("py --help"):
        heavy |= {"numpy", "matplotlib", "peft", "wandb"}
    assert imported(alone(tmp_path, *LIGHT[command])).isdisjoint(heavy)
