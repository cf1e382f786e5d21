"""Where things are: the configs (in a checkout beside the package, in a wheel inside it), the last checkpoint."""

from __future__ import annotations

from pathlib import Path

LATEST = Path("outputs/latest")  # names the folder of the last finished training run
_PACKAGE = Path(__file__).resolve().parent


def configs_dir() -> Path:
    """The folder of the Hydra configs; raises FileNotFoundError where an installation lacks it."""
    for folder in (_PACKAGE / "configs", _PACKAGE.parent / "configs"):
        if (folder / "train.yaml").is_file():
            return folder
    raise FileNotFoundError(
        f"no configs beside or inside {_PACKAGE}: expected configs/train.yaml; reinstall citeverifier"
    )
