"""A stage that asks an LLM: replies appended to a file as they come, one line each, taken up again by id.

A line holds what was asked (a hash) and the whole reply, so that reading it can be mended and repeated without asking.
A request that changed, or got no reply, is asked again; of several lines of one id the last counts.

What an LLM says of the statements of a response is read strictly: what does not fit is a reason, never a value.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from citeverifier.answers.in_step import in_step
from citeverifier.appending import Appender, read_rows
from citeverifier.cost import Cost
from citeverifier.llm.client import LLM, Reply, Request
from citeverifier.llm.parsing import parse_json
from citeverifier.llm.request import object_schema, request_key
from citeverifier.rating.responses import (
    CONTEXTS,
    DELETES,
    HIGHEST,
    KINDS,
    LOWEST,
    CitedStatement,
    Context,
    Edit,
    RatedResponse,
    Rater,
    Response,
)  # fmt: skip
from citeverifier.records import RecordError
from citeverifier.verifiers.prompted import words_of

Value = TypeVar("Value")


class ByNumber(Generic[Value]):
    """By 0-based statement number: the value, or why there is none."""

    def __init__(self) -> None:
        self.values: dict[int, Value] = {}
        self.reasons: dict[int, str] = {}


def read_contexts(reply: Reply, asked: Sequence[int]) -> ByNumber[Context]:
    """The context of each statement."""
    return _read(reply, asked, lambda _, entry: _context(entry))


def read_edits(
    reply: Reply, asked: Sequence[int], statements: Sequence[CitedStatement], count: int
) -> ByNumber[tuple[Edit, ...]]:
    """The edits of each statement of a response with `count` documents."""
    return _read(reply, asked, lambda number, entry: _edits(entry, statements[number], count))


def read_ratings(reply: Reply, asked: Sequence[int]) -> ByNumber[float]:
    """The rating of each statement."""
    return _read(reply, asked, lambda _, entry: _rating(entry))


def _read(reply: Reply, asked: Sequence[int], value_of: Callable[[int, Mapping[str, Any]], Value]) -> ByNumber[Value]:
    """A value of the entry of each statement asked about, where it is there exactly once and can be read."""
    text = words_of(reply)
    answer, problem = (None, reply.error or "no reply") if text is None else parse_json(text)
    listed = answer.get("statements") if isinstance(answer, Mapping) else None
    if answer is not None and not isinstance(listed, list):
        problem = f'expected {{"statements": [...]}}, got {_short(answer)}'
    entries: dict[int, list[Mapping[str, Any]]] = {}
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, Mapping) and type(entry.get("id")) is int:
            entries.setdefault(entry["id"] - 1, []).append(entry)
    result: ByNumber[Value] = ByNumber()
    for number in asked:
        own = entries.get(number, [])
        try:
            if problem is not None:
                raise RecordError(problem)
            if len(own) != 1:
                raise RecordError(f"{f'{len(own)} entries' if own else 'no entry'} for statement {number + 1}")
            result.values[number] = value_of(number, own[0])
        except RecordError as error:
            result.reasons[number] = str(error)
    return result


def _context(entry: Mapping[str, Any]) -> Context:
    for context in CONTEXTS:
        if entry.get("context") == context:
            return context
    raise RecordError(f"expected a context of {', '.join(CONTEXTS)}, got {_short(entry.get('context'))}")


def _edits(entry: Mapping[str, Any], statement: CitedStatement, count: int) -> tuple[Edit, ...]:
    """Each citation deleted once at most, among those that stand there; each document added once, among the others."""
    listed = entry.get("edits")
    if not isinstance(listed, list):
        raise RecordError(f"expected a list of edits, got {_short(listed)}")
    edits: list[Edit] = []
    for item in listed:
        kind, number = (item.get("kind"), item.get("citation")) if isinstance(item, Mapping) else (None, None)
        if kind not in KINDS or type(number) is not int:
            raise RecordError(f"expected an edit with a kind of {', '.join(KINDS)} and a citation, got {_short(item)}")
        deletes = kind in DELETES
        if number == 0 and not deletes:
            edits.append(Edit(kind, None))
        elif not 1 <= number <= count:
            raise RecordError(f"expected a citation of 1 to {count}, got {kind} {number}")
        elif deletes != (number - 1 in statement.citations):
            raise RecordError(f"{kind} names [{number}], which is {'not cited' if deletes else 'cited already'}")
        else:
            edits.append(Edit(kind, number - 1))
    if len({edit.citation for edit in edits}) < len(edits):
        raise RecordError(f"expected one edit a citation, got {_short(listed)}")
    return tuple(edits)


def _rating(entry: Mapping[str, Any]) -> float:
    value = entry.get("rating")
    if not isinstance(value, int | float) or isinstance(value, bool) or not LOWEST <= value <= HIGHEST:
        raise RecordError(f"expected a rating from {LOWEST:g} to {HIGHEST:g}, got {_short(value)}")
    return float(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


# --- schemas -------------------------------------------------------------------------------------------------------


def schema(ids: Sequence[int], more: Mapping[str, Any], *, reasoning: bool = False) -> dict[str, Any]:
    """`{"statements": [{"id", ...}]}` with one entry a statement (0-based numbers); free words before, if asked for."""
    entry = object_schema({"id": {"type": "integer", "enum": [number + 1 for number in ids]}, **more})
    listed = {"type": "array", "items": entry, "minItems": len(ids), "maxItems": len(ids)}
    first = {"reasoning": REASONING_SCHEMA} if reasoning else {}
    return object_schema({**first, "statements": listed})


def edits_schema(count: int) -> dict[str, Any]:
    """The edits of one statement of a response with `count` documents."""
    number = {"type": "integer", "minimum": 0, "maximum": count}
    edit = object_schema({"kind": {"type": "string", "enum": list(KINDS)}, "citation": number})
    return {"type": "array", "items": edit, "maxItems": 2 * count}


REASONING_SCHEMA = {"type": "string"}
CONTEXT_SCHEMA = {"type": "string", "enum": list(CONTEXTS)}
RATING_SCHEMA = {"type": "integer", "minimum": int(LOWEST), "maximum": int(HIGHEST)}


def ask_stage(path: Path, llm: LLM, requests: Mapping[str, Request]) -> tuple[dict[str, Reply], Cost]:
    """The reply to each request by its id, and what new ones cost. Raises LLMError."""
    asked = {identity: request_key(llm.options, request) for identity, request in requests.items()}
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


class StageRequest(NamedTuple):
    """A request of a stage, known by `key`; its reply is kept in the stage's file."""

    stage: str
    key: str
    request: Request


