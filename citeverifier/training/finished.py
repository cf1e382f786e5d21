"""A finished run: what training returns, and its report in the run's folder (training.json)."""

from __future__ import annotations

import json
import logging
import math
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from citeverifier.processes import world_size
from citeverifier.provenance import provenance
from citeverifier.training.hyperparameters import TrainingOptions

log = logging.getLogger(__name__)

REPORT = "training.json"
CHECKPOINTS = "checkpoints"  # the folder of intermediate checkpoints


@dataclass(frozen=True)
class Trained:
    """A finished run: its folder, what dev says of it, how many pairs were too long, how fast it went.

    `verifier`: whether the folder is a verifier's checkpoint, to write a model card for, or a plain encoder.
    """

    folder: Path
    dev: Mapping[str, float]
    seconds: float
    dropped: int = 0
    throughput: Mapping[str, float] = field(default_factory=dict)
    verifier: bool = True


def finished_before(options: TrainingOptions, *, verifier: bool = True) -> Trained | None:
    """The finished run in the folder of a run that is resumed; None where there is none, or a new run is asked for."""
    folder = Path(options.output_dir)
    if not options.resume or not (folder / REPORT).is_file():
        return None
    report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    log.info("%s holds a finished run; nothing to resume", folder)
    return Trained(
        folder, report["dev"], report["seconds"], report.get("dropped", 0), report.get("throughput", {}), verifier
    )


def write_report(trained: Trained, options: TrainingOptions, state: Any, data: Mapping[str, Any], **more: Any) -> None:
    """Write training.json, which says that the run is finished, and remove the intermediate checkpoints.

    `state` is the Trainer's, `data` says where the pairs came from, `more` are further entries.
    """
    report = {
        "options": asdict(options),
        "data": dict(data),
        **more,
        "dev": _rounded(trained.dev),
        "seconds": round(trained.seconds, 1),
        "steps": state.global_step,
        "dropped": trained.dropped,
        "processes": world_size(),
        "throughput": _rounded(trained.throughput),
        "losses": [{"step": entry["step"], "loss": entry["loss"]} for entry in state.log_history if "loss" in entry],
        "provenance": provenance(),
    }
    (trained.folder / REPORT).write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    shutil.rmtree(trained.folder / CHECKPOINTS, ignore_errors=True)


def _rounded(values: Mapping[str, float]) -> dict[str, float | None]:
    """The numbers as JSON holds them: six places, null for nan."""
    return {name: None if math.isnan(value) else round(value, 6) for name, value in values.items()}


def last_whole(folder: Path) -> str | None:
    """The newest intermediate checkpoint that was written to its end (its state file comes last and parses)."""
    for candidate in sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]), reverse=True):
        try:
            json.loads((candidate / "trainer_state.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            log.warning("%s was cut off while it was written; looking for an earlier one", candidate)
            continue
        return str(candidate)
    return None
