"""The records everything else is made of, and their JSONL form.

One `Example` is a question with its retrieved documents and the statements of its answer; one `Pair` is a statement
with a premise. `docs/formats.md` shows a line of each. This module imports nothing of the package.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import IO, Any, TypeVar

# A language is a file: adding citeverifier/text/languages/<code>.yaml makes it known everywhere.
LANGUAGES: tuple[str, ...] = tuple(
    sorted(path.stem for path in (Path(__file__).parent / "text" / "languages").glob("*.yaml"))
)


class RecordError(ValueError):
    """A record that cannot be read. The message says where, what was expected and what it got."""


class Support(IntEnum):
    """How far a premise supports a statement: NONE < PARTIAL < FULL."""

    NONE = 0
    PARTIAL = 1
    FULL = 2

    @property
    def label(self) -> str:
        """The name used in files: "none", "partial" or "full"."""
        return self.name.lower()

    @classmethod
    def parse(cls, value: Any) -> Support:
        """Read a level from its name; raises RecordError on anything else."""
        if isinstance(value, Support):
            return value
        if isinstance(value, str) and value.upper() in cls.__members__:
            return cls[value.upper()]
        raise RecordError(f"expected a support level (none, partial or full), got {value!r}")


LEVELS = (Support.PARTIAL, Support.FULL)  # the levels that a verifier is asked at


@dataclass(frozen=True, slots=True)
class Document:
    """One retrieved source. `score` is the retriever's, where known."""

    title: str
    text: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim span of one document (0-based position in the example)."""

    document: int
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer, without citation markers.

    `citations` are 0-based positions in the example's documents; `span` holds the key words, verbatim; `corrupted` is
    the twin that the documents no longer support, `altered_in` the cited documents that contradict the twin by
    themselves, and `edit` names the kind of alteration.
    """

    text: str
    citations: tuple[int, ...]
    kind: str = "statement"
    span: str | None = None
    evidence: tuple[Evidence, ...] = ()
    corrupted: str | None = None
    altered_in: tuple[int, ...] = ()
    edit: str | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its documents and its answer's statements in one language; known by `(id, lang)`."""

    id: str
    lang: str
    group: str
    question: str
    documents: tuple[Document, ...]
    statements: tuple[Statement, ...]
    answer: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pair:
    """A statement and its premise, with a support interval when it is labelled.

    `support_min <= true support <= support_max`; both are None when unlabelled. `statement_id` is shared by every
    pair of one statement; its twin's ends in "/corrupted". `evidence`: sentences of the documents that people took the
    support from, as they copied them. `weight` scales the training loss and is no part of files.
    """

    id: str
    example: str
    statement_id: str
    lang: str
    group: str
    statement: str
    documents: tuple[Document, ...]
    kind: str
    context: str | None = None
    support_min: Support | None = None
    support_max: Support | None = None
    weight: float = 1.0
    evidence: tuple[str, ...] = ()

    def reaches(self, level: Support) -> bool | None:
        """Whether the labelled support is at least `level`; None where the interval leaves it open."""
        if self.support_min is None or self.support_max is None:
            return None
        if self.support_min >= level:
            return True
        return False if self.support_max < level else None


def statement_id(example: Example, position: int, *, corrupted: bool = False) -> str:
    """The id shared by all pairs of a statement, the same in every language: "EXAMPLE/s0", "EXAMPLE/s0/corrupted"."""
    return f"{example.id}/s{position}" + ("/corrupted" if corrupted else "")


def twin_id(statement: str) -> str:
    """What a statement and its corrupted twin have in common."""
    return statement.removesuffix("/corrupted")


# --- reading -------------------------------------------------------------------------------------------------------

Record = TypeVar("Record")


