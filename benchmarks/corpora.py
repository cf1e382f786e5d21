"""Memory and time of `citeverifier score` by the size of the corpus and the number of workers: one table.

    python benchmarks/corpora.py [--pairs 20000 200000] [--workers 1 2] [--verifier keyword]

Each corpus is eight parquet files. Memory is proportional (what processes share is divided among them), sampled ten
times a second: the largest process that scores, and the command with all it started. Exits with 1 where the scores
of a corpus differ between numbers of workers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import ordinal_pairs
from citeverifier.records import pair_to_json

FILES = 8


@dataclass(frozen=True)
class Measured:
    """One run: seconds, MB of the largest scoring process and of all processes, a hash of all scores."""

    pairs: int
    workers: int
    seconds: float
    scoring_mb: float
    all_mb: float
    sha256: str


def write_corpus(folder: Path, pairs: int) -> None:
    """The bundled set's pairs again and again, each with a number of its own."""
    bundled = [pair_to_json(pair) for pair in ordinal_pairs(load_mini())]
    for file in range(FILES):
        numbers = range(file * pairs // FILES, (file + 1) * pairs // FILES)
        rows = []
        for n in numbers:
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


def measure(corpus: Path, out: Path, pairs: int, workers: int, verifier: str) -> Measured:
    """Score the corpus in a process of its own."""
    command = [sys.executable, "-m", "citeverifier", "score", f"{corpus}/*.parquet", str(out), "--verifier", verifier]
    started = time.perf_counter()
    process = subprocess.Popen([*command, "--workers", str(workers)], stderr=subprocess.PIPE, text=True)
    scoring = total = 0.0
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
    seconds = time.perf_counter() - started
    scores = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(out.glob("part-*.parquet"))))
    return Measured(pairs, workers, seconds, scoring, total, scores.hexdigest())


def main() -> None:
    """Measure all, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--verifier", default="keyword")
    parser.add_argument("--json", type=Path, default=Path("outputs/benchmarks/corpora.json"))
    arguments = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for pairs in arguments.pairs:
            corpus = Path(folder) / str(pairs)
            corpus.mkdir()
            write_corpus(corpus, pairs)
            runs += [
                measure(corpus, corpus / f"scores-{workers}", pairs, workers, arguments.verifier)
                for workers in arguments.workers
            ]
    print("| pairs | workers | seconds | scoring process, MB | all processes, MB | scores (sha256) |")
    print("|---|---|---|---|---|---|")
    for run in runs:
        numbers = f"{run.seconds:.0f} | {run.scoring_mb:.0f} | {run.all_mb:.0f}"
        print(f"| {run.pairs:,} | {run.workers} | {numbers} | {run.sha256[:12]} |")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps([asdict(run) for run in runs], indent=2) + "\n", encoding="utf-8")
    sys.exit(len({(run.pairs, run.sha256) for run in runs}) > len(arguments.pairs))


if __name__ == "__main__":
    main()
