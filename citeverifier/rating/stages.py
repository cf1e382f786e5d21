"""A stage that asks an LLM: replies appended to a file as they come, one line each, taken up again by id.

A line holds what was asked (a hash) and the whole reply, so that reading it can be mended and repeated without asking.
A request that changed, or got no reply, is asked again; of several lines of one id the last counts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from citeverifier.appending import Appender, cut_half_line, read_rows
from citeverifier.cost import Cost
from citeverifier.llm.client import LLM, Reply, Request
from citeverifier.llm.request import request_key


def ask_stage(path: Path, llm: LLM, requests: Sequence[tuple[str, Request]]) -> tuple[dict[str, Reply], Cost]:
    """The reply to each request by its id, and what new ones cost. Raises LLMError."""
    asked = {identity: request_key(llm.options, request) for identity, request in requests}
    cut_half_line(path)
    known = {
        row["id"]: Reply(row["reply"], row["error"], cached=True, raw=row["raw"])
        for row in read_rows(path)
        if asked.get(row["id"]) == row["asked"] and (row["reply"] is not None or row["raw"] is not None)
    }
    started = time.monotonic()
    missing = [(identity, request) for identity, request in requests if identity not in known]
    if llm.options.dry_run:
        known |= dict(llm.replies(missing))
    else:
        with Appender(path) as out:
            for identity, reply in llm.replies(missing):
                known[identity] = reply
                out.write(
                    {
                        "id": identity,
                        "asked": asked[identity],
                        "reply": reply.text,
                        "raw": reply.raw,
                        "error": reply.error,
                        "prompt_tokens": reply.prompt_tokens,
                        "completion_tokens": reply.completion_tokens,
                    }
                )
    new = [known[identity] for identity, _ in missing]
    cost = sum((llm.cost(reply) for reply in new if not reply.cached), Cost(time.monotonic() - started))
    return known, cost
