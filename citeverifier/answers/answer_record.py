"""An answer with its documents, as people hand it in: Python values, our JSON, CiteEval's and ALCE's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from citeverifier.records import LANGUAGES, Document, RecordError
from citeverifier.text.answer_reading import ReadAnswer, read_answer
from citeverifier.text.language import guess_language

_SHAPES = (
    "the keys answer and documents (perhaps id, question, lang), CiteEval's pred and passages (query, id) or ALCE's "
    "output and docs (question)"
)
_KEYS = (("answer", "documents", "question"), ("pred", "passages", "query"), ("output", "docs", "question"))


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """An answer that may cite its documents. `lang` None: the text tells. `id` names it in results."""

    answer: str
    documents: tuple[Document, ...]
    question: str | None = None
    lang: str | None = None
    id: str | None = None

    @property
    def language(self) -> str:
        """The record's language or, where it names none, the one that the answer's words tell."""
        return self.lang or guess_language(self.answer)

    def read(self) -> ReadAnswer:
        """The answer's statements and what they cite."""
        return read_answer(self.answer, len(self.documents), self.language)


def to_documents(values: Any) -> tuple[Document, ...]:
    """Documents from `Document`s, strings and {"title", "text"} mappings; RecordError names the one at fault."""
    if isinstance(values, str | Mapping) or not isinstance(values, Sequence):
        raise RecordError(f"documents: expected a list of documents, got {type(values).__name__}")
    return tuple(_document(value, f"documents[{number}]") for number, value in enumerate(values))


def _document(value: Any, where: str) -> Document:
    if isinstance(value, Document):
        return value
    if isinstance(value, str):
        return Document("", value)
    if not isinstance(value, Mapping):
        raise RecordError(f"{where}: expected a string or an object with 'text', got {type(value).__name__}")
    title, text, score = value.get("title"), value.get("text"), value.get("score")
    if not isinstance(text, str):
        raise RecordError(f"{where}: key 'text': expected a string, got {type(text).__name__}")
    if title is not None and not isinstance(title, str):
        raise RecordError(f"{where}: key 'title': expected a string, got {type(title).__name__}")
    try:
        number = None if score is None else float(score)  # ALCE prints it as a string
    except (TypeError, ValueError):
        raise RecordError(f"{where}: key 'score': expected a number, got {score!r}") from None
    return Document(title or "", text, number)


def answer_from_json(row: Mapping[str, Any]) -> AnswerRecord:
    """An answer from a decoded JSON object of any known shape, told by its keys; raises RecordError."""
    keys = next((keys for keys in _KEYS if keys[0] in row and keys[1] in row), None)
    if keys is None:
        raise RecordError(f"expected {_SHAPES}; got the keys {', '.join(map(str, row)) or '(none)'}")
    answer, documents, question = keys
    for key, optional in ((answer, False), (question, True), ("lang", True)):
        value = row.get(key)
        if not isinstance(value, str) and not (optional and value is None):
            raise RecordError(f"key {key!r}: expected a string, got {type(value).__name__}")
    lang = row.get("lang")
    if lang is not None and lang not in LANGUAGES:
        raise RecordError(f"key 'lang': expected one of {', '.join(LANGUAGES)}, got {lang!r}")
    identity = next((row[key] for key in ("id", "sample_id", "qampari_id") if row.get(key) is not None), None)
    return AnswerRecord(
        row[answer], to_documents(row[documents]), row.get(question), lang, None if identity is None else str(identity)
    )
