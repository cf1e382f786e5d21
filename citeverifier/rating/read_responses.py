"""Reading responses to rate: CiteBench's forms and our examples; and people's annotations beside them.

A record that cannot be read is set aside with the reason (`BadRecord`); the others are rated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from citeverifier.rating.responses import (
    ADDS,
    CONTEXTS,
    DELETES,
    HIGHEST,
    LOWEST,
    CitedStatement,
    Edit,
    HumanRatings,
    Response,
)
from citeverifier.records import LANGUAGES, Document, RecordError, example_from_json, open_text
from citeverifier.text.answer_reading import read_answer
from citeverifier.text.language import guess_language

_CITEBENCH_EDITS = {f"{'delete' if kind in DELETES else 'add'}-{kind}": kind for kind in DELETES + ADDS}


@dataclass(frozen=True)
class BadRecord:
    """A record that was set aside: where it stood and what was wrong with it."""

    where: str
    reason: str


def read_responses(
    path: str | Path, system: str | None = None, lang: str = "all", human: str | Path | None = None
) -> tuple[list[Response], list[BadRecord]]:
    """The responses of a file, a JSON array or JSONL (plain or .gz), and the records set aside.

    A record is CiteBench's (`id, query, passages, pred`, or its converted form with sentences), or one of our examples,
    whose `answer` holds markers or whose statements have citations. `system` names whose responses they are (default:
    each record's `system`, else the file's name). `lang` keeps one language. `human`: CiteBench's annotations.

    Raises FileNotFoundError for a missing file, RecordError where the file as a whole is none of these.
    """
    path = Path(path)
    annotations = {} if human is None else _annotations(Path(human))
    found: list[Response] = []
    bad: list[BadRecord] = []
    seen: set[str] = set()
    named: set[str] = set()
    for where, row in _rows(path):
        try:
            if isinstance(row, RecordError):
                raise row
            response = _response(row, system or str(_of(row, "system") or path.name.split(".")[0]))
            named.add(response.id)
            if response.id in annotations:
                response = _annotated(response, annotations[response.id])
            if response.key in seen:
                raise RecordError(f"expected each id once, got {response.id!r} again")
        except RecordError as error:
            bad.append(BadRecord(where, str(error)))
            continue
        seen.add(response.key)
        if lang in ("all", response.lang):
            found.append(response)
    bad += [
        BadRecord(f"{human}: {identity}", f"expected an annotation of a response in {path}, got one of none")
        for identity in annotations
        if identity not in named
    ]
    return found, bad


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """(where, record) of an array or JSONL; a line that is no JSON comes as the error."""
    with open_text(path) as opened:
        raw = opened.read()
    text = raw.decode("utf-8", errors="replace").lstrip("\ufeff")
    if text.lstrip().startswith("["):
        try:
            rows = json.loads(text)
        except json.JSONDecodeError as error:
            raise RecordError(
                f"{path}:{error.lineno}: expected a JSON array (or a record a line), got {error.msg}"
            ) from None
        yield from ((f"{path}, record {number}", row) for number, row in enumerate(rows, 1))
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        row: Any
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            row = RecordError(f"expected one JSON object a line, got {line[:40]!r} ({error.msg})")
        yield f"{path}:{number}", row


def _of(row: Any, key: str) -> Any:
    return row.get(key) if isinstance(row, Mapping) else None


def _response(row: Any, system: str) -> Response:
    if not isinstance(row, Mapping):
        raise RecordError(f"expected a JSON object, got {type(row).__name__}")
    if "passages" in row:
        return _from_citebench(row, system)
    if "documents" in row:
        return _from_ours(row, system)
    raise RecordError(f"expected passages (CiteBench) or documents (an example), got keys {', '.join(row)}")


def _from_ours(row: Mapping[str, Any], system: str) -> Response:
    example = example_from_json(row)
    system = str(example.meta.get("system", system))
    if example.statements:
        response = Response.from_example(example, system)
    else:
        statements = _split(example.answer or "", len(example.documents), example.lang)
        response = Response(example.id, example.lang, system, example.question, example.documents, statements)
    human = example.meta.get("human")
    if human is None:
        return response
    if not isinstance(human, list) or len(human) != len(response.statements):
        raise RecordError(f"meta.human: expected a list of {len(response.statements)} entries, got {human!r:.60}")
    annotated = tuple(
        replace(statement, human=_human(entry, f"meta.human[{i}]", scale=False))
        for i, (statement, entry) in enumerate(zip(response.statements, human, strict=True))
    )
    return replace(response, statements=annotated)


def _from_citebench(row: Mapping[str, Any], system: str) -> Response:
    """`id, query, passages, pred`, or the converted form: `sample_idx`, `prediction`, the sentences with citations."""
    identity = row.get("id", row.get("sample_idx"))
    if not isinstance(identity, str | int):
        raise RecordError(f"key 'id': expected a string, got {identity!r:.60}")
    query, passages = row.get("query"), row["passages"]
    if not isinstance(query, str):
        raise RecordError(f"key 'query': expected a string, got {query!r:.60}")
    if not isinstance(passages, list) or not passages:
        raise RecordError(f"key 'passages': expected a list of passages, got {passages!r:.60}")
    documents = []
    for i, passage in enumerate(passages):
        text = _of(passage, "text")
        if not isinstance(text, str) or not text.strip():
            raise RecordError(f"passages[{i}]: expected an object with text, got {passage!r:.60}")
        documents.append(Document(str(passage.get("title") or ""), text))
    answer = row.get("pred", row.get("prediction"))
    if not isinstance(answer, str):
        raise RecordError(f"key 'pred': expected a string, got {answer!r:.60}")
    lang = row.get("lang") or guess_language(answer)
    if lang not in LANGUAGES:
        raise RecordError(f"key 'lang': expected one of {', '.join(LANGUAGES)}, got {lang!r}")
    sentences = row.get("prediction_sentences_and_citations")
    statements = _split(answer, len(documents), lang) if sentences is None else _given(sentences, len(documents))
    return Response(str(identity), lang, system, query, tuple(documents), statements)


def _split(answer: str, count: int, lang: str) -> tuple[CitedStatement, ...]:
    read = read_answer(answer, count, lang).statements
    return tuple(CitedStatement(found.text, found.positions, found.out_of_range) for found in read)


def _given(sentences: Any, count: int) -> tuple[CitedStatement, ...]:
    """The converted form's sentences, ids 1, 2, 3 ... in order."""
    if not isinstance(sentences, list):
        raise RecordError(f"key 'prediction_sentences_and_citations': expected a list, got {sentences!r:.60}")
    made = []
    for number, entry in enumerate(sentences, 1):
        where = f"prediction_sentences_and_citations[{number - 1}]"
        text = _of(entry, "sentence")
        if not isinstance(text, str) or not text.strip():
            raise RecordError(f"{where}: expected an object with a sentence, got {entry!r:.60}")
        if str(entry.get("id", number)) != str(number):
            raise RecordError(f"{where}: expected id {number}, got {entry['id']!r}")
        numbers = _numbers(entry.get("citations") or [], where)
        inside = [n - 1 for n in numbers if 1 <= n <= count]
        made.append(
            CitedStatement(
                text, tuple(dict.fromkeys(inside)), tuple(dict.fromkeys(n for n in numbers if not 1 <= n <= count))
            )
        )
    return tuple(made)


