"""Memory and time of `citeverifier score` by the size of the corpus and the number of workers: one table.

    python benchmarks/corpora.py [--pairs 20000 --pairs 200000] [--workers 1 --workers 2] [--verifier keyword]

Each corpus is eight parquet files. Memory is proportional (what processes share is divided among them), sampled ten
times a second: the largest process that scores, and the command with all it started. Exits with 1 where the scores
of a corpus differ between numbers of workers.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import typer
from common import Clock, write

from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import ordinal_pairs
from citeverifier.evaluation.reporting.tables import print_table
from citeverifier.records import pair_to_json

FILES = 8
HEADER = ("pairs", "workers", "seconds", "scoring process, MB", "all processes, MB", "scores (sha256)")


def write_corpus(folder: Path, pairs: int) -> None:
    """The bundled set's pairs again and again, each with a number of its own."""
    folder.mkdir()
    bundled = [pair_to_json(pair) for pair in ordinal_pairs(load_mini())]
    for file in range(FILES):
        rows = []
        for n in range(file * pairs // FILES, (file + 1) * pairs // FILES):
            row = bundled[n % len(bundled)]
            rows.append(row | {"id": f"p{n}", "statement": f"{row['statement']} {n}"})
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{file}.parquet")


def memory(root: int) -> dict[int, tuple[str, float]]:
    """(command line, MB) of a process and its descendants, by process id."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
            continue
    found: dict[int, tuple[str, float]] = {}
    family = [root]
    while family:
        process = family.pop()
        family += [child for child, parent in parents.items() if parent == process]
        try:
            told = Path(f"/proc/{process}/smaps_rollup").read_text()
            command = Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if match := re.search(r"^Pss:\s+(\d+)", told, re.MULTILINE):
            found[process] = (command, int(match[1]) / 1000)
    return found


def measure(corpus: Path, pairs: int, workers: int, verifier: str) -> dict[str, Any]:
    """Score the corpus in a process of its own: seconds, MB, a hash of all scores."""
    out = corpus / f"scores-{workers}"
    command = [sys.executable, "-m", "citeverifier", "score", f"{corpus}/*.parquet", str(out), "--verifier", verifier]
    scoring = total = 0.0
    with Clock() as clock:
        process = subprocess.Popen([*command, "--workers", str(workers)], stderr=subprocess.PIPE, text=True)
        while process.poll() is None:
            now = memory(process.pid)
            total = max(total, sum(size for _, size in now.values()))
            scorers = [
                size for pid, (name, size) in now.items() if "Worker" in name or (workers == 1 and pid == process.pid)
            ]
            scoring = max(scoring, *scorers, 0.0)
            time.sleep(0.1)
    if process.returncode:
        sys.exit("citeverifier score failed")
    scores = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(out.glob("part-*.parquet")))).hexdigest()
    return {
        "pairs": pairs, "workers": workers, "seconds": clock.wall, "scoring_mb": scoring, "all_mb": total,
        "sha256": scores,
    }  # fmt: skip


def main(pairs: list[int] = [20_000, 200_000], workers: list[int] = [1, 2], verifier: str = "keyword") -> None:  # noqa: B006
    """Measure all, print the table."""
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for size in pairs:
            corpus = Path(folder) / str(size)
            write_corpus(corpus, size)
            runs += [measure(corpus, size, number, verifier) for number in workers]
    rows = [
        (
            f"{run['pairs']:,}", str(run["workers"]), f"{run['seconds']:.0f}", f"{run['scoring_mb']:.0f}",
            f"{run['all_mb']:.0f}", run["sha256"][:12],
        )
        for run in runs
    ]  # fmt: skip
    print_table("citeverifier score", HEADER, rows)
    write("corpora", {"runs": runs})
    sys.exit(len({(run["pairs"], run["sha256"]) for run in runs}) > len(pairs))


if __name__ == "__main__":
    typer.run(main)
