"""Running the stages of a pipeline one after the other, each on the file of the one before."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from citeverifier.cost import Cost
from citeverifier.evaluation.reporting.plain import write_json
from citeverifier.records import Example
from data_gen.stage import Step, Tally, read_stage, run_stage
from data_gen.tools import Tools

log = logging.getLogger(__name__)

COLUMNS = ("stage", "asked", "kept", "dropped", "within", "calls", "tokens", "cost", "seconds")
Done = tuple[str, Tally]  # a stage's name and what it did


@dataclass(frozen=True)
class Stage:
    """One stage of a chain: its name, what makes its step, and the settings that its file depends on."""

    name: str
    make: Callable[[Tools], Step]
    settings: Mapping[str, Any]
    tools: Tools


@dataclass(frozen=True)
class Chain:
    """Stages on what `read` yields, with the settings that it depends on; files are `CHAIN-NN-STAGE.jsonl`."""

    name: str
    read: Callable[[], Iterator[Example]]
    settings: Mapping[str, Any]
    stages: Sequence[Stage]

    def paths(self, folder: Path) -> list[Path]:
        """The stages' files."""
        return [folder / f"{self.name}-{number:02d}-{stage.name}.jsonl" for number, stage in enumerate(self.stages, 1)]


def run_chain(chain: Chain, folder: Path) -> list[Done]:
    """Run the stages of a chain; returns what each did.

    A stage whose settings, or those of a stage before it, are others than its file was made with is made anew; one that
    asks an LLM is not, since its file has cost something: raises ValueError that names what differs.
    """
    tallies: list[Done] = []
    before: Path | None = None
    settings: dict[str, Any] = {"data": dict(chain.settings)}
    for stage, path in zip(chain.stages, chain.paths(folder), strict=True):
        step = stage.make(replace(stage.tools, before=before))
        verifier = {"verifier": stage.tools.verifier_settings} if step.judges else {}
        settings = {**settings, stage.name: {**stage.settings, **step.made_with, **verifier}}
        _check_settings(path, settings, step)
        records = chain.read() if before is None else read_stage(before)
        tallies.append((stage.name, run_stage(stage.name, path, records, step)))
        before = path
    return tallies


def _check_settings(path: Path, settings: Mapping[str, Any], step: Step) -> None:
    """Start the stage's file anew, or refuse, where it was made with other settings."""
    file = path.with_suffix(".settings.json")
    wanted = json.loads(json.dumps(settings, sort_keys=True))
    if path.is_file() and file.is_file():
        saved = json.loads(file.read_text(encoding="utf-8"))
        if saved == wanted:
            return
        changed = _differences(saved, wanted)
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
    write_json(file, wanted)


def _differences(saved: Mapping[str, Any], wanted: Mapping[str, Any], prefix: str = "") -> list[str]:
    """The keys that differ, "filter.level: full before, partial now"."""
    differences = []
    for key in dict.fromkeys([*saved, *wanted]):
        old, new = saved.get(key), wanted.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            differences += _differences(old, new, f"{prefix}{key}.")
        elif old != new:
            differences.append(f"{prefix}{key}: {str(old)[:60]} before, {str(new)[:60]} now")
    return differences


def file_hash(path: str | Path) -> str | None:
    """sha256 of a local file; None for anything else (the bundled set, a hub id)."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def plan_chain(chain: Chain, folder: Path) -> list[Done]:
    """Count the calls of a chain without sending any, as if every record were kept and every first attempt good.

    Stages that neither ask nor judge run into `folder`; the others pass their records on as they are, so that stand-in
    statements (those that rules make) are what later stages would ask about. The tools' LLMs must be dry.
    """
    planned: list[Done] = []
    before: Path | None = None
    for stage, path in zip(chain.stages, chain.paths(folder), strict=True):
        step = stage.make(replace(stage.tools, before=before))
        records = chain.read() if before is None else read_stage(before)
        if step.asks:
            llm = stage.tools.llm()
            start = llm.spent
            asked = sum(1 for _ in step.run(records))
            # replies that lie in the cache cost nothing
            money = None if llm.spent.money is None else llm.spent.money - (start.money or 0.0)
            cost = Cost(calls=llm.spent.calls - start.calls, tokens=llm.spent.tokens - start.tokens, money=money)
            planned.append((stage.name, Tally(asked, cost=cost)))
        elif not step.judges:
            run_stage(stage.name, path, records, step)
            before = path
    return planned


def report(tallies: Sequence[Done]) -> list[dict[str, Any]]:
    """What each stage did, as JSON."""
    return [
        {
            "stage": name, "asked": tally.asked, "kept": tally.kept,
            "dropped": dict(sorted(tally.dropped.items())), "within": dict(sorted(tally.counts.items())),
            "calls": tally.cost.calls, "tokens": tally.cost.tokens, "cost": tally.cost.money,
            "seconds": round(tally.cost.seconds, 1),
        }
        for name, tally in tallies
    ]  # fmt: skip


def table_rows(tallies: Sequence[Done], columns: Mapping[str, str] | None = None) -> tuple[list[str], list[list[str]]]:
    """(header, rows): one row a stage, below it a row for each reason; the calls are those of the replies used.

    `columns`: the report's keys that are shown, and what they are called.
    """
    columns = columns or dict(zip(COLUMNS, COLUMNS, strict=True))
    rows = []
    for stage in report(tallies):
        cost = "-" if stage["cost"] is None else f"{stage['cost']:.2f}"
        total = {**stage, "dropped": sum(stage["dropped"].values()), "within": "", "cost": cost}
        reasons = [
            {"stage": f"  {reason}", what: count}
            for what in ("dropped", "within")
            for reason, count in stage[what].items()
        ]
        for row in (total, *reasons):
            cells = [row.get(column, "") for column in columns]
            rows.append([f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells])
    return list(columns.values()), rows