Asking: TypeAlias = Generator[list[StageRequest], list[Reply], RatedResponse]


class LLMRater(Rater):
    """A rater that asks an LLM, stage by stage. `prompt_lang`: the prompts' language; None = the response's own."""

    def __init__(self, name: str, llm: LLM, prompt_lang: str | None) -> None:
        super().__init__(f"{name} ({llm.name})")
        self.llm, self.prompt_lang = llm, prompt_lang
        self.dry_run = llm.options.dry_run

    @abstractmethod
    def asking(self, response: Response) -> Asking:
        """Rate one response: yields what is asked about it at a time, gets the replies."""

    def rate(self, responses: Sequence[Response], folder: Path) -> list[RatedResponse]:
        """Rate all side by side; the requests of a stage are sent together."""

        def answer(asked: Sequence[list[StageRequest]]) -> list[list[Reply]]:
            replies: dict[tuple[str, str], Reply] = {}
            for stage in dict.fromkeys(request.stage for own in asked for request in own):
                requests = {each.key: each.request for own in asked for each in own if each.stage == stage}
                answered, cost = ask_stage(folder / f"{stage}.jsonl", self.llm, requests)
                replies |= {(stage, key): reply for key, reply in answered.items()}
                self.cost += cost
            return [[replies[request.stage, request.key] for request in own] for own in asked]

        return in_step(map(self.asking, responses), answer)
