"""Running the stages of a pipeline one after the other, each on the file of the one before."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from citeverifier.records import Example
from data_gen.stage import Step, Tally, read_stage, run_stage
from data_gen.tools import Tools

log = logging.getLogger(__name__)

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Stage:
    """One stage of a chain: its name, what makes its step, and the settings that its file depends on."""

    name: str
    make: Callable[[Tools], Step]
    settings: Settings
    tools: Tools


@dataclass(frozen=True)
class Done:
    """A stage that has run: what it did, its file, and the LLM's price of a million tokens (input, output)."""

    name: str
    tally: Tally
    path: Path
    prices: Any = None


def run_chain(
    chain: str, read: Callable[[], Iterator[Example]], read_settings: Settings, stages: Sequence[Stage], folder: Path
) -> list[Done]:
    """Run the stages of a chain on what `read` yields; files are `folder/CHAIN-NN-STAGE.jsonl`.

    A stage whose settings, or those of a stage before it, are others than its file was made with is made anew; one that
    asks an LLM is not, since its file has cost something: raises ValueError that names what differs.
    """
    done: list[Done] = []
    before: Path | None = None
    settings: dict[str, Any] = {"data": dict(read_settings)}
    for number, stage in enumerate(stages, 1):
        path = folder / f"{chain}-{number:02d}-{stage.name}.jsonl"
        tools = replace(stage.tools, before=before, folder=folder)
        step = stage.make(tools)
        settings = {**settings, stage.name: {**stage.settings, **step.made_with}}
        _check_settings(path, settings, step)
        records = read() if before is None else read_stage(before)
        tally = run_stage(stage.name, path, records, step)
        done.append(Done(stage.name, tally, path, tools.llm().options.prices if step.asks else None))
        before = path
    return done


def _check_settings(path: Path, settings: Settings, step: Step) -> None:
    """Start the stage's file anew, or refuse, where it was made with other settings."""
    file = path.with_suffix(".settings.json")
    wanted = json.loads(json.dumps(settings, sort_keys=True))
    if path.is_file() and file.is_file():
        found = json.loads(file.read_text(encoding="utf-8"))
        if found == wanted:
            return
        changed = _differences(found, wanted)
        if step.asks:
            raise ValueError(
                f"{path}: made with other settings ({'; '.join(changed[:5])}). Take another output_dir (replies in the "
                "cache are not asked for again), or delete this file to make it anew"
            )
        log.info("%s: settings have changed (%s); made anew", path.name, "; ".join(changed[:3]))
        path.unlink()
    elif path.is_file():
        raise ValueError(f"{path}: expected {file.name} beside it; take another output_dir")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(file.name + ".partial")
    partial.write_text(json.dumps(wanted, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(file)


def _differences(found: Settings, wanted: Settings, prefix: str = "") -> list[str]:
    """The keys that differ, "filter.level: full before, partial now"."""
    differences = []
    for key in dict.fromkeys([*found, *wanted]):
        a, b = found.get(key), wanted.get(key)
        if isinstance(a, dict) and isinstance(b, dict):
            differences += _differences(a, b, f"{prefix}{key}.")
        elif a != b:
            differences.append(f"{prefix}{key}: {str(a)[:60]} before, {str(b)[:60]} now")
    return differences


def file_hash(path: str) -> str | None:
    """sha256 of a local file; None for anything else (the bundled set, a hub id)."""
    file = Path(path)
    if not file.is_file():
        return None
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@dataclass(frozen=True)
class Planned:
    """What a stage would ask: records, calls, prompt tokens; the latter two as the client estimates them."""

    name: str
    records: int
    calls: int
    prompt_tokens: int
    prices: Any


def plan_chain(
    chain: str, read: Callable[[], Iterator[Example]], stages: Sequence[Stage], folder: Path
) -> list[Planned]:
    """Count the calls of a chain without sending any, as if every record were kept and every first attempt good.

    Stages that neither ask nor judge run into `folder`; the others pass their records on as they are, so that stand-in
    statements (those that rules make) are what later stages would ask about. The tools' LLMs must be dry.
    """
    planned: list[Planned] = []
    before: Path | None = None
    for number, stage in enumerate(stages, 1):
        step = stage.make(replace(stage.tools, before=before, folder=folder))
        records = read() if before is None else read_stage(before)
        if step.asks:
            llm = stage.tools.llm()
            before_it = llm.spent
            count = sum(1 for _ in step.run(records))
            calls, tokens = llm.spent.calls - before_it.calls, llm.spent.tokens - before_it.tokens
            planned.append(Planned(stage.name, count, calls, tokens, llm.options.prices))
        elif not step.judges:
            path = folder / f"{chain}-{number:02d}-{stage.name}.jsonl"
            run_stage(stage.name, path, records, step)
            before = path
    return planned


def cost(prices: tuple[float, float] | None, prompt_tokens: int, completion_tokens: int) -> float | None:
    """What tokens cost, in the currency of the prices; None without prices."""
    return None if prices is None else (prompt_tokens * prices[0] + completion_tokens * prices[1]) / 1e6


def table_rows(done: Sequence[Done]) -> tuple[list[str], list[list[str]]]:
    """(header, rows): one row a stage, below it a row for each reason; the calls are those of the replies used."""
    header = ["stage", "asked", "kept", "dropped", "within", "calls", "tokens in", "tokens out", "cost", "seconds"]
    rows = []
    for stage in done:
        tally = stage.tally
        price = cost(stage.prices, tally.prompt_tokens, tally.completion_tokens)
        rows.append(
            [
                stage.name, f"{tally.asked:,}", f"{tally.kept:,}", f"{sum(tally.dropped.values()):,}", "",
                f"{tally.calls:,}", f"{tally.prompt_tokens:,}", f"{tally.completion_tokens:,}",
                "-" if price is None else f"{price:.2f}", f"{tally.seconds:.1f}",
            ]
        )  # fmt: skip
        empty = [""] * 5
        rows += [[f"  {why}", "", "", f"{n:,}", "", *empty] for why, n in sorted(tally.dropped.items())]
        rows += [[f"  {why}", "", "", "", f"{n:,}", *empty] for why, n in sorted(tally.counts.items())]
    return header, rows


def report(done: Sequence[Done]) -> list[dict[str, Any]]:
    """The same as JSON."""
    return [
        {
            "stage": stage.name, "asked": stage.tally.asked, "kept": stage.tally.kept,
            "dropped": dict(sorted(stage.tally.dropped.items())), "within": dict(sorted(stage.tally.counts.items())),
            "calls": stage.tally.calls, "prompt_tokens": stage.tally.prompt_tokens,
            "completion_tokens": stage.tally.completion_tokens,
            "cost": cost(stage.prices, stage.tally.prompt_tokens, stage.tally.completion_tokens),
            "seconds": round(stage.tally.seconds, 1),
        }
        for stage in done
    ]  # fmt: skip
