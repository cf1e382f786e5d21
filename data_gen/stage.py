"""Running a stage: records in, one outcome a record out, appended line by line, resumable after kill -9.

A stage's file holds one line per record that came in, in their order: the records that it became, or the reason why
it was dropped. So a file is always the beginning of the whole: resuming cuts a half-written last line off, checks the
rest against the input, and goes on. Calls whose replies came but whose lines were not written yet lie in the LLM's
cache and are not repeated. Lines are flushed one by one and synced to disk every second.

A step asks an LLM as a generator: it yields requests, gets replies, and returns an outcome. `asking` runs thousands of
them side by side with a bounded number of records in memory.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from citeverifier.appending import Appender, cut_half_line, read_rows
from citeverifier.cost import Cost
from citeverifier.llm.client import LLM, Reply, Request
from citeverifier.records import Example, Statement, example_from_json, example_to_json

CLOSING = "closing"  # kind of a statement whose citations stand behind a later sentence of its paragraph
COSTS = ("calls", "tokens", "money")  # what a line tells of its cost
WINDOW = 2048  # records under way or waiting for an earlier one, at most


@dataclass(frozen=True)
class Outcome:
    """What became of one record: the records that it turned into, or the reason why it was dropped.

    `counts`: what kept records lost on the way (statements, twins, attempts), by reason. `detail`: an example of the
    text in question. `cost`: of the replies used, cached or not.
    """

    records: tuple[Example, ...] = ()
    dropped: str | None = None
    detail: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)


def drop(reason: str, detail: str | None = None, counts: Mapping[str, int] | None = None) -> Outcome:
    """The outcome of a record that goes no further; `detail` is cut to 200 characters."""
    return Outcome(dropped=reason, detail=None if detail is None else detail[:200], counts=counts or {})


def keep(*records: Example, counts: Mapping[str, int] | None = None) -> Outcome:
    """The outcome of a record that goes on, as one or several records."""
    return Outcome(records, counts=counts or {})


@dataclass(frozen=True)
class Step:
    """What a stage does: `run` maps records to outcomes, one each, in order.

    `made_with`: model and prompt of a step that asks an LLM, empty for others. `judges`: whether a verifier is asked.
    `whole`: an outcome depends on the records before it, so that a file half made is made anew.
    """

    run: Callable[[Iterator[Example]], Iterator[Outcome]]
    made_with: Mapping[str, Any] = field(default_factory=dict)
    judges: bool = False
    whole: bool = False

    @property
    def asks(self) -> bool:
        """Whether an LLM is asked."""
        return bool(self.made_with)


def one_by_one(change: Callable[[Example], Outcome]) -> Step:
    """A step that needs nothing but the record."""
    return Step(lambda records: map(change, records))


def without_twin(statement: Statement) -> Statement:
    """The statement alone."""
    return replace(statement, corrupted=None, altered_in=(), edit=None)


def marked(example: Example, stage: str, made_with: Mapping[str, Any]) -> dict[str, Any]:
    """The example's meta with one more entry under `made`: which model and prompt a stage used."""
    entry = {"stage": stage, **{key: made_with.get(key) for key in ("model", "fingerprint", "prompt", "version")}}
    return {**example.meta, "made": [*example.meta.get("made", []), entry]}


# --- asking an LLM -------------------------------------------------------------------------------------------------

Asking = Generator[Request, Reply, Outcome]


def asking(ask: Callable[[Example], Asking], llm: LLM, made_with: Mapping[str, Any], window: int = WINDOW) -> Step:
    """A step that asks an LLM about each record, many at a time; outcomes come in the order of the records.

    At most `window` records are under way or waiting for an earlier one to end.
    """
    return Step(lambda records: _Conversations(ask, llm, window).run(records), made_with)


