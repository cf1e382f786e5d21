"""Held: what `make reproduce-*` would run composes, and tests on what its experiment holds back."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from citeverifier.commands import verifier_configs  # noqa: F401  (makes the published metrics' names known)
from citeverifier.commands.sources import alternatives
from citeverifier.paths import configs_dir

REPOSITORY = Path(__file__).parents[2]


def commands(target: str, environment: Path) -> list[list[str]]:
    """The words of each command that the target runs in an environment that is ready."""
    (environment / ".ready").touch()
    outer = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # of `make test`
    shown = subprocess.run(
        ["make", "-n", target, f"VENV={environment}"],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env=outer,
        check=True,
    )
    return [shlex.split(line) for line in shown.stdout.replace("\\\n", " ").splitlines() if line.strip()]


def composed(name: str, words: list[str]) -> Any:
    """A job of the sweep that the words ask for: the last of each list of choices."""
    chosen = []
    for override in OverridesParser.create().parse_overrides(words):
        choices = list(override.sweep_string_iterator()) if override.is_sweep_override() else []
        chosen.append(f"{override.get_key_element()}={choices[-1]}" if choices else override.input_line)
    with initialize_config_dir(str(configs_dir()), version_base="1.3"):
        return OmegaConf.to_container(compose(name, [word for word in chosen if not word.startswith("hydra.")]))


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("model", ["small", "herbert"])
def test_the_targets_commands_compose(model: str, tmp_path: Path) -> None:
    asked = commands(f"reproduce-{model}", tmp_path)
    scripts = [Path(words[1]).name for words in asked]
    assert [script for script in scripts if script != "eval.py"] == ["train.py", "report", "check_ranges.py"]
    train = composed("train", asked[0][2:])
    tested = [composed("eval", words[3:]) for words in asked if words[1] == "eval.py"]
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
    herbert, xlmr = (composed("train", asked[0][2:])["data"] for asked in (of_herbert, of_xlmr))
    assert xlmr["held_out"] == herbert["held_out"]
    assert xlmr["sources"] == herbert["sources"]
