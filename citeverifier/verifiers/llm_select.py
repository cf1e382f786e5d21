"""Prompted selection: an LLM names the documents that a statement should cite, in one call (paper 1's list scheme)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citeverifier.cost import Cost
from citeverifier.llm.parsing import parse_indices, parse_json
from citeverifier.llm.request import Reply, Request
from citeverifier.verifiers.base import Listing, Selection, Selector, with_cost
from citeverifier.verifiers.prompted import Prompted, ask, words_of

KEY = "citations"


class LLMSelect(Prompted, Selector):
    """A Selector: numbers of documents by JSON schema, or read out of free text where the server ignores the schema.

    Numbers that do not exist and repeats are left out and counted in the notes ("out_of_range", "repeated"); no
    reply, no list and contradictory lists are unscored with the reason.
    """

    name = "llm_select"

    def select(self, statements: Sequence[Listing]) -> list[Selection]:
        """One selection a statement; the first carries what the batch cost."""
        replies, cost = ask(self.llm, [self._request(listing) for listing in statements])
        asked = zip(replies, statements, strict=True)
        selected = [_read(reply, len(listing.documents)) for reply, listing in asked]
        return with_cost(selected, sum((selection.cost for selection in selected), cost))

    def _request(self, listing: Listing) -> Request:
        number = {"type": "integer", "minimum": 1, "maximum": len(listing.documents)}
        schema = {
            "type": "object",
            "properties": {KEY: {"type": "array", "items": number, "maxItems": len(listing.documents)}},
            "required": [KEY],
            "additionalProperties": False,
        }
        return Request(self.messages(listing), schema=schema, max_tokens=self.limit(listing.lang))


def _read(reply: Reply, count: int) -> Selection:
    text = words_of(reply)
    if text is None:
        return Selection(None, reason=reply.error or "no reply")
    value, problem = parse_json(text)
    if value is None and "{" in text:  # JSON was meant
        return Selection(None, reason=problem)
    named = value.get(KEY) if isinstance(value, dict) else value
    if isinstance(named, list) and all(isinstance(n, int) and not isinstance(n, bool) for n in named):
        inside = [n - 1 for n in named if 1 <= n <= count]
        return _noted(tuple(dict.fromkeys(inside)), len(named) - len(inside), len(inside) - len(set(inside)))
    if value is not None and not isinstance(value, int):
        return Selection(None, reason=f'expected {{"{KEY}": [numbers]}}, got {_short(value)}')
    positions, problems = parse_indices(text, count)  # free text: "[1], [3] and 4"
    if positions is None:
        return Selection(None, reason="; ".join(problems))
    return _noted(positions, outside=sum("outside" in p for p in problems), again=sum("again" in p for p in problems))


def _noted(positions: tuple[int, ...], outside: int, again: int) -> Selection:
    notes = {name: number for name, number in (("out_of_range", outside), ("repeated", again)) if number}
    return Selection(tuple(sorted(positions)), cost=Cost(notes=notes))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
