"""python train.py [+experiment=NAME] [overrides]: train a verifier, calibrate it, leave a checkpoint in output_dir."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from citeverifier.commands.entry import entry
from citeverifier.commands.errors import plain_errors
from citeverifier.processes import rank

if TYPE_CHECKING:
    from citeverifier.records import Pair
    from citeverifier.training.train import Trained

log = logging.getLogger(__name__)


def run(config: DictConfig) -> Trained:
    """Read data, train, say what came out; `config` is configs/train.yaml, composed."""
    from hydra.utils import instantiate

    from citeverifier.commands.sources import training_data
    from citeverifier.hub import check_repo

    if config.hub.repo_id is not None:
        check_repo(config.hub.repo_id)  # before hours of training, not after
    data: Any = OmegaConf.to_container(config.data, resolve=True)
    read = training_data(
        data["sources"],
        data["dev"],
        data["held_out"],
        instantiate(config.pairs.build),
        lang=config.lang,
        seed=config.seed,
        kind_weights=data["kind_weights"],
        dev_limit=data["dev_limit"],
        titles=data["titles"],
    )
    for source in read.report["sources"]:
        leaks = source["leaks"]
        log.info(
            "%s: %d pairs; dropped as leaks %d records by group, %d by document, %d by statement",
            source["data"], source["pairs"], leaks["shared_group"], leaks["shared_document"], leaks["shared_statement"],
        )  # fmt: skip
    log.info("dev: %d pairs of %s", len(read.dev), ", ".join(d["data"] for d in read.report["dev"]))
    options = instantiate(config.training, _convert_="all")
    taught = {} if config.teacher is None else {"teacher": _taught(config.teacher, read.train)}
    trained: Trained = instantiate(config.trainer)(read.train, read.dev, options, read.report, **taught)
    for name, value in trained.dev.items():
        log.info("dev %s: %s", name, "-" if value is None else f"{value:.3f}")
    if config.hub.repo_id is not None and rank() == 0:
        _push(trained.folder, config.hub)
    return trained


def _taught(teacher: str, pairs: list[Pair]) -> Any:
    """What the teacher, a checkpoint, says of the pairs."""
    from citeverifier.training.teacher import teach
    from citeverifier.verifiers.ordinal import OrdinalVerifier

    log.info("teacher %s scores %d pairs", teacher, len(pairs))
    return teach(OrdinalVerifier(teacher), pairs)


def _push(folder: Path, hub: DictConfig) -> None:
    from citeverifier.commands.push import run as push

    told = push(
        folder, hub.repo_id, private=hub.private, tag=hub.tag, results=[], licence=hub.license, dry_run=False
    )  # fmt: skip
    print(told)


@entry("train")
def main(config: DictConfig) -> None:
    """Train, and end with the checkpoint's path."""
    with plain_errors():
        print(f"checkpoint: {run(config).folder}")


if __name__ == "__main__":
    main()
