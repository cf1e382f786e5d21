"""A load run: clients that ask a server over loopback, one request after the other each.

    python benchmarks/serve.py [--model DIR] [--clients 64] [--seconds 120]

Starts `citeverifier serve` in a process of its own. Each request is one answer of the bundled set with ten documents,
numbered so that no two are the same: nothing is answered from memory but the documents' vectors. Prints one table and
exits with 1 where any request failed.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import aiohttp
import numpy as np
import typer
from common import machine, write

from citeverifier.data.mini import load_mini
from citeverifier.evaluation.reporting.tables import print_table

SERVE = [sys.executable, "-m", "citeverifier", "serve", "--port", "0"]
ROUTES = ("verify", "fix", "cite", "score")
# of a row: the key of what was measured, and how it is shown
COLUMNS = {
    "requests": "d", "failed": "d", "per s": ".1f", "p50 s": ".2f", "p90 s": ".2f", "p99 s": ".2f", "MB start": ".0f",
    "MB at 1/4": ".0f", "MB end": ".0f", "batches": ".0f", "requests a batch": ".1f", "pairs a batch": ".0f",
}  # fmt: skip


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
    session: aiohttp.ClientSession, number: int, clients: int, until: float, times: list[float], errors: Counter[str]
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
                if answer.status != 200:
                    errors[f"{answer.status} {body['error']['code']}"] += 1
        except (aiohttp.ClientError, TimeoutError) as error:
            errors[type(error).__name__] += 1
        times.append(time.perf_counter() - started)
        turn += clients


async def run(address: str, pid: int, clients: int, seconds: float, errors: Counter[str]) -> dict[str, float]:
    """Send the clients off and read what the server says of itself afterwards; the row, by COLUMNS."""
    times: list[float] = []
    connector = aiohttp.TCPConnector(limit=clients)
    async with aiohttp.ClientSession(address, connector=connector) as session:
        start = resident(pid)
        began = time.monotonic()
        until = began + seconds
        tasks = [asyncio.create_task(client(session, n, clients, until, times, errors)) for n in range(clients)]
        await asyncio.sleep(seconds / 4)
        warm = resident(pid)
        await asyncio.gather(*tasks)
        took = time.monotonic() - began
        async with session.get("/metrics") as answer:
            counts = dict(re.findall(r"^citeverifier_batch_(\w+) ([\d.e+]+)$", await answer.text(), re.MULTILINE))
    batches = float(counts["requests_count"])
    a_batch = [float(counts[f"{what}_sum"]) / batches for what in ("requests", "pairs")]
    quantiles = np.percentile(times, [50, 90, 99]).tolist()
    values = [len(times), errors.total(), len(times) / took, *quantiles, start, warm, resident(pid), batches, *a_batch]
    return dict(zip(COLUMNS, values, strict=True))


def main(
    model: Annotated[
        str | None, typer.Option(help="Checkpoint folder, hub id or keyword; default: the last trained.")
    ] = None,
    clients: int = 64,
    seconds: float = 120,
) -> None:
    """Start the server, load it, print the table."""
    process = subprocess.Popen([*SERVE, *(["--model", model] if model else [])], stdout=subprocess.PIPE, text=True)
    errors: Counter[str] = Counter()
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if "listens at" not in line:
            sys.exit("the server did not start")
        load = asyncio.run(run(line.split()[-1], process.pid, clients, seconds, errors))
    finally:
        process.terminate()
        process.wait()
    row = [format(load[name], form) for name, form in COLUMNS.items()]
    print_table(f"{clients} clients, {seconds:.0f} s, {', '.join(ROUTES)} in turn; {machine()}", list(COLUMNS), [row])
    for problem, count in errors.items():
        print(f"{count} times {problem}")
    write("serve", {"clients": clients, "seconds": seconds, **load, "errors": errors})
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    typer.run(main)
