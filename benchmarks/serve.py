"""A load run: clients that ask a server over loopback, one request after the other each.

    python benchmarks/serve.py [--model DIR] [--clients 64] [--seconds 120] [--json FILE]

Starts `citeverifier serve` in a process of its own. Each request is one answer of the bundled set with ten documents,
numbered so that no two are the same: nothing is answered from memory but the documents' vectors. Prints one table and
exits with 1 where any request failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np

from citeverifier.data.mini import load_mini

SERVE = [sys.executable, "-c", "from citeverifier.cli import app; app()", "serve", "--port", "0"]
ROUTES = ("verify", "fix", "cite", "score")


@dataclass(frozen=True)
class Load:
    """What was measured: seconds, MB, requests."""

    clients: int
    seconds: float
    requests: int
    errors: dict[str, int]
    per_second: float
    p50: float
    p90: float
    p99: float
    rss_start: float
    rss_warm: float  # after a quarter of the time
    rss_end: float
    batches: int
    requests_a_batch: float
    pairs_a_batch: float


def bodies() -> list[dict[str, Any]]:
    """Answers of the bundled set with their documents."""
    made = []
    for example in load_mini("test"):
        said = " ".join(
            f"{s.text.rstrip('.')} {''.join(f'[{i + 1}]' for i in s.citations)}." for s in example.statements
        )
        documents = [{"title": d.title, "text": d.text} for d in example.documents]
        made.append({"answer": said, "documents": documents, "question": example.question, "lang": example.lang})
    return made


def request(route: str, item: dict[str, Any], number: int) -> dict[str, Any]:
    """The body of a request that is like no other one."""
    if route == "score":
        pairs = [{"statement": f"{number}: {item['answer']}", "documents": [d]} for d in item["documents"]]
        return {"items": pairs}
    return {"items": [{**item, "answer": f"{item['answer']} This is answer number {number} [1]."}]}


def resident(pid: int) -> float:
    """Resident memory of a process in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


async def client(
    session: aiohttp.ClientSession, number: int, clients: int, until: float, times: list[float], errors: dict[str, int]
) -> None:
    """Ask, one request after the other, until the time is over."""
    items = bodies()
    turn = number
    while time.monotonic() < until:
        route = ROUTES[turn % len(ROUTES)]
        started = time.perf_counter()
        try:
            async with session.post(f"/v1/{route}", json=request(route, items[turn % len(items)], turn)) as answer:
                body = await answer.json()
                problem = None if answer.status == 200 else f"{answer.status} {body['error']['code']}"
        except (aiohttp.ClientError, TimeoutError) as error:
            problem = type(error).__name__
        times.append(time.perf_counter() - started)
        if problem:
            errors[problem] = errors.get(problem, 0) + 1
        turn += clients


async def run(address: str, pid: int, clients: int, seconds: float) -> Load:
    """Send the clients off and read what the server says of itself afterwards."""
    times: list[float] = []
    errors: dict[str, int] = {}
    connector = aiohttp.TCPConnector(limit=clients)
    async with aiohttp.ClientSession(address, connector=connector) as session:
        start = resident(pid)
        began = time.monotonic()
        tasks = [
            asyncio.create_task(client(session, n, clients, began + seconds, times, errors)) for n in range(clients)
        ]
        await asyncio.sleep(seconds / 4)
        warm = resident(pid)
        await asyncio.gather(*tasks)
        took = time.monotonic() - began
        async with session.get("/metrics") as answer:
            counts = dict(re.findall(r"^(citeverifier_batch_\w+) ([\d.e+]+)$", await answer.text(), re.MULTILINE))
    batches = float(counts["citeverifier_batch_requests_count"])
    p50, p90, p99 = np.percentile(times, [50, 90, 99])
    return Load(
        clients, took, len(times), errors, len(times) / took, float(p50), float(p90), float(p99), start, warm,
        resident(pid), int(batches), float(counts["citeverifier_batch_requests_sum"]) / batches,
        float(counts["citeverifier_batch_pairs_sum"]) / batches,
    )  # fmt: skip


def main() -> None:
    """Start the server, load it, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", help="checkpoint folder, hub id or keyword; default: the last trained")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--json", type=Path, default=Path("outputs/benchmarks/serve.json"))
    arguments = parser.parse_args()
    model = ["--model", arguments.model] if arguments.model else []
    process = subprocess.Popen([*SERVE, *model], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if "listens at" not in line:
            sys.exit("the server did not start")
        load = asyncio.run(run(line.split()[-1], process.pid, arguments.clients, arguments.seconds))
    finally:
        process.terminate()
        process.wait()
    print(f"{platform.machine()}; {load.clients} clients, {load.seconds:.0f} s, {', '.join(ROUTES)} in turn")
    print(f"{'requests':>9}{'errors':>8}{'per s':>8}{'p50 s':>8}{'p90 s':>8}{'p99 s':>8}", end="")
    print(f"{'MB start':>10}{'at 1/4':>8}{'end':>8}{'batches':>9}{'requests':>10}{'pairs':>7}")
    print(f"{load.requests:>9}{sum(load.errors.values()):>8}{load.per_second:>8.1f}", end="")
    print(f"{load.p50:>8.2f}{load.p90:>8.2f}{load.p99:>8.2f}{load.rss_start:>10.0f}{load.rss_warm:>8.0f}", end="")
    print(f"{load.rss_end:>8.0f}{load.batches:>9}{load.requests_a_batch:>10.1f}{load.pairs_a_batch:>7.0f}")
    for problem, count in load.errors.items():
        print(f"{count} times {problem}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(asdict(load), indent=2) + "\n", encoding="utf-8")
    sys.exit(1 if load.errors else 0)


if __name__ == "__main__":
    main()
