"""Held: every config of eval.yaml's groups composes, names code that exists, and gives it arguments that it takes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import get_class, get_method, instantiate
from omegaconf import DictConfig, OmegaConf

from citeverifier.paths import configs_dir
from citeverifier.records import Support
from citeverifier.reporting.tables import COLUMNS
from citeverifier.schemes.run import LEVELS


def options(group: str) -> list[str]:
    return sorted(path.stem for path in (configs_dir() / group).glob("*.yaml"))


@pytest.fixture(autouse=True)
def _composing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CITEVERIFIER_REAL_DATA", "/somewhere")
    with initialize_config_dir(version_base="1.3", config_dir=str(configs_dir())):
        yield


def composed(*overrides: str) -> DictConfig:
    return compose("eval", list(overrides))


def arguments(node: DictConfig) -> dict[str, Any]:
    resolved: Any = OmegaConf.to_container(node, resolve=True)
    return {key: value for key, value in resolved.items() if not key.startswith("_")}


def test_the_groups_are_those_expected() -> None:
    assert options("scheme") == sorted(COLUMNS)
    assert options("verifier") == ["citeverifier", "keyword", "statement_only"]
    assert {"mini", "hotpotqa", "hotpotqa_hub", "fever"} <= set(options("data"))


def test_defaults() -> None:
    config = composed()
    assert (config.lang, config.seed, config.calibrate, config.label) == ("en", 13, False, None)
    assert config.verifier._target_.endswith(".OrdinalVerifier")
    assert (config.scheme._target_.endswith(".Separate"), config.data.path) == (True, "mini")


@pytest.mark.parametrize("name", options("scheme"))
def test_schemes_are_named_as_their_configs_and_take_the_seed(name: str) -> None:
    scheme: Any = instantiate(composed(f"scheme={name}", "seed=7", "scheme.context=true").scheme)
    assert scheme.name == name
    assert scheme.context is True
    if name != "pairs":
        assert scheme.seed == 7
        assert scheme.level == (Support.FULL if name == "merged" else Support.PARTIAL)
        assert scheme.level in LEVELS


@pytest.mark.parametrize("name", options("verifier"))
def test_verifiers_are_named_as_their_configs_and_take_their_arguments(name: str) -> None:
    verifier = composed(f"verifier={name}").verifier
    kind = get_class(verifier._target_)
    assert kind.name == name  # type: ignore[attr-defined]
    inspect.signature(kind).bind(**arguments(verifier))


@pytest.mark.parametrize("name", options("data"))
def test_data_sources_take_their_arguments_and_are_fitted_elsewhere(name: str) -> None:
    config = composed(f"data={name}", "lang=pl")
    loader = get_method(config.data._target_)
    given = arguments(config.data)
    assert "_target_" not in given
    inspect.signature(loader).bind(**given)
    if "lang" in inspect.signature(loader).parameters:
        assert given["lang"] == "pl"
    inspect.signature(loader).bind(**given | arguments(config.get("train", OmegaConf.create({}))))
    assert config.fit
    assert set(config.fit) <= set(options("data"))
    if Path(given["path"]).is_absolute():
        assert Path(given["path"]).parts[1] == "somewhere"


@pytest.mark.parametrize("name", options("pairs"))
def test_pair_builders_take_their_arguments_and_the_seed(name: str) -> None:
    build: Any = instantiate(composed(f"pairs={name}", "seed=7").pairs.build)
    assert build.keywords["seed"] == 7
    assert list(build([])) == []
