"""A server that plays a competent model, and a way to run a pipeline in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from llm_server import ScriptedServer
from scripted_model import competent

from citeverifier.paths import configs_dir
from data_gen.pipeline import run


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that plays the competent model."""
    with ScriptedServer(competent) as running:
        yield running


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Run `python -m data_gen OVERRIDES` in this process; returns the output folder."""
    monkeypatch.chdir(tmp_path)

    def go(*overrides: str, out: str = "out") -> Path:
        with initialize_config_dir(str(configs_dir()), version_base="1.3"):
            return run(compose("data_gen", overrides=[f"output_dir={out}", *overrides]))

    return go
