"""Where the configs are: in a checkout beside the package, in an installed wheel inside it."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def configs_dir() -> Path:
    """The folder of the Hydra configs; raises FileNotFoundError where an installation lacks it."""
    for folder in (_PACKAGE / "configs", _PACKAGE.parent / "configs"):
        if (folder / "train.yaml").is_file():
            return folder
    raise FileNotFoundError(f"no configs beside or inside {_PACKAGE}: expected configs/train.yaml; reinstall citeverifier")
