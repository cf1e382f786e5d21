"""Dynamic batching: one thread owns the verifier, and requests that come close together are asked together.

A batch is what arrives within a few milliseconds, or about so many pairs. Of a batch, jobs of one kind make one call. A
call that fails is taken again job by job, so that a job that fails fails alone.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

log = logging.getLogger(__name__)

Ask = Callable[[Any, Sequence[Any]], Sequence[Any]]  # (kind, items) to one result an item


class Busy(Exception):
    """The queue is full, or the server is stopping."""


class VerifierFailed(Exception):
    """The verifier failed on a job by itself; the log has the traceback."""


@dataclass(eq=False)
class QueuedRequest:
    """Items of one request, all of one kind; `pairs` is about how many pairs they make."""

    kind: Hashable
    items: Sequence[Any]
    pairs: int
    future: Future[list[Any]] = field(default_factory=Future)


class Batcher:
    """Runs jobs in batches on a thread of its own.

    Args:
        ask: (kind, items) to one result an item, in order; runs on the thread only.
        wait: seconds in which jobs join a batch.
        pairs: a batch of about as many waits for no more.
        limit: how many jobs may wait.
        observe: told the jobs and pairs of each batch.
    """

    def __init__(
        self,
        ask: Ask,
        wait: float,
        pairs: int,
        limit: int,
        observe: Callable[[int, int], None] = lambda jobs, pairs: None,
    ) -> None:
        self.ask, self.wait, self.pairs, self.observe = ask, wait, pairs, observe
        self._queue: queue.Queue[QueuedRequest] = queue.Queue(limit)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="verifier", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        """How many jobs wait."""
        return self._queue.qsize()

    @property
    def alive(self) -> bool:
        """Whether jobs are taken and answered."""
        return self._thread.is_alive() and not self._closing.is_set()

    def submit(self, job: QueuedRequest) -> Future[list[Any]]:
        """Put a job in the queue; its future brings a result an item. Raises Busy."""
        if not self.alive:
            raise Busy("the server is stopping")
        try:
            self._queue.put_nowait(job)
        except queue.Full:
            raise Busy(f"{self._queue.maxsize} requests are waiting already") from None
        return job.future

    def close(self, timeout: float) -> bool:
        """Take no more jobs, finish those that are in, for at most `timeout` seconds; whether all are done."""
        self._closing.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while batch := self._gather():
            waiting = [job for job in batch if job.future.set_running_or_notify_cancel()]
            if not waiting:
                continue
            self.observe(len(waiting), sum(job.pairs for job in waiting))
            kinds: dict[Hashable, list[QueuedRequest]] = {}
            for job in waiting:
                kinds.setdefault(job.kind, []).append(job)
            for jobs in kinds.values():
                self._answer(jobs)

    def _gather(self) -> list[QueuedRequest]:
        """The next batch; none once there is nothing more to do."""
        first = self._next()
        if first is None:
            return []
        batch, pairs = [first], first.pairs
        until = time.monotonic() + self.wait
        while pairs < self.pairs:
            try:
                job = self._queue.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                break
            batch.append(job)
            pairs += job.pairs
        return batch

    def _next(self) -> QueuedRequest | None:
        """The next job; None once the batcher is closing and none is left."""
        while True:
            try:
                return self._queue.get(timeout=0.1)
            except queue.Empty:
                if self._closing.is_set():
                    return None

    def _answer(self, jobs: Sequence[QueuedRequest]) -> None:
        try:
            results = list(self.ask(jobs[0].kind, [item for job in jobs for item in job.items]))
        except Exception as error:
            if len(jobs) == 1:
                log.exception("the verifier failed on a request of %d items", len(jobs[0].items))
                jobs[0].future.set_exception(VerifierFailed(f"{type(error).__name__}: {error}"))
                return
            for job in jobs:
                self._answer([job])
            return
        done = 0
        for job in jobs:
            job.future.set_result(results[done : done + len(job.items)])
            done += len(job.items)
