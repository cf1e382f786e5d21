"""How long commands take to say --help, beside a bare Hydra app: medians of interleaved rounds, ratios in one run.

python benchmarks/startup.py [--rounds 7]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import typer
from common import Clock, by_turns, machine, write

from citeverifier.evaluation.reporting.tables import print_table

REPOSITORY = Path(__file__).parents[1]
BARE = """
import hydra


@hydra.main(version_base="1.3", config_path=None)
def main(config):
    pass


main()
"""
BARE_ROW = "bare Hydra app --help"


def commands(folder: Path) -> dict[str, list[str]]:
    """What is timed, by row name."""
    bare = folder / "bare.py"
    bare.write_text(BARE, encoding="utf-8")
    return {
        BARE_ROW: [str(bare), "--help"],
        "eval.py --help": [str(REPOSITORY / "eval.py"), "--help"],
        "train.py --help": [str(REPOSITORY / "train.py"), "--help"],
        "citeverifier --help": ["-m", "citeverifier", "--help"],
        "citeverifier score --help": ["-m", "citeverifier", "score", "--help"],
        "import citeverifier": ["-c", "import citeverifier"],
        "import hydra": ["-c", "import hydra"],
        "python": ["-c", ""],
    }


def seconds(command: list[str]) -> float:
    """Of one command."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    with Clock() as clock:
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL, env=environment)
    return clock.wall


def main(rounds: int = 7) -> None:
    """Time each command, round by round, and print the table."""
    with tempfile.TemporaryDirectory() as folder:
        calls = {name: partial(seconds, command) for name, command in commands(Path(folder)).items()}
        took = by_turns(rounds, calls, warm_up=1)  # the first round fills the disk cache
    found = {name: statistics.median(values) for name, values in took.items()}
    ratios = {name: median / found[BARE_ROW] for name, median in found.items()}
    rows = [(name, f"{median:.2f}", f"{ratios[name]:.2f}") for name, median in found.items()]
    print_table(f"medians of {rounds} rounds; {machine()}", ("command", "seconds", "ratio"), rows)
    write("startup", {"seconds": found, "ratio": ratios})


if __name__ == "__main__":
    typer.run(main)