class _Conversations:
    """The records that are being asked about, each a generator that waits for its next reply."""

    def __init__(self, ask: Callable[[Example], Asking], llm: LLM, window: int) -> None:
        self._ask, self._llm, self._window = ask, llm, window
        self._running: dict[int, Asking] = {}
        self._costs: dict[int, Cost] = {}
        self._waiting: deque[tuple[int, Request]] = deque()
        self._finished: dict[int, Outcome] = {}
        self._next = 0  # the record whose outcome comes next
        self._exhausted = False

    def run(self, records: Iterator[Example]) -> Iterator[Outcome]:
        source = enumerate(records)
        while not (self._exhausted and not self._running and not self._finished):
            # A pass ends where the window is full or the records are; questions that follow replies join a running
            # pass, or make the next one.
            for number, reply in self._llm.replies(self._requests(source)):
                self._costs[number] += self._llm.cost(reply)
                self._advance(number, reply)
                yield from self._in_order()
            yield from self._in_order()

    def _requests(self, source: Iterator[tuple[int, Example]]) -> Iterator[tuple[int, Request]]:
        while True:
            if self._waiting:
                yield self._waiting.popleft()
                continue
            full = len(self._running) + len(self._finished) >= self._window
            entry = None if full else next(source, None)
            self._exhausted = self._exhausted or (entry is None and not full)
            if entry is None:
                return
            number, example = entry
            self._running[number], self._costs[number] = self._ask(example), Cost()
            self._advance(number, None)

    def _advance(self, number: int, reply: Reply | None) -> None:
        try:
            request = next(self._running[number]) if reply is None else self._running[number].send(reply)
        except StopIteration as end:
            del self._running[number]
            self._finished[number] = replace(end.value, cost=self._costs.pop(number))
        else:
            self._waiting.append((number, request))

    def _in_order(self) -> Iterator[Outcome]:
        while self._next in self._finished:
            yield self._finished.pop(self._next)
            self._next += 1


# --- a stage and its file ------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What a stage did: records asked and kept, dropped ones by reason, smaller losses, cost (seconds included)."""

    asked: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    cost: Cost = field(default_factory=Cost)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one line of a stage's file."""
        self.asked += 1
        if row["dropped"] is None:
            self.kept += 1
        else:
            self.dropped[row["dropped"]] += 1
        self.counts.update(row["counts"])
        self.cost += Cost(**row["cost"])


def run_stage(name: str, path: Path, records: Iterable[Example], step: Step) -> Tally:
    """Append the outcomes of `records` to `path`, going on where an earlier run stopped; returns the whole tally.

    Raises ValueError where the file holds other records than the input: it belongs to another run.
    """
    started = time.monotonic()
    source = iter(records)
    if step.whole:
        path.unlink(missing_ok=True)
    tally = _already_there(path, source)
    keys: deque[tuple[str, str]] = deque()

    def watched() -> Iterator[Example]:
        for example in source:
            keys.append((example.id, example.lang))
            yield example

    bar = tqdm(desc=name, initial=tally.asked, unit=" records", disable=None, leave=False)
    with Appender(path) as out, bar:
        for outcome in step.run(watched()):
            identity, lang = keys.popleft()
            row = {
                "id": identity, "lang": lang, "dropped": outcome.dropped, "detail": outcome.detail,
                "counts": dict(outcome.counts), "cost": {key: getattr(outcome.cost, key) for key in COSTS},
                "records": [example_to_json(record) for record in outcome.records],
            }  # fmt: skip
            out.write(row)
            tally.add(row)
            bar.update()
    if keys:
        raise RuntimeError(f"stage {name}: expected one outcome a record, got {len(keys)} too few")
    tally.cost += Cost(seconds=time.monotonic() - started)
    return tally


def _already_there(path: Path, source: Iterator[Example]) -> Tally:
    """The tally of the lines that the file holds, whose records are taken from the source."""
    tally = Tally()
    cut_half_line(path)
    for number, row in enumerate(read_rows(path), 1):
        example = next(source, None)
        if example is None or [example.id, example.lang] != [row["id"], row["lang"]]:
            there = "nothing" if example is None else f"{example.id} ({example.lang})"
            raise ValueError(
                f"{path}:{number}: holds record {row['id']} ({row['lang']}), but the input has {there} there; it was "
                "made from other input: take another output_dir, or delete this file and those of the stages after it"
            )
        tally.add(row)
    return tally


def read_stage(path: Path) -> Iterator[Example]:
    """The records that a stage kept, in order."""
    for row in read_rows(path):
        for record in row["records"]:
            yield example_from_json(record)
