"""Stage `source`: questions with their documents, from a file, the hub or the bundled set; a seeded sample of them.

Files are read twice as a stream: once to draw the sample and tie questions that share a gold document into groups,
once to build what was drawn. Only ids, titles of gold documents and the sample's size are held in memory.
"""

from __future__ import annotations

import codecs
import hashlib
import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from citeverifier.data.hotpotqa import HotpotQuestion, example_from_question, question_from_row
from citeverifier.data.mini import load_mini
from citeverifier.data.splits import tie
from citeverifier.records import Document, Example, RecordError, example_from_json, open_text, read_jsonl
from data_gen.stage import Outcome, Step, drop, keep, one_by_one
from data_gen.tools import Tools

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Source:
    """Where questions come from.

    path: "mini" (the bundled set), an official HotpotQA file, a JSONL file of HotpotQA rows or of examples, or a hub
        id of either. hub_name, hub_split, hub_revision: the hub dataset's configuration, split and revision.
    split: of the bundled set only; null takes all.
    """

    path: str
    hub_name: str | None = None
    hub_split: str = "train"
    hub_revision: str | None = None
    split: str | None = None


@dataclass(frozen=True)
class _Row:
    """One row of a source: its id, what ties it to others, and how to build its example with a group."""

    id: str
    ties: tuple[str, ...]
    build: Callable[[str | None], Example]


def read_source(source: Source, *, lang: str, limit: int | None, seed: int) -> Iterator[Example]:
    """The examples of `limit` questions drawn by seed (all for null), in the source's order.

    `lang`: "en", "pl" or "all"; the languages of an id count as one question and follow each other. Raises ValueError
    where nothing is left.
    """
    rows = _reader(source, lang, seed)
    drawn: dict[str, tuple[str, ...]] = {}
    # One number a question, the same in every run: the smallest are the sample.
    numbered = ((_number(seed, row.id), row.id, row.ties) for row in rows())
    for _, identity, ties in numbered if limit is None else heapq.nsmallest(limit, _distinct(numbered)):
        drawn.setdefault(identity, ties)
    if not drawn:
        raise ValueError(f"data.path={source.path}: no questions with lang={lang}; expected at least one")
    ids = list(drawn)
    groups = dict(zip(ids, tie([drawn[identity] for identity in ids]), strict=True))
    for row in rows():
        if row.id in drawn:
            yield row.build(f"hotpotqa:{groups[row.id]}" if row.ties else None)


def _distinct(numbered: Iterable[tuple[int, str, tuple[str, ...]]]) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """One entry for the neighbouring rows of an id: its languages."""
    last = None
    for entry in numbered:
        if entry[1] != last:
            yield entry
        last = entry[1]


def _number(seed: int, identity: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{identity}".encode()).digest()[:8], "big")


def _reader(source: Source, lang: str, seed: int) -> Callable[[], Iterator[_Row]]:
    """What reads the source from its beginning, as often as it is called."""
    if source.path == "mini":
        examples = load_mini(source.split, lang)
        return lambda: map(_from_example, examples)
    rows = _rows(source)
    first = next(iter(rows()), None)
    if first is None:
        raise RecordError(f"{source.path}: expected at least one record, came none")
    if "supporting_facts" not in first[1]:
        return lambda: (
            _from_example(example)
            for example in (_parsed(row, where) for where, row in rows())
            if lang in ("all", example.lang)
        )
    if lang not in ("all", "en"):
        raise ValueError(f"data.path={source.path}: HotpotQA is English, came lang={lang}; generator=llm translates it")
    return lambda: (_from_question(question_from_row(row, where), seed) for where, row in rows())


def _parsed(row: Mapping[str, Any], where: str) -> Example:
    try:
        return example_from_json(row)
    except RecordError as error:
        raise RecordError(f"{where}: {error}") from None


def _from_example(example: Example) -> _Row:
    return _Row(example.id, (), lambda group: example)


def _from_question(question: HotpotQuestion, seed: int) -> _Row:
    titles = {title for title, _ in question.paragraphs}
    gold = tuple(sorted({title for title, _ in question.facts}))

    def build(group: str | None) -> Example:
        if len(set(gold) & titles) == 2:
            return example_from_question(question, group or question.id, seed)
        documents = tuple(Document(t, "".join(s).strip()) for t, s in question.paragraphs if "".join(s).strip())
        meta = {"source": "hotpotqa", "type": question.type}
        return Example(question.id, "en", group or question.id, question.question, documents, (), question.answer, meta)

    return _Row(question.id, gold or (question.id,), build)


def _rows(source: Source) -> Callable[[], Iterator[tuple[str, Mapping[str, Any]]]]:
    """What yields (where, row) of a file or of a hub dataset, streaming."""
    path = source.path
    file = Path(path)
    if not file.exists() and path.count("/") == 1 and not path.startswith((".", "/")) and not file.suffix:

        def hub() -> Iterator[tuple[str, Mapping[str, Any]]]:
            from datasets import load_dataset

            rows = load_dataset(
                path, source.hub_name, split=source.hub_split, revision=source.hub_revision, streaming=True
            )
            for i, row in enumerate(rows):
                yield f"{path}, row {i}", row

        return hub
    with open_text(file) as opened:
        start = opened.read(1)
    if start == b"[":
        return lambda: ((f"{path}, row {i}", row) for i, row in enumerate(stream_json_list(file)))
    return lambda: ((f"{path}, row {i}", row) for i, row in enumerate(read_jsonl(file, lambda row: row)))


def stream_json_list(path: Path) -> Iterator[Any]:
    """The items of a file that holds one JSON list (plain or .gz), one at a time; raises RecordError on anything else.

    HotpotQA's training file is a list of half a gigabyte.
    """
    decoder = json.JSONDecoder()
    buffer, done, number = "", False, 0
    with open_text(path) as file:
        decode = codecs.getincrementaldecoder("utf-8")().decode

        def more() -> bool:
            nonlocal buffer, done
            chunk = file.read(_CHUNK)
            done = not chunk
            try:
                buffer += decode(chunk, final=done)
            except UnicodeDecodeError as error:
                raise RecordError(f"{path}, row {number}: expected UTF-8, came {error.reason}") from None
            return not done

        while not buffer.lstrip() and more():
            pass
        buffer = buffer.lstrip()
        if not buffer.startswith("["):
            raise RecordError(f"{path}: expected a JSON list, came {buffer[:40]!r}")
        buffer = buffer[1:]
        while True:
            buffer = buffer.lstrip(" \t\r\n,")
            if buffer.startswith("]"):
                return
            try:
                item, end = decoder.raw_decode(buffer)
            except json.JSONDecodeError as error:
                if not more():
                    raise RecordError(
                        f"{path}, row {number}: expected a list that ends in ']', came {buffer[:40]!r} ({error.msg})"
                    ) from None
                continue
            if isinstance(item, int | float) and not done and buffer[end:].strip(" \t\r\n")[:1] not in (",", "]"):
                more()  # a number may go on
                continue
            yield item
            number += 1
            buffer = buffer[end:]


def usable(tools: Tools, *, statements: bool, min_documents: int = 2) -> Step:
    """Keeps questions that can be worked on. `statements`: whether the source's own are kept, or left for an LLM."""

    def check(example: Example) -> Outcome:
        if not example.question.strip():
            return drop("no question")
        if len(example.documents) < min_documents:
            return drop("too few documents", f"{len(example.documents)}")
        return keep(example if statements else replace(example, statements=()))

    return one_by_one(check)
