"""What is rated, and what comes of it: responses with citations in; edits, ratings and reasons out.

Paper 3 (CiteEval): a statement comes from a context (the query, the retrieved documents, the response's own earlier
statements, or the model), only statements that rest on documents need citations, citations are mended by edits, and
each statement gets a rating from 1 (useless citations) to 5 (nothing to mend).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from citeverifier.cost import Cost
from citeverifier.records import Document

Context = Literal["query", "retrieval", "response", "model"]
CONTEXTS: tuple[Context, ...] = ("query", "retrieval", "response", "model")
DELETES = ("misleading", "substandard", "redundant")
ADDS = ("evidence", "refinement", "credibility")
KINDS = DELETES + ADDS
LOWEST, HIGHEST = 1.0, 5.0
SCENARIOS = ("full", "cited")


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to a statement's citations.

    `kind`: why a citation is deleted (misleading, substandard, redundant) or added (evidence, refinement, credibility).
    `citation`: the 0-based document; None where the model's own knowledge should be named (citation 0 of the paper).
    """

    kind: str
    citation: int | None

    @property
    def deletes(self) -> bool:
        """Whether it takes a citation away."""
        return self.kind in DELETES


@dataclass(frozen=True, slots=True)
class Human:
    """What people said of a statement: ratings from 1 to 5 (None = needs no citation), contexts; one an annotator."""

    ratings: tuple[float | None, ...] = ()
    contexts: tuple[Context, ...] = ()
    edits: tuple[tuple[Edit, ...], ...] = ()

    @property
    def rating(self) -> float | None:
        """The mean rating; None where most annotators gave none."""
        given = [rating for rating in self.ratings if rating is not None]
        return sum(given) / len(given) if 2 * len(given) > len(self.ratings) else None

    @property
    def context(self) -> Context | None:
        """What most annotators chose; None without a majority."""
        best = max(CONTEXTS, key=self.contexts.count)
        return best if 2 * self.contexts.count(best) > len(self.contexts) else None


@dataclass(frozen=True, slots=True)
class Cited:
    """A statement of a response: its citations as 0-based positions, and the printed numbers that name no document.

    `planted`: the edits that a made case is known to need.
    """

    text: str
    citations: tuple[int, ...]
    dangling: tuple[int, ...] = ()
    human: Human | None = None
    planted: tuple[Edit, ...] | None = None


@dataclass(frozen=True)
class Response:
    """A system's answer to a question. `chain` ties made cases that differ in how many defects were planted."""

    id: str
    lang: str
    system: str
    question: str
    documents: tuple[Document, ...]
    statements: tuple[Cited, ...]
    chain: str | None = None

    @property
    def key(self) -> str:
        """Known by: "SYSTEM/ID/LANG"."""
        return f"{self.system}/{self.id}/{self.lang}"


@dataclass(frozen=True)
class Judged:
    """What a rater says of a statement.

    `applicable`: whether it needs citations; None where that is not known. `edits`: None where none were asked for or
    they could not be read. `ratings`: by metric, None where unscored; `reasons` says why, by metric.
    """

    context: Context | None = None
    applicable: bool | None = True
    edits: tuple[Edit, ...] | None = None
    ratings: Mapping[str, float | None] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rated:
    """A response with one judgement a statement.

    `overall`: by scenario and metric, response ratings that are not means over statements.
    """

    response: Response
    statements: tuple[Judged, ...]
    overall: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)


class Rater(Protocol):
    """Rates responses; `metrics` are its ratings by name, the headline first, from `low` to `high`."""

    name: str
    metrics: tuple[str, ...]
    low: float
    high: float
    cost: Cost

    def rate(self, responses: Sequence[Response], folder: Path) -> list[Rated]:
        """One `Rated` a response, in order; the stages' files are left in `folder`."""
        ...


def needs_citations(statement: Cited, context: Context | None, attributed: bool = True) -> bool | None:
    """Whether a statement needs citations: what cites does, else what rests on documents; None where that is unknown.

    Without attribution (the ablation) every statement needs some.
    """
    if not attributed or statement.citations or statement.dangling:
        return True
    return None if context is None else context == "retrieval"


def edited(statement: Cited, edits: Sequence[Edit]) -> Cited:
    """The statement after its edits; those without a document change nothing, dangling numbers go."""
    gone = {edit.citation for edit in edits if edit.deletes}
    added = [edit.citation for edit in edits if not edit.deletes and edit.citation is not None]
    kept = [citation for citation in statement.citations if citation not in gone]
    return replace(statement, citations=tuple(dict.fromkeys([*kept, *added])), dangling=())


def statements_of(responses: Sequence[Response]) -> Iterator[tuple[Response, int, Cited]]:
    """Each statement with its response and its 0-based number."""
    for response in responses:
        for number, statement in enumerate(response.statements):
            yield response, number, statement
