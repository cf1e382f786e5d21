"""Asking an LLM behind any OpenAI-compatible server: batches, streams, cache, counts. Imports no torch.

    llm = LLM(LLMOptions(model="Qwen/Qwen3-8B", base_urls=("http://127.0.0.1:8000/v1",)))
    llm.ask([Request((("user", "Is water wet?"),), choices=("yes", "no"), logprobs=True)])

Calls run in an event loop in a thread of the batch's own; the caller's code, an iterator of requests included, stays
in the caller's thread, and works inside a notebook's event loop too.
"""

from __future__ import annotations

import asyncio
import math
import queue
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tqdm.auto import tqdm

from citeverifier.llm.cache import ReplyCache
from citeverifier.llm.options import LLMError, LLMOptions, Reply, Request, Usage, request_key
from citeverifier.llm.servers import Servers, read_key

__all__ = ["LLM", "LLMError", "LLMOptions", "Reply", "Request", "Usage", "make_llm"]

K = TypeVar("K")

BYTES_A_TOKEN = 4  # the dry run's estimate: English runs to about 4 UTF-8 bytes a token, Polish to 3 or 4
CHAT_TOKENS = 4  # what a chat template adds to a message, about


def make_llm(**options: Any) -> LLM:
    """A client from options by name, as `configs/llm/*.yaml` give them."""
    return LLM(LLMOptions(**options))


class LLM:
    """A model behind one or more servers."""

    def __init__(self, options: LLMOptions) -> None:
        self.options = options
        self.name = options.model
        self.fingerprint = options.fingerprint
        self._cache = ReplyCache(options.cache) if options.cache is not None else None
        self._usage = Usage()
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """What was done so far, over all batches."""
        with self._lock:
            return self._usage

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Replies in the order of the requests; equal requests are sent once. Raises LLMError."""
        places: dict[str, list[int]] = {}
        for place, request in enumerate(requests):
            places.setdefault(request_key(self.options, request), []).append(place)
        replies: dict[int, Reply] = {}
        distinct = ((at, requests[at[0]]) for at in places.values())
        bar = tqdm(total=len(requests), desc=self.name, disable=len(requests) < 2 or None, leave=False)
        with bar:
            for at, reply in self.replies(distinct):
                replies[at[0]] = reply
                for place in at[1:]:
                    replies[place] = self._again(reply)
                bar.update(len(at))
        return [replies[place] for place in range(len(requests))]

    def replies(self, requests: Iterable[tuple[K, Request]]) -> Iterator[tuple[K, Reply]]:
        """(key, reply) as replies come in, in no particular order; raises LLMError where the run cannot go on.

        Requests are taken one by one, at most `concurrency` ahead of the replies handed out, so memory stays bounded.
        Equal requests that are under way at the same time are sent once. Stopping early (a break, Ctrl-C) cancels what
        is under way.
        """
        started = time.monotonic()
        source = iter(requests)
        exhausted = False
        waiting: dict[str, list[K]] = {}
        taken = 0  # requests taken whose replies were not handed out yet
        # The key is read here, once a batch, and kept nowhere else.
        sender = _Sender(self, None if self.options.dry_run else read_key(self.options))
        try:
            while True:
                if not exhausted and taken < self.options.concurrency and sender.done.empty():
                    try:
                        key, request = next(source)
                    except StopIteration:
                        exhausted = True
                        continue
                    digest = request_key(self.options, request)
                    if (reply := self._without_sending(digest, request)) is not None:
                        yield key, reply
                    elif digest in waiting:
                        waiting[digest].append(key)
                        taken += 1
                    else:
                        waiting[digest] = [key]
                        taken += 1
                        sender.send(digest, request)
                    continue
                if not taken:
                    return
                digest, outcome = sender.done.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                self._count(
                    failed=int(outcome.text is None),
                    prompt_tokens=outcome.prompt_tokens,
                    completion_tokens=outcome.completion_tokens,
                )
                first, *others = waiting.pop(digest)
                taken -= 1
                yield first, outcome
                for key in others:
                    taken -= 1
                    yield key, self._again(outcome)
        finally:
            sender.close()
            self._count(seconds=time.monotonic() - started)

    def _without_sending(self, digest: str, request: Request) -> Reply | None:
        """The reply from the cache, or a dry run's."""
        cached = self._cache.get(digest) if self._cache is not None else None
        if cached is not None:
            self._count(cached=1)
        if not self.options.dry_run:
            return cached
        if cached is None:
            self._count(calls=1, failed=1, prompt_tokens=estimated_tokens(request))
        return Reply(None, "dry run", cached=cached is not None)

    def _again(self, reply: Reply) -> Reply:
        """A reply for an equal request."""
        self._count(cached=1, failed=int(reply.text is None and not self.options.dry_run))
        return replace(reply, cached=True)

    def _keep(self, digest: str, reply: Reply) -> None:
        if self._cache is not None:
            self._cache.put(digest, self.options.model, reply)

    def _count(self, seconds: float = 0.0, **more: int) -> None:
        with self._lock:
            old = self._usage
            sums = {name: getattr(old, name) + value for name, value in more.items()}
            new = replace(old, seconds=old.seconds + seconds, **sums)
            if self.options.prices is not None:
                into, out_of = self.options.prices
                new = replace(new, cost=(new.prompt_tokens * into + new.completion_tokens * out_of) / 1e6)
            self._usage = new


class _Sender:
    """An event loop in a thread for one batch: requests go in by `send`, (digest, reply or error) come by `done`."""

    def __init__(self, llm: LLM, key: str | None) -> None:
        self.done: queue.SimpleQueue[tuple[str, Reply | BaseException]] = queue.SimpleQueue()
        self._llm = llm
        self._key = key
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._servers: Servers | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, digest: str, request: Request) -> None:
        """Start a call; the loop starts with the first, since a batch may need none."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="llm", daemon=True)
            self._thread.start()
        self._loop.call_soon_threadsafe(self._start, digest, request)

    def _start(self, digest: str, request: Request) -> None:
        task = asyncio.ensure_future(self._call(digest, request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _call(self, digest: str, request: Request) -> None:
        outcome: Reply | BaseException
        try:
            if self._servers is None:
                self._servers = Servers(self._llm.options, self._key, sent=lambda: self._llm._count(calls=1))
            outcome = await self._servers.reply(request)
            self._llm._keep(digest, outcome)  # here, so that a kill loses no reply that has come
        except Exception as error:
            outcome = error
        self.done.put((digest, outcome))

    def close(self) -> None:
        """Cancel what is under way, close the connections, end the thread."""
        if self._loop is None or self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._servers is not None:
            await self._servers.close()


def estimated_tokens(request: Request) -> int:
    """About how many tokens a request's messages are, without a tokenizer: UTF-8 bytes over four, and the template."""
    return sum(math.ceil(len(content.encode()) / BYTES_A_TOKEN) + CHAT_TOKENS for _, content in request.messages)
