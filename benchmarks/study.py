"""The training study: each row of configs/study.yaml trained, evaluated, and reported on one page.

python benchmarks/study.py [ROW ...]        # about ten minutes a row; what is there already is left as it is
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
import yaml

from citeverifier.paths import configs_dir

OUT = Path("outputs/study")


def commands(study: dict[str, dict[str, list[str]]], rows: list[str]) -> list[list[str]]:
    """The command lines of a study, in their order; raises ValueError on an unknown row."""
    if unknown := sorted(set(rows) - set(study["rows"])):
        raise ValueError(f"expected rows of {', '.join(study['rows'])}, got {', '.join(unknown)}")
    lines = []
    for row in rows:
        model = f"{OUT}/models/{row}"
        lines.append(["train.py", *study["base"], *study["rows"][row], f"output_dir={model}", "resume=true"])
        for name, words in study["tests"].items():
            shown = [f"verifier.path={model}", f"label={row}", f"hydra.sweep.dir={OUT}/runs/{row}/{name}"]
            lines.append(["eval.py", "-m", "resume=true", *words, *shown])
    return [*lines, ["-m", "citeverifier", "report", f"{OUT}/runs", "--out", str(OUT)]]


def main(
    rows: Annotated[list[str] | None, typer.Argument(help="Rows of configs/study.yaml; else all.")] = None,
) -> None:
    """Run the rows that are named, or all of them."""
    study = yaml.safe_load((configs_dir() / "study.yaml").read_text(encoding="utf-8"))
    for line in commands(study, rows or list(study["rows"])):
        subprocess.run([sys.executable, *line], check=True)


if __name__ == "__main__":
    typer.run(main)
