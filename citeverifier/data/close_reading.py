"""Close reading: short passages, each with statements that it supports and false twins that it does not, by us.

`close_reading/` holds the passages and the dataset card: `close.jsonl.gz`, whose statements are in other words and may
take some thinking, `plain.jsonl.gz`, whose statements are plain and whose twins differ in few words, and
`turned.jsonl.gz`, whose passages are told twice. A line has `lang`, `documents` (one or two) and `statements`. A
statement has its own `lang` and `text` and either a `twin` with its `kind` (then it is fully supported, by the
documents at the positions `needs` alone where that is given), or what its `support` is instead: "partial", where the
documents bear out one of its two parts, or "untold", where they say nothing of it. A line may have `turned`: other
documents, of which the twins are true, and the statements false.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Annotated, Literal, get_args

from annotated_types import MinLen

from citeverifier.data.pair_recipes import BELOW_FULL, FULL, PARTIAL
from citeverifier.data.splits import in_split
from citeverifier.record_rules import Position, Text, null_is
from citeverifier.records import (
    Document,
    Documents,
    Interval,
    Lang,
    Pair,
    RecordError,
    Support,
    read_jsonl,
    read_record,
)
from citeverifier.text.changed_words import changed_words

Wording = Literal["close", "plain", "turned"]
FOLDER = Path(__file__).parent / "close_reading"
_SHARES = {"train": 0.88, "dev": 0.04, "test": 0.08}
_SHARES_OF_TURNED = {"train": 0.7, "dev": 0.1, "test": 0.2}  # a smaller set


@dataclass(frozen=True, slots=True)
class PassageStatement:
    """A statement about a passage, with its twin or with what supports less of it."""

    lang: Lang
    text: Text
    twin: str | None = None
    kind: Annotated[str, null_is("")] = ""
    needs: Annotated[tuple[Position, ...], null_is(())] = ()
    support: Literal["full", "partial", "untold"] = "full"

    def __post_init__(self) -> None:
        if self.twin is not None and self.support != "full":
            raise RecordError(f"key 'twin': expected none for a statement of support {self.support}, got {self.twin!r}")


@dataclass(frozen=True, slots=True)
class Passage:
    """One or two documents and the statements about them; in `turned`, where given, their twins are the true ones."""

    lang: Lang
    documents: Documents
    statements: Annotated[tuple[PassageStatement, ...], MinLen(1)]
    turned: Documents | None = None

    def __post_init__(self) -> None:
        for number, statement in enumerate(self.statements):
            if self.turned and statement.twin is None:
                raise RecordError(
                    f"key 'statements[{number}].twin': expected one, since the passage is turned, got none"
                )
            if outside := [position for position in statement.needs if position >= len(self.documents)]:
                raise RecordError(
                    f"key 'statements[{number}].needs': expected 0-based document positions below "
                    f"{len(self.documents)}, got {outside[0]}"
                )


def load_close_reading(
    split: str | None = "test",
    wording: Wording = "close",
    shares: Mapping[str, float] | None = None,
    path: str | Path | None = None,
) -> list[Pair]:
    """The pairs of a split of the passages of a `wording`, or of a file, by passage; a twin follows its statement.

    Of a passage that is told twice a statement and its twin are asked of both tellings: so each text is true once and
    false once. The words that a twin has otherwise are its `unsupported` spans, where few differ.

    Over two documents a statement that one of them bears out alone is asked of that one, too (full), and one that needs
    both of one of them (none to partial). In training and dev a passage's first statement is also asked of the passage
    before (none): else no pair would be below partial for certain. Raises RecordError with file:line at a bad line,
    ValueError at another wording.
    """
    if wording not in get_args(Wording):
        raise ValueError(f"data.wording: expected one of {', '.join(get_args(Wording))}, got {wording!r}")
    shares = shares or (_SHARES_OF_TURNED if wording == "turned" else _SHARES)
    passages = read_jsonl(path or FOLDER / f"{wording}.jsonl.gz", lambda row: read_record(Passage, row))
    pairs = _marked(in_split([pair for passage in passages for pair in _pairs(passage)], split, shares))
    return list(_with_irrelevant(pairs)) if split in ("train", "dev") else pairs


def _pairs(passage: Passage) -> Iterator[Pair]:
    text = "\n".join(document.text for document in passage.documents)
    example = f"close_reading:{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    for number, statement in enumerate(passage.statements):
        name = f"{example}/{number}"
        if statement.support != "full":
            label = PARTIAL if statement.support == "partial" else BELOW_FULL
            yield _pair(passage.documents, statement.text, statement.lang, example, name, statement.support, label)
            continue
        for documents, tail, label in _premises(passage.documents, statement.needs, number):
            yield _pair(documents, statement.text, statement.lang, example, name, statement.kind, label, tail)
            if statement.twin is not None and label == FULL:
                twin = f"{name}/corrupted"
                yield _pair(documents, statement.twin, statement.lang, example, twin, statement.kind, BELOW_FULL, tail)
        if passage.turned is not None and statement.twin is not None:
            yield _pair(passage.turned, statement.twin, statement.lang, example, f"{name}/turned", statement.kind, FULL)
            twin = f"{name}/turned/corrupted"
            yield _pair(passage.turned, statement.text, statement.lang, example, twin, statement.kind, BELOW_FULL)


def _marked(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, a twin with the words marked that the statement before it has otherwise (it takes time)."""
    return [
        replace(pair, unsupported=changed_words(before.statement, pair.statement))
        if pair.kind.startswith("twin_")
        else pair
        for before, pair in pairwise([*pairs[:1], *pairs])
    ]


def _with_irrelevant(pairs: Iterable[Pair]) -> Iterator[Pair]:
    before: tuple[Document, ...] = ()
    for _, group in groupby(pairs, key=lambda pair: pair.example):
        of_passage = list(group)
        first = of_passage[0]
        if before:
            yield replace(
                first, id=f"{first.id}/irrelevant", documents=before, kind="close_reading:irrelevant",
                support_min=Support.NONE, support_max=Support.NONE,
            )  # fmt: skip
        yield from of_passage
        before = first.documents


def _premises(
    documents: tuple[Document, ...], needs: tuple[int, ...], number: int
) -> Iterator[tuple[tuple[Document, ...], str, Interval]]:
    """The documents together, and one by itself where `needs` says what it then supports."""
    yield documents, "", FULL
    if len(documents) > 1 and needs:
        position = needs[number % len(needs)]
        yield (documents[position],), f"/{position}", FULL if len(needs) == 1 else BELOW_FULL


def _pair(
    documents: tuple[Document, ...], text: str, lang: str, example: str, name: str, kind: str, label: Interval,
    tail: str = "",
) -> Pair:  # fmt: skip
    marked = f"twin_close_reading:{kind}" if name.endswith("/corrupted") else f"close_reading:{kind}"
    return Pair.of(
        text, documents, lang, id=name + tail, example=example, statement_id=name, group=example, kind=marked,
        support=label,
    )  # fmt: skip
