"""Held: what `make reproduce-*` would run composes, and tests on what its experiment holds back."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from composing import composed, without_sweeps
from omegaconf import OmegaConf

from citeverifier.commands.sources import alternatives

REPOSITORY = Path(__file__).parents[2]


def commands(target: str, environment: Path) -> list[list[str]]:
    """The words of each command that the target runs in an environment that is ready."""
    (environment / ".ready").touch()
    outer = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # of `make test`
    command = ["make", "-n", target, f"VENV={environment}"]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, env=outer, check=True)
    return [shlex.split(line) for line in shown.stdout.replace("\\\n", " ").splitlines() if line.strip()]


def last_job(name: str, words: list[str]) -> Any:
    """The config of the last job of the sweep that the words ask for."""
    last = without_sweeps([word for word in words if not word.startswith("hydra.")])[-1]
    return OmegaConf.to_container(composed(name, *last))


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("model", ["small", "herbert"])
def test_the_targets_commands_compose(model: str, tmp_path: Path) -> None:
    asked = commands(f"reproduce-{model}", tmp_path)
    scripts = [Path(words[1]).name for words in asked]
    assert [script for script in scripts if script != "eval.py"] == ["train.py", "report", "check_ranges.py"]
    train = last_job("train", asked[0][2:])
    tested = [last_job("eval", words[3:]) for words in asked if words[1] == "eval.py"]
    _, _, held_out = alternatives(train["data"]["sources"], None, train["data"]["held_out"])
    held_out = [spec for spec in held_out if "rows" in spec]
    for config in tested:
        if config["data"]["path"] in ("hotpotqa/hotpot_qa", "copenlu/fever_gold_evidence"):
            held = next(spec for spec in held_out if spec["path"] == config["data"]["path"])
            assert config["data"].get("rows") in (None, held["rows"])
        if config["label"] == f"hub_{model}":
            assert config["verifier"]["path"] == train["output_dir"]
    paths = {config["data"]["path"] for config in tested}
    assert ({"lytang/LLM-AggreFact", "wandb/RAGTruth-processed"} <= paths) == (model != "small")


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_large_ones_run_the_same_commands(tmp_path: Path) -> None:
    of_herbert, of_xlmr = (commands(f"reproduce-{model}", tmp_path) for model in ("herbert", "xlmr"))
    assert of_xlmr == [[word.replace("herbert", "xlmr") for word in words] for words in of_herbert]
    herbert, xlmr = (last_job("train", asked[0][2:])["data"] for asked in (of_herbert, of_xlmr))
    assert xlmr["held_out"] == herbert["held_out"]
    assert xlmr["sources"] == herbert["sources"]
