"""A server that plays a competent model, and ways to run a pipeline, or one step, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from llm_server import ScriptedServer
from scripted_model import competent

from citeverifier.paths import configs_dir
from citeverifier.records import Example
from data_gen.pipeline import run
from data_gen.stage import Tally, read_stage, run_stage
from data_gen.step import Step


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


@pytest.fixture
def through(tmp_path: Path) -> Callable[[Step, Iterable[Example]], tuple[Tally, list[Example]]]:
    """Run a step over records as a stage of its own; returns its tally and the records that it kept."""
    numbers = count()

    def go(step: Step, records: Iterable[Example]) -> tuple[Tally, list[Example]]:
        file = tmp_path / f"stage-{next(numbers)}.jsonl"
        return run_stage("s", file, records, step), list(read_stage(file))

    return go
