"""Made cases: the bundled answers with defects of known kind planted in their citations, one more at a time.

From each example comes a chain of responses: as it is, with one defect, with two ... up to one in each statement. Which
kind a statement gets goes round; documents that a defect needs are made of the example's own evidence.

| defect | how it is planted | edits that mend it |
|---|---|---|
| misleading | a document that no statement of the example cites is cited | delete it |
| redundant | a document that holds the evidence of both halves is cited, and one half's own | delete that one |
| evidence | one of two halves' documents, or the only one, is not cited | add it |
| substandard | one half's document is cited alone, though one that holds both is there | replace it (refinement) |
| credibility | a second document with the whole evidence is there, and not cited | add it |

The cases that need halves take statements of which one document is partial support for sure (`joined`, comparisons);
the second document of credibility and missing evidence take those, and statements of one document.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import APART
from citeverifier.rating.base import Cited, Edit, Response
from citeverifier.records import Document, Example, Statement

_BOTH = {"en": "Notes on {}", "pl": "Notatki: {}"}


@dataclass(frozen=True)
class _Planted:
    """A statement with its defect, and the documents that came with it."""

    citations: tuple[int, ...]
    documents: tuple[Document, ...]
    edits: tuple[Edit, ...]


def load_defects(split: str | None, lang: str, seed: int) -> list[Response]:
    """The chains of a split of the bundled set (None = all) in one language or, with "all", both."""
    return [response for example in load_mini(split, lang) for response in planted_chain(example, seed)]


def planted_chain(example: Example, seed: int) -> list[Response]:
    """The example's answer with 0, 1, 2 ... defects, one a statement at most; equal in both languages."""
    rng = random.Random(f"{seed}:defects:{example.id}")
    statements = [Cited(statement.text, statement.citations, planted=()) for statement in example.statements]
    response = Response(f"{example.id}/0", example.lang, "defects", example.question, example.documents, (), example.id)
    chain = [replace(response, statements=tuple(statements))]
    order = list(range(len(statements)))
    rng.shuffle(order)
    kinds = list(_PLANTERS)
    rng.shuffle(kinds)
    for number in order:
        fitting = [kind for kind in kinds if _fits(kind, example.statements[number])]
        kinds = [kind for kind in kinds if kind != fitting[0]] + [fitting[0]]
        documents = chain[-1].documents
        planted = _PLANTERS[fitting[0]](example, number, len(documents), rng)
        statements[number] = replace(statements[number], citations=planted.citations, planted=planted.edits)
        chain.append(
            replace(
                response,
                id=f"{example.id}/{len(chain)}",
                documents=documents + planted.documents,
                statements=tuple(statements),
            )
        )
    return chain


def _fits(kind: str, statement: Statement) -> bool:
    halves = statement.kind in APART and len(statement.citations) == 2
    if kind in ("redundant", "substandard"):
        return halves
    if kind == "misleading":
        return True
    return (halves and kind == "evidence") or len(statement.citations) == 1


def _misleading(example: Example, number: int, at: int, rng: random.Random) -> _Planted:
    used = {i for statement in example.statements for i in statement.citations}
    stray = rng.choice([i for i in range(len(example.documents)) if i not in used])
    return _Planted((*example.statements[number].citations, stray), (), (Edit("misleading", stray),))


def _redundant(example: Example, number: int, at: int, rng: random.Random) -> _Planted:
    half = rng.choice(example.statements[number].citations)
    return _Planted((at, half), (_evidence(example, number),), (Edit("redundant", half),))


def _missing(example: Example, number: int, at: int, rng: random.Random) -> _Planted:
    cited = example.statements[number].citations
    gone = rng.choice(cited)
    return _Planted(tuple(i for i in cited if i != gone), (), (Edit("evidence", gone),))


def _substandard(example: Example, number: int, at: int, rng: random.Random) -> _Planted:
    half = rng.choice(example.statements[number].citations)
    return _Planted((half,), (_evidence(example, number),), (Edit("substandard", half), Edit("refinement", at)))


def _credibility(example: Example, number: int, at: int, rng: random.Random) -> _Planted:
    cited = example.statements[number].citations
    return _Planted(cited, (_evidence(example, number),), (Edit("credibility", at),))


_Planter = Callable[[Example, int, int, random.Random], _Planted]
_PLANTERS: dict[str, _Planter] = {
    "misleading": _misleading, "redundant": _redundant, "evidence": _missing, "substandard": _substandard,
    "credibility": _credibility,
}  # fmt: skip


def _evidence(example: Example, number: int) -> Document:
    """A document of the whole evidence of a statement, each span under its own document's title."""
    statement = example.statements[number]
    titles = [example.documents[i].title for i in statement.citations]
    spans = [
        f"{example.documents[i].title}: {' '.join(e.text for e in statement.evidence if e.document == i)}"
        for i in statement.citations
    ]
    return Document(_BOTH[example.lang].format(", ".join(titles)), " ".join(spans))


def kinds_planted(responses: Sequence[Response]) -> set[str]:
    """The kinds of edit that the cases call for."""
    return {edit.kind for one in responses for statement in one.statements for edit in statement.planted or ()}
