"""Can this verifier serve this scheme? Asked once, before anything is scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hydra.utils import get_class
from omegaconf import OmegaConf

from citeverifier.evaluation.run import trials_of
from citeverifier.evaluation.schemes.base import ByList, Corrects, InRounds, Scheme
from citeverifier.paths import configs_dir
from citeverifier.records import LEVELS
from citeverifier.verifiers.base import Scorer


def check_served(scheme: Scheme, verifier: Any, records: Sequence[Any]) -> None:
    """Raise ValueError where the verifier cannot do what the scheme asks: what it needs, what came, which ones can.

    cite_list needs a Selector, all others a Scorer; a verifier with a length limit must take every premise of the
    first round.
    """
    if isinstance(scheme, Corrects):  # its methods are another config group
        return
    name, came = scheme.name, verifier.name
    if isinstance(scheme, ByList):
        if not hasattr(verifier, "select"):
            able = _names(lambda kind: hasattr(kind, "select"))
            raise ValueError(
                f"scheme={name}: needs a verifier that selects from a list, came {came}, which scores pairs; use one "
                f"of {able} (verifier.scorer=... names the Scorer that some of them select by)"
            )
        return
    if not hasattr(verifier, "score"):
        able = _names(lambda kind: hasattr(kind, "score"))
        raise ValueError(
            f"scheme={name}: needs a verifier that scores pairs, came {came}, which selects from a list (as "
            f"scheme=cite_list asks); use one of {able}"
        )
    if type(verifier).refuses is not Scorer.refuses:
        trials = trials_of(scheme, records)
        asked = scheme.questions(trials, []) if isinstance(scheme, InRounds) else trials
        most = max(len(trial.premise) for trial in asked)
        for level in LEVELS:
            refusal = verifier.refuses([trial.pair for trial in asked if trial.level == level], level)
            if refusal is not None:
                able = _names(lambda kind: hasattr(kind, "score") and kind.refuses is Scorer.refuses)
                raise ValueError(
                    f"scheme={name}: needs premises of up to {most} documents scored at level {level.label}, came "
                    f"{came}: {refusal}; verifiers without a length limit: {able}"
                )


def _names(can: Callable[[Any], bool]) -> str:
    """The configs/verifier names whose class `can`."""
    files = sorted((configs_dir() / "verifier").glob("*.yaml"))
    configs: dict[str, Any] = {file.stem: OmegaConf.load(file) for file in files}
    kinds = {name: get_class(config["_target_"]) for name, config in configs.items()}
    return ", ".join(name for name, kind in kinds.items() if can(kind))
