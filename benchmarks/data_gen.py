"""What the data pipeline makes of a server, of memory and of kill -9: one table.

    python benchmarks/data_gen.py [--requests 3200] [--records 200000] [--kills 20]

(a) Requests a second against a local server that answers after exactly 1 s, 64 in flight, over the ideal 64.
(b) Growth of peak memory from 10,000 records to `--records`, for a stage that asks an LLM (which answers at once) and
    for one that asks a verifier; each in a process of its own.
(c) A run killed with kill -9 at random moments: whether its output equals an undisturbed run's, and how many requests
    the server saw twice, over the most that may have been in flight.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from common import write

from citeverifier.evaluation.reporting.tables import print_table

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # this file's folder would hide the package of its name
sys.path.append(str(ROOT / "tests"))
from llm_server import ScriptedServer, says  # noqa: E402

LATENCY = 1.0
IN_FLIGHT = 64


# --- the server, in a process of its own ----------------------------------------------------------------------------


def serve(latency: float) -> None:
    """Answer every request after `latency` seconds; one that asks for "counts" is told how many came."""
    told: list[str] = []

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        if "counts" in body:
            return {"requests": len(told), "distinct": len(set(told))}
        told.append(json.dumps(body, sort_keys=True))
        time.sleep(latency)
        return says(_reply(body, body["messages"][-1]["content"]))

    with ScriptedServer(reply) as server:
        print(server.url, flush=True)
        threading.Event().wait()


def _reply(body: dict[str, Any], prompt: str) -> str:
    form = body.get("structured_outputs")
    if form is None:
        word = prompt.split("<question ")[1].split(">\n")[1].split()[1]
        return f"The {word} of the first document is what the question is about [1]. It is also in the second [2]."
    if "choice" in form:
        return "no"
    statement = prompt.split("<statement ")[1].split(">\n")[1].split("\n</")[0]
    first = "first" in statement
    return json.dumps({"before": "first" if first else "second", "after": "last" if first else "third"})


@contextmanager
def running_server(latency: float) -> Iterator[str]:
    """The base URL of a server that runs meanwhile."""
    command = [sys.executable, __file__, "--serve", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def counts(url: str) -> dict[str, int]:
    """How many requests came, and how many different ones."""
    with urllib.request.urlopen(f"{url}/counts", b'{"counts": true}') as answer:
        found: dict[str, int] = json.load(answer)
        return found


# --- records --------------------------------------------------------------------------------------------------------


def records(count: int) -> Iterator[Any]:
    """Examples of two short documents with a cited statement, made as they are asked for."""
    from citeverifier.records import Document, Example, Statement

    for i in range(count):
        words = f"The record {i} of this long list says that the value is {i} and that the colour of it is blue. " * 2
        documents = (Document(f"First {i}", words), Document(f"Second {i}", words))
        statement = Statement(f"The value of the record {i} is {i}.", (0,))
        yield Example(f"r{i}", "en", f"g{i}", f"What {i} is it?", documents, (statement,))


def write_source(path: Path, count: int) -> None:
    """The records as a JSONL file."""
    from citeverifier.records import example_to_json, write_jsonl

    write_jsonl(path, (example_to_json(example) for example in records(count)))


# --- (a) ------------------------------------------------------------------------------------------------------------


def request_rate(requests: int, folder: Path) -> dict[str, Any]:
    """Requests a second of the stage `answer`, start and end included, over in flight / latency."""
    from citeverifier.llm.client import LLM, LLMOptions
    from citeverifier.verifiers.keyword import Keyword
    from data_gen.answer import by_llm
    from data_gen.stage import run_stage
    from data_gen.step import Tools

    with running_server(LATENCY) as url:
        options = LLMOptions("m", url, concurrency=IN_FLIGHT, cache=folder / "rate.sqlite")
        llm = LLM(options)
        step = by_llm(Tools(lambda: llm, Keyword, 13, {"train": 1.0}))
        started = time.perf_counter()
        tally = run_stage("answer", folder / "answer.jsonl", records(requests), step)
        seconds = time.perf_counter() - started
    assert tally.kept == requests
    ideal = IN_FLIGHT / LATENCY
    return {"requests": requests, "seconds": seconds, "rate": requests / seconds, "share": requests / seconds / ideal}


# --- (b) ------------------------------------------------------------------------------------------------------------


class _AtOnce:
    """An LLM that answers at once."""

    name = fingerprint = "at-once"

    def cost(self, reply: Any) -> Any:
        from citeverifier.cost import Cost

        return Cost(calls=1)

    def replies(self, requests: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        from citeverifier.llm.client import Reply

        for key, _ in requests:
            yield key, Reply("The value of this record is written in it [1]. The colour of it is blue [2].")


def peak_memory(stage: str, count: int) -> float:
    """Peak resident memory in MB of this process after a stage over so many records."""
    from citeverifier.verifiers.keyword import Keyword
    from data_gen.answer import by_llm
    from data_gen.filter import by_verifier
    from data_gen.stage import run_stage
    from data_gen.step import Tools

    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(_AtOnce, Keyword, 13, {"train": 1.0})  # type: ignore[arg-type]
        step = by_llm(tools) if stage == "answer" else by_verifier(tools)
        run_stage(stage, Path(folder) / f"{stage}.jsonl", records(count), step)
    # Not getrusage: its peak counts the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]


def memory_growth(stage: str, count: int) -> dict[str, Any]:
    """Peak memory at 10,000 records and at `count`, in MB."""
    found = {}
    for number in (10_000, count):
        command = [sys.executable, __file__, "--memory", stage, "--records", str(number)]
        found[number] = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {"stage": stage, "mb": found, "growth_mb": found[count] - found[10_000]}


# --- (c) ------------------------------------------------------------------------------------------------------------


def kills(number: int, folder: Path, seed: int = 13) -> dict[str, Any]:
    """Kill a run at random moments, so often, then let it end, and compare it with an undisturbed one."""
    rng = random.Random(seed)
    write_source(folder / "source.jsonl", 240)
    in_flight = 16
    with running_server(0.2) as url:
        _start(url, folder / "undisturbed", in_flight).communicate()
    with running_server(0.2) as url:
        done = 0
        while done < number:
            before = counts(url)["requests"]
            process = _start(url, folder / "killed", in_flight)
            wanted = before + rng.randint(1, 2 * 240 * 3 // (number + 1))
            while process.poll() is None and counts(url)["requests"] < wanted:
                time.sleep(0.01)
            if process.poll() is not None:
                break
            time.sleep(rng.random() * 0.2)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            done += 1
        _start(url, folder / "killed", in_flight).communicate()
        seen = counts(url)
    names = sorted(p.relative_to(folder / "undisturbed") for p in (folder / "undisturbed" / "out").rglob("*.jsonl"))
    equal = all(_same(folder / "undisturbed" / name, folder / "killed" / name) for name in names)
    return {
        "kills": done, "files": len(names), "equal": equal, "requests": seen["requests"],
        "seen_twice": seen["requests"] - seen["distinct"], "in_flight_at_kills": done * in_flight,
    }  # fmt: skip


def _same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()


def _start(url: str, folder: Path, in_flight: int) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    arguments = [
        "generator=llm", "verifier=keyword", "lang=en", "limit=null", "data.path=../source.jsonl", "output_dir=out",
        "skip=[filter,compare,negatives]", f"llm.base_url={url}", "llm.model=m", "llm.cache=cache.sqlite",
        f"llm.concurrency={in_flight}",
    ]  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "data_gen", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def main(
    requests: int = 3200,
    count: Annotated[int, typer.Option("--records")] = 200_000,
    kill: Annotated[int, typer.Option("--kills")] = 20,
    serving: Annotated[float | None, typer.Option("--serve", hidden=True)] = None,
    memory_of: Annotated[str | None, typer.Option("--memory", hidden=True)] = None,
) -> None:
    """Measure and print the table."""
    if serving is not None:
        serve(serving)
    if memory_of:
        print(peak_memory(memory_of, count))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rate = request_rate(requests, folder)
        memory = [memory_growth(stage, count) for stage in ("answer", "filter")]
        killed = kills(kill, folder)
    rows = [
        ("requests a second, 1 s latency, 64 in flight", f"{rate['rate']:.1f}", "64"),
        ("share of the ideal rate", f"{rate['share']:.0%}", ">= 90%"),
        *(
            (f"memory, 10,000 to {count:,} records: {row['stage']}", f"{row['growth_mb']:.1f} MB", "< 50 MB")
            for row in memory
        ),
        (
            f"files equal after {killed['kills']} kills ({killed['files']} files)",
            "yes" if killed["equal"] else "NO",
            "yes",
        ),
        (
            f"requests seen twice, of {killed['requests']:,}",
            str(killed["seen_twice"]),
            f"<= {killed['in_flight_at_kills']}",
        ),
    ]
    print_table("data_gen", ("what", "measured", "aim"), rows)
    write("data_gen", {"rate": rate, "memory": memory, "kills": killed})


if __name__ == "__main__":
    typer.run(main)