def _numbers(values: Any, where: str) -> list[int]:
    """Citations as printed, numbers or strings of digits."""
    if not isinstance(values, list) or not all(str(value).isdigit() for value in values):
        raise RecordError(f"{where}: expected citations as printed numbers, got {values!r:.60}")
    return [int(value) for value in values]


# --- people's annotations ------------------------------------------------------------------------------------------


def _annotations(path: Path) -> Mapping[str, Any]:
    """CiteBench's `*.human.out`: an object from response ids to `{"statements": {"1": {...}}}`."""
    with open_text(path) as opened:
        try:
            rows = json.loads(opened.read().decode("utf-8"))
        except json.JSONDecodeError as error:
            raise RecordError(f"{path}:{error.lineno}: expected JSON, got {error.msg}") from None
    if not isinstance(rows, dict):
        raise RecordError(f"{path}: expected an object from ids to annotations, got {type(rows).__name__}")
    return rows


def _annotated(response: Response, row: Any) -> Response:
    statements = _of(row, "statements")
    if not isinstance(statements, Mapping):
        raise RecordError(f"annotation: expected an object with statements, got {row!r:.60}")
    expected = [str(number) for number in range(1, len(response.statements) + 1)]
    if sorted(statements) != sorted(expected):
        raise RecordError(
            f"annotation: expected statements {', '.join(expected) or 'none'} as the response has them, got "
            f"{', '.join(map(str, statements)) or 'none'}"
        )
    annotated = tuple(
        replace(statement, human=_human(statements[number], f"annotation of statement {number}", scale=True))
        for number, statement in zip(expected, response.statements, strict=True)
    )
    return replace(response, statements=annotated)


def _human(entry: Any, where: str, *, scale: bool) -> HumanRatings:
    """`ratings` from 0 to 1 (`scale`, as CiteBench has them) or 1 to 5; `types` 1 to 4 or `contexts`; `edits`."""
    if not isinstance(entry, Mapping):
        raise RecordError(f"{where}: expected an object, got {entry!r:.60}")
    low, high = (0.0, 1.0) if scale else (LOWEST, HIGHEST)
    ratings: list[float | None] = []
    for value in _listed(entry, "ratings", where):
        if value is not None and not (isinstance(value, int | float) and low <= value <= high):
            raise RecordError(f"{where}: expected ratings from {low:g} to {high:g} or null, got {value!r:.40}")
        ratings.append(None if value is None else LOWEST + (HIGHEST - LOWEST) * (value - low) / (high - low))
    names = dict(zip("1234", CONTEXTS, strict=True)) | {name: name for name in CONTEXTS}
    contexts = []
    for value in [*_listed(entry, "types", where), *_listed(entry, "contexts", where)]:
        if str(value) not in names:
            raise RecordError(f"{where}: expected a context of {', '.join(names)}, got {value!r:.40}")
        contexts.append(names[str(value)])
    edits = tuple(
        tuple(
            Edit(kind, number - 1 if number else None)
            for key, kind in _CITEBENCH_EDITS.items()
            for number in _numbers(_of(annotator, key) or [], f"{where}, {key}")
        )
        for annotator in _listed(entry, "edits", where)
    )
    return HumanRatings(tuple(ratings), tuple(contexts), edits)


def _listed(entry: Mapping[str, Any], key: str, where: str) -> Sequence[Any]:
    value = entry.get(key) or []
    if not isinstance(value, list):
        raise RecordError(f"{where}: expected a list under {key!r}, got {value!r:.40}")
    return value
