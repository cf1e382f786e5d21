"""Settings of a Hydra program that are true or false, or a whole number: Hydra keeps any other word as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from omegaconf import DictConfig, ListConfig, OmegaConf

from citeverifier.paths import configs_dir


def check_settings(config: DictConfig, config_name: str) -> None:
    """Raise ValueError where a setting that configs/ has as true or false is neither, or `seed` or `limit` no number.

    `audit=no` would count as true otherwise.
    """
    for key in _switches(config, config_name):
        value = OmegaConf.select(config, key)
        if not isinstance(value, bool):
            raise ValueError(f"{key}: expected true or false, got {value!r}; write {key}=true or {key}=false")
    for key, example in (("seed", "13"), ("limit", "100, or null for all")):
        value = config.get(key)
        if isinstance(value, str | float | bool):  # paper's `limit` is a mapping
            raise ValueError(f"{key}: expected a whole number, such as {example}, got {value!r}")


def named(config: DictConfig) -> list[Any]:
    """The names, paths or mappings of `fit`; ValueError where it is no list or an empty one."""
    names: Any = config.fit
    if isinstance(names, ListConfig):
        names = OmegaConf.to_container(names, resolve=True)
    if not isinstance(names, list) or not names:
        raise ValueError(
            f"fit: expected a list of names or files, such as fit=[mini] or 'fit=[dev.jsonl]', got {names!r}"
        )
    return names


def _switches(config: DictConfig, config_name: str) -> Iterator[str]:
    """The keys of this config that are true or false in configs/NAME.yaml and in the chosen files of its groups."""
    from hydra.core.hydra_config import HydraConfig

    choices: Any = HydraConfig.get().runtime.choices
    files = {"": configs_dir() / f"{config_name}.yaml"}
    files |= {f"{group}.": configs_dir() / group / f"{name}.yaml" for group, name in choices.items() if name}
    for package, file in files.items():
        if file.is_file():
            everywhere = file.read_text(encoding="utf-8").startswith("# @package _global_")
            defaults: Any = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
            for key in _true_or_false(defaults, "" if everywhere else package):
                parent, _, last = key.rpartition(".")
                node = OmegaConf.select(config, parent) if parent else config
                if isinstance(node, DictConfig) and last in node:
                    yield key


def _true_or_false(node: Any, prefix: str) -> Iterator[str]:
    for key, value in node.items():
        if key == "hydra" or str(key).startswith("_"):
            continue
        if isinstance(value, bool):
            yield f"{prefix}{key}"
        elif isinstance(value, dict):
            yield from _true_or_false(value, f"{prefix}{key}.")
