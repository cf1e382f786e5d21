"""What the Hydra entry points share: however many processes a run has, it has one folder and one console."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps

import hydra
from omegaconf import DictConfig, OmegaConf

from citeverifier.commands.config_store import share_config_store
from citeverifier.paths import configs_dir
from citeverifier.processes import join, leave, one_console, started


def entry(config_name: str) -> Callable[[Callable[[DictConfig], None]], Callable[[], None]]:
    """`hydra.main` for one of configs/*.yaml. Configs may use `${started:%Y-%m-%d}`, the same in every process.

    Hydra's own `${now:...}` would give each process a folder of its own.
    """

    def decorate(task: Callable[[DictConfig], None]) -> Callable[[], None]:
        app = hydra.main(version_base="1.3", config_path=str(configs_dir()), config_name=config_name)(task)

        @wraps(task)
        def main() -> None:
            one_console()
            join()
            app()
            leave()

        return main

    return decorate


def _time(pattern: str) -> str:
    return time.strftime(pattern, time.localtime(started()))


OmegaConf.register_new_resolver("started", _time, replace=True)
share_config_store()
