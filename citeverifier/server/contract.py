"""The HTTP contract: what comes in, what goes out, every error. Results mirror `to_dict()` of `citeverifier.answers`.

Documents are printed numbers here ([1] is the first), as in answers.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from citeverifier.records import Document, Lang

_ANSWER: dict[str, Any] = {
    "id": "rivers",
    "answer": "The Vistula is 1,047 km long [1]. It flows through Warsaw [1].",
    "documents": [
        {"title": "Vistula", "text": "The Vistula is the longest river of Poland, at 1,047 kilometres."},
        {"title": "Warsaw", "text": "Warsaw lies on the Vistula."},
    ],
}
_PAIR: dict[str, Any] = {
    "statement": "The Vistula is over 1,000 km long.",
    "documents": [{"title": "Vistula", "text": "The Vistula is 1,047 kilometres long."}],
}


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("expected Unicode text, got half of a surrogate pair") from None
    return text


Text = Annotated[str, AfterValidator(_whole)]
Level = Literal["none", "partial", "full"]
Probability = Annotated[float, Field(ge=0, le=1)]
Numbers = Annotated[list[int], Field(description="Printed numbers of documents; [1] is the first.")]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class DocumentIn(_Request):
    """One retrieved source."""

    text: Text
    title: Text = ""
    score: float | None = Field(None, description="The retriever's, where known.")

    def record(self) -> Document:
        """As the verifier takes it."""
        return Document(self.title, self.text, self.score)


class AnswerIn(_Request):
    """An answer that may cite its documents."""

    answer: Text
    documents: list[DocumentIn]
    question: Text | None = None
    lang: Lang | None = Field(None, description="Null: the server's --lang, or the answer's words tell.")
    id: Text | None = Field(None, description="Comes back with the result.")


class VerifyRequest(_Request):
    """Answers to verify, or to add citations to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_ANSWER]}]})
    items: list[AnswerIn] = Field(min_length=1)


class FixRequest(VerifyRequest):
    """Answers whose citations to correct."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_ANSWER], "count": "free"}]})
    count: Literal["free", "kept"] = Field(
        "free", description="free: each factual point cites as many documents as it needs; kept: as many as before."
    )


class PairIn(_Request):
    """A statement and the documents that it is checked against, together."""

    statement: Text = Field(min_length=1)
    documents: list[DocumentIn] = Field(min_length=1)
    context: Text | None = Field(None, description="A question or preceding statements, for verifiers that read it.")
    lang: Lang | None = None


class ScoreRequest(_Request):
    """Pairs to score."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_PAIR], "level": "full"}]})
    items: list[PairIn] = Field(min_length=1)
    level: Literal["partial", "full"] = "full"


class ScoreResult(BaseModel):
    """P(support >= level), null where unscored, with the reason."""

    score: Probability | None
    reaches: bool | None = Field(description="Whether the score is at or over the threshold.")
    reason: str | None


class ScoreResponse(BaseModel):
    """One result an item, in order."""

    level: Literal["partial", "full"]
    threshold: Probability
    results: list[ScoreResult]


class EvidenceOut(BaseModel):
    """The sentence of a document that carries most support: characters start to end of its text."""

    document: int
    start: int
    end: int
    text: str
    score: float


class _JudgementOut(BaseModel):
    support: Level | None = Field(description="Null: unscored, and reason says why.")
    p_partial: Probability | None
    p_full: Probability | None
    reason: str | None


class CitationOut(_JudgementOut):
    """A citation by itself."""

    document: int
    superfluous: bool
    evidence: EvidenceOut | None


class MissingOut(_JudgementOut):
    """A document that supports what is not fully supported, and is not cited."""

    document: int
    completes: bool = Field(description="With it, support is full.")
    evidence: EvidenceOut | None


class StatementOut(_JudgementOut):
    """A statement, characters start to end of the answer, and what its cited documents together support."""

    text: str
    start: int
    end: int
    cited: bool
    citations: list[CitationOut]
    missing: list[MissingOut]
    unknown: Annotated[list[int], Field(description="Printed numbers that name no document.")]
    unsupported: Annotated[list[int], Field(min_length=2, max_length=2)] | None = Field(
        description="Start and end, in the answer, of what a partly supported statement says without support."
    )


class VerifiedOut(BaseModel):
    """An answer, verified."""

    id: str | None
    lang: str
    answer: str
    support: Level | None
    share: Probability | None = Field(description="Of scored statements, those with full support.")
    counts: dict[str, int]
    stray: Annotated[list[int], Field(description="Numbers of markers that belong to no statement.")]
    statements: list[StatementOut]


class VerifyResponse(BaseModel):
    """One result an item, in order."""

    results: list[VerifiedOut]


class ChangeOut(BaseModel):
    """The citations of a statement or factual point, before and after."""

    text: str
    start: int
    end: int
    before: Numbers
    after: Numbers
    unknown: Annotated[list[int], Field(description="Printed numbers that named no document.")]
    score: float | None
    finding: Literal["supported", "wrongly cited", "not found"] | None
    reason: str | None


class RewrittenOut(BaseModel):
    """An answer with other citations: text is answer, byte for byte besides its markers."""

    id: str | None
    lang: str
    answer: str
    text: str
    changes: list[ChangeOut]


class RewriteResponse(BaseModel):
    """One result an item, in order."""

    results: list[RewrittenOut]


class Health(BaseModel):
    """The server is up; `queue` requests wait."""

    status: Literal["ok"]
    verifier: str
    version: str
    thresholds: dict[str, float]
    queue: int


class ErrorDetail(BaseModel):
    """What went wrong: a code for programs, a message for people."""

    code: Literal[
        "unauthorized", "not_found", "method_not_allowed", "slow_body", "too_large", "invalid", "failed", "busy",
        "timeout",
    ]  # fmt: skip
    message: str


class Error(BaseModel):
    """The body of every answer that is no success."""

    error: ErrorDetail


# by status: the code, and what happened
_ERRORS: dict[int, tuple[str, str]] = {
    401: ("unauthorized", "The header 'Authorization: Bearer TOKEN' is missing, or bears another token."),
    408: ("slow_body", "The body did not arrive in time."),
    413: ("too_large", "The body has too many bytes."),
    422: ("invalid", "The body is not what was expected, or over a limit; the message names the key."),
    500: ("failed", "The verifier failed on this request; the server's log has the details."),
    503: ("busy", "Too many requests wait; Retry-After says when to come back."),
    504: ("timeout", "No answer within the server's --timeout."),
}


def error_body(code: str, message: str) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"code": code, "message": message}}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The contract's entries for some error statuses."""
    entries: dict[int | str, dict[str, Any]] = {}
    for status in statuses:
        code, happened = _ERRORS[status]
        content = {"application/json": {"example": error_body(code, happened)}}
        entries[status] = {"model": Error, "description": happened, "content": content}
    return entries
