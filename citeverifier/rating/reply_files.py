"""A stage that asks an LLM: replies appended to a file as they come, one line each, taken up again by id.

A line holds what was asked (a hash) and the whole reply, so that reading it can be mended and repeated without asking.
A request that changed, or got no reply, is asked again; of several lines of one id the last counts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from citeverifier.appending import Appender, cut_half_line, read_rows
from citeverifier.cost import Cost
from citeverifier.llm.client import LLM, Reply, Request
from citeverifier.llm.request import request_key
from citeverifier.rating.responses import Rater


def ask_stage(path: Path, llm: LLM, requests: Mapping[str, Request]) -> tuple[dict[str, Reply], Cost]:
    """The reply to each request by its id, and what new ones cost. Raises LLMError."""
    asked = {identity: request_key(llm.options, request) for identity, request in requests.items()}
    cut_half_line(path)
    known = {
        row["id"]: Reply(row["reply"], row["error"], cached=True, raw=row["raw"])
        for row in read_rows(path)
        if asked.get(row["id"]) == row["asked"] and (row["reply"] is not None or row["raw"] is not None)
    }
    missing: dict[str, list[str]] = {}  # equal requests are sent once
    for identity in requests:
        if identity not in known:
            missing.setdefault(asked[identity], []).append(identity)
    started = time.monotonic()
    cost = Cost()
    with ExitStack() as stack:
        out = None if llm.options.dry_run else stack.enter_context(Appender(path))
        for same, reply in llm.replies((same, requests[same[0]]) for same in missing.values()):
            cost += Cost() if reply.cached else llm.cost(reply)
            known |= dict.fromkeys(same, reply)
            if out is None:
                continue
            for identity in same:
                tokens = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
                row = {"id": identity, "asked": asked[identity], "reply": reply.text, "raw": reply.raw}
                out.write({**row, "error": reply.error, **tokens})
    return known, cost + Cost(seconds=time.monotonic() - started)


class LLMRater(Rater):
    """A rater that asks an LLM, stage by stage. `prompt_lang`: the prompts' language; None = the response's own."""

    def __init__(self, name: str, llm: LLM, prompt_lang: str | None) -> None:
        super().__init__(f"{name} ({llm.name})")
        self.llm, self.prompt_lang = llm, prompt_lang
        self.dry_run = llm.options.dry_run

    def ask(self, path: Path, requests: Mapping[str, Request]) -> dict[str, Reply]:
        """The reply to each request by its id."""
        replies, cost = ask_stage(path, self.llm, requests)
        self.cost += cost
        return replies