def _take(row: Mapping[str, Any], key: str, kind: type | tuple[type, ...], *, optional: bool = False) -> Any:
    if key not in row or row[key] is None:
        if optional:
            return None
        raise RecordError(f"key {key!r}: expected {_kind(kind)}, got {'nothing' if key not in row else 'null'}")
    value = row[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RecordError(f"key {key!r}: expected {_kind(kind)}, got {type(value).__name__} {_short(value)}")
    return value


def _kind(kind: type | tuple[type, ...]) -> str:
    names = {str: "a string", list: "a list", dict: "an object", int: "an integer", float: "a number"}
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return names[kinds[-1]]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _text(row: Mapping[str, Any], key: str) -> str:
    value: str = _take(row, key, str)
    if not value.strip():
        raise RecordError(f"key {key!r}: expected some text, got {_short(value)}")
    return value


def _lang(row: Mapping[str, Any]) -> str:
    lang: str = _take(row, "lang", str)
    if lang not in LANGUAGES:
        raise RecordError(f"key 'lang': expected one of {', '.join(LANGUAGES)}, got {lang!r}")
    return lang


def _position(value: Any, where: str, count: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < count:
        raise RecordError(f"{where}: expected a 0-based document position below {count}, got {_short(value)}")
    return value


def _documents(row: Mapping[str, Any]) -> tuple[Document, ...]:
    documents = []
    for i, item in enumerate(_take(row, "documents", list)):
        try:
            if not isinstance(item, dict):
                raise RecordError(f"expected an object, got {type(item).__name__}")
            title = _take(item, "title", str, optional=True) or ""
            score = _take(item, "score", (int, float), optional=True)
            documents.append(Document(title, _text(item, "text"), None if score is None else float(score)))
        except RecordError as error:
            raise RecordError(f"documents[{i}]: {error}") from None
    if not documents:
        raise RecordError("key 'documents': expected at least one document, got an empty list")
    return tuple(documents)


def _statement(item: Any, count: int) -> Statement:
    if not isinstance(item, dict):
        raise RecordError(f"expected an object, got {type(item).__name__}")
    positions = {
        key: tuple(_position(value, f"key {key!r}", count) for value in _take(item, key, list, optional=True) or ())
        for key in ("citations", "altered_in")
    }
    if len(set(positions["citations"])) != len(positions["citations"]):
        raise RecordError(f"key 'citations': expected each document once, got {list(positions['citations'])}")
    evidence = []
    for entry in _take(item, "evidence", list, optional=True) or ():
        if not isinstance(entry, dict):
            raise RecordError(f"key 'evidence': expected objects, got {type(entry).__name__}")
        evidence.append(Evidence(_position(entry.get("document"), "evidence", count), _text(entry, "text")))
    return Statement(
        text=_text(item, "text"),
        citations=positions["citations"],
        kind=_take(item, "kind", str, optional=True) or "statement",
        span=_take(item, "span", str, optional=True),
        evidence=tuple(evidence),
        corrupted=_take(item, "corrupted", str, optional=True),
        altered_in=positions["altered_in"],
        edit=_take(item, "edit", str, optional=True),
    )


def example_from_json(row: Mapping[str, Any]) -> Example:
    """Build an `Example` from a decoded JSON object; raises RecordError naming the key at fault."""
    documents = _documents(row)
    statements = []
    for i, item in enumerate(_take(row, "statements", list, optional=True) or ()):
        try:
            statements.append(_statement(item, len(documents)))
        except RecordError as error:
            raise RecordError(f"statements[{i}]: {error}") from None
    identity = _text(row, "id")
    return Example(
        id=identity,
        lang=_lang(row),
        group=_take(row, "group", str, optional=True) or identity,
        question=_take(row, "question", str, optional=True) or "",
        documents=documents,
        statements=tuple(statements),
        answer=_take(row, "answer", str, optional=True),
        meta=_take(row, "meta", dict, optional=True) or {},
    )


def pair_from_json(row: Mapping[str, Any]) -> Pair:
    """Build a `Pair` from a decoded JSON object; raises RecordError naming the key at fault."""
    low, high = row.get("support_min"), row.get("support_max")
    if (low is None) != (high is None):
        raise RecordError("expected support_min and support_max both given or both null, got one of them")
    support_min = None if low is None else Support.parse(low)
    support_max = None if high is None else Support.parse(high)
    if support_min is not None and support_max is not None and support_min > support_max:
        raise RecordError(f"expected support_min <= support_max, got {low!r} > {high!r}")
    identity = _text(row, "id")
    example = _take(row, "example", str, optional=True) or identity
    return Pair(
        id=identity,
        example=example,
        statement_id=_take(row, "statement_id", str, optional=True) or identity,
        lang=_lang(row),
        group=_take(row, "group", str, optional=True) or example,
        statement=_text(row, "statement"),
        documents=_documents(row),
        kind=_take(row, "kind", str, optional=True) or "pair",
        context=_take(row, "context", str, optional=True),
        support_min=support_min,
        support_max=support_max,
        evidence=_evidence(row),
    )


def _evidence(row: Mapping[str, Any]) -> tuple[str, ...]:
    found = _take(row, "evidence", list, optional=True) or []
    for i, text in enumerate(found):
        if not isinstance(text, str) or not text.strip():
            raise RecordError(f"evidence[{i}]: expected some text, got {_short(text)}")
    return tuple(found)


@contextmanager
def open_text(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain or gzipped file for reading bytes.

    Raises FileNotFoundError with what to check; RecordError where a gzipped file turns out to be cut or damaged.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path} (expected a JSON or JSONL file, plain or .gz)")
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as opened:
            yield opened  # type: ignore[misc]
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RecordError(f"{path}: expected a whole gzip file, got one that is cut or damaged ({error})") from None


def read_jsonl(path: str | Path, parse: Callable[[Mapping[str, Any]], Record]) -> Iterator[Record]:
    """Yield `parse(row)` for each non-blank line of a JSONL file (plain or .gz), streaming.

    Raises RecordError with file:line, what was expected and what came, at the first bad line: input is checked before
    anything is paid for.
    """
    path = Path(path)
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield parse(decode_line(line))
            except RecordError as error:
                raise RecordError(f"{path}:{number}: {error}") from None


def decode_line(line: bytes) -> dict[str, Any]:
    """The JSON object of a line; raises RecordError saying what was expected and what it got."""
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RecordError(f"expected UTF-8, got byte {line[error.start]:#04x}") from None
    except json.JSONDecodeError as error:
        raise RecordError(f"expected one JSON object a line, got {_short(line[:40])} ({error.msg})") from None
    if not isinstance(row, dict):
        raise RecordError(f"expected a JSON object, got {type(row).__name__}")
    return row


def once(
    parse: Callable[[Mapping[str, Any]], Record], key: Callable[[Record], Any]
) -> Callable[[Mapping[str, Any]], Record]:
    """`parse` for one pass over a file; raises RecordError where a key comes again (as `(id, lang)` must not)."""
    seen: set[Any] = set()

    def parse_new(row: Mapping[str, Any]) -> Record:
        record = parse(row)
        identity = key(record)
        if identity in seen:
            raise RecordError(f"expected each id once, got {identity!r} again")
        seen.add(identity)
        return record

    return parse_new


# --- writing -------------------------------------------------------------------------------------------------------


def _document_json(document: Document) -> dict[str, Any]:
    return {"title": document.title, "text": document.text}


def example_to_json(example: Example) -> dict[str, Any]:
    """The example as a JSON object, in the order of `docs/formats.md`."""
    return {
        "id": example.id,
        "lang": example.lang,
        "group": example.group,
        "question": example.question,
        "answer": example.answer,
        "documents": [{**_document_json(d), "score": d.score} for d in example.documents],
        "statements": [asdict(statement) for statement in example.statements],
        "meta": dict(example.meta),
    }


def pair_to_json(pair: Pair) -> dict[str, Any]:
    """The pair as a JSON object, in the order of `docs/formats.md`."""
    return {
        "id": pair.id,
        "example": pair.example,
        "statement_id": pair.statement_id,
        "lang": pair.lang,
        "group": pair.group,
        "statement": pair.statement,
        "documents": [_document_json(d) for d in pair.documents],
        "context": pair.context,
        "support_min": None if pair.support_min is None else pair.support_min.label,
        "support_max": None if pair.support_max is None else pair.support_max.label,
        "kind": pair.kind,
        **({"evidence": list(pair.evidence)} if pair.evidence else {}),
    }


def write_jsonl(path: str | Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as JSONL and return their number; the file appears under its name only when it is whole."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    count = 0
    with partial.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    partial.replace(path)
    return count
