"""Whether runs of eval.py reached the numbers they should: a table; exit code 1 where a measured range is missed.

python benchmarks/check_ranges.py benchmarks/ranges/small.yaml outputs/reproduce/small/runs

The runs of a data set lie in a folder of its name (runs/mini/...). A file of ranges names the verifier (the runs'
label) and its ranges: data (that folder), scheme, lang, metric, low, high, and basis: `measured` (of docs/results.md,
with a margin; it must be met) or `expected` (a guess that nobody has measured; it is only shown).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from citeverifier.evaluation.reporting.tables import print_table

KEYS = ("data", "scheme", "lang", "metric", "low", "high", "basis")
BASES = ("measured", "expected")
HEADER = ("data", "scheme", "lang", "metric", "value", "range", "basis", "verdict")

Place = tuple[str, str, str]


def read_ranges(path: Path) -> tuple[str, list[dict[str, Any]]]:
    """The verifier and its ranges; raises ValueError saying what was expected where."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not {"verifier", "ranges"} <= set(content):
        raise ValueError(f"{path}: expected the keys verifier and ranges, came {content!r:.80}")
    for number, row in enumerate(content["ranges"], 1):
        if set(row) != set(KEYS):
            raise ValueError(f"{path}, range {number}: expected the keys {', '.join(KEYS)}, came {', '.join(row)}")
        if row["basis"] not in BASES or not row["low"] <= row["high"]:
            raise ValueError(
                f"{path}, range {number}: expected low <= high and basis of {', '.join(BASES)}, came {row}"
            )
    return content["verifier"], content["ranges"]


def read_metrics(folder: Path, verifier: str) -> dict[Place, Mapping[str, Any]]:
    """Metrics of the verifier's runs by data, scheme and language; raises ValueError where two runs are of one."""
    found: dict[Place, Mapping[str, Any]] = {}
    files: dict[Place, Path] = {}
    for file in sorted(folder.rglob("metrics.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        if run.get("verifier") != verifier:
            continue
        place = (file.relative_to(folder).parts[0], run["scheme"], run["lang"])
        if place in found:
            raise ValueError(f"expected one run of {verifier} in {', '.join(place)}, came {files[place]} and {file}")
        found[place], files[place] = run["metrics"], file
    return found


def check(
    ranges: Sequence[Mapping[str, Any]], metrics: Mapping[Place, Mapping[str, Any]]
) -> tuple[list[list[str]], int]:
    """A table row a range, and how many measured ranges are missed; a number that is not there misses its range."""
    rows, missed = [], 0
    for row in ranges:
        value = metrics.get((row["data"], row["scheme"], row["lang"]), {}).get(row["metric"])
        met = value is not None and row["low"] <= value <= row["high"]
        missed += row["basis"] == "measured" and not met
        verdict = "in" if met else "not run" if value is None else "below" if value < row["low"] else "above"
        shown = "-" if value is None else f"{value:.3f}"
        span = f"{row['low']:.2f} to {row['high']:.2f}"
        rows.append([*(row[key] for key in KEYS[:4]), shown, span, row["basis"], verdict])
    return rows, missed


def main(
    file: Annotated[Path, typer.Argument(help="A file of benchmarks/ranges.")],
    runs: Annotated[Path, typer.Argument(help="A folder with a folder of eval.py's runs for each data set.")],
) -> None:
    """Print the table; exit with 1 where a measured range is missed, with 2 where the input is wrong."""
    try:
        verifier, ranges = read_ranges(file)
        rows, missed = check(ranges, read_metrics(runs, verifier))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    print_table(f"{verifier} against {file}", HEADER, rows)
    measured = sum(row["basis"] == "measured" for row in ranges)
    print(f"{measured - missed} of {measured} measured ranges met; {len(ranges) - measured} only expected")
    raise typer.Exit(1 if missed else 0)


if __name__ == "__main__":
    typer.run(main)
