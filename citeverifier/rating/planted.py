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
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import APART
from citeverifier.rating.response_ratings import response_rating
from citeverifier.rating.responses import KINDS, Edit, RatedResponse, Rater, Response
from citeverifier.records import Document, Example, Statement
from citeverifier.text.language import language

DEFECTS = ("misleading", "redundant", "evidence", "substandard", "credibility")


def load_defects(split: str | None, lang: str, seed: int) -> list[Response]:
    """The chains of a split of the bundled set (None = all) in one language or, with "all", both."""
    return [response for example in load_mini(split, lang) for response in planted_chain(example, seed)]


def planted_chain(example: Example, seed: int) -> list[Response]:
    """The example's answer with 0, 1, 2 ... defects, one a statement at most; equal in both languages."""
    rng = random.Random(f"{seed}:defects:{example.id}")
    response = Response.from_example(example, "defects")
    statements = [replace(statement, planted=()) for statement in response.statements]
    chain = [replace(response, id=f"{example.id}/0", chain=example.id, statements=tuple(statements))]
    order = list(range(len(statements)))
    rng.shuffle(order)
    defects = list(DEFECTS)
    rng.shuffle(defects)
    for number in order:
        defect = next(defect for defect in defects if _fits(defect, example.statements[number]))
        defects = [other for other in defects if other != defect] + [defect]
        documents = chain[-1].documents
        citations, new_documents, edits = _plant(defect, example, number, len(documents), rng)
        statements[number] = replace(statements[number], citations=citations, planted=edits)
        identity, documents = f"{example.id}/{len(chain)}", (*documents, *new_documents)
        chain.append(replace(chain[-1], id=identity, documents=documents, statements=tuple(statements)))
    return chain


def _fits(defect: str, statement: Statement) -> bool:
    halves = statement.kind in APART and len(statement.citations) == 2
    if defect in ("redundant", "substandard"):
        return halves
    if defect == "misleading":
        return True
    return (halves and defect == "evidence") or len(statement.citations) == 1


def _plant(
    defect: str, example: Example, number: int, at: int, rng: random.Random
) -> tuple[tuple[int, ...], tuple[Document, ...], tuple[Edit, ...]]:
    """The statement's citations with the defect, the documents that come with it (from position `at`), its edits."""
    cited = example.statements[number].citations
    if defect == "misleading":
        used = {i for statement in example.statements for i in statement.citations}
        stray = rng.choice([i for i in range(len(example.documents)) if i not in used])
        return (*cited, stray), (), (Edit("misleading", stray),)
    if defect == "evidence":
        gone = rng.choice(cited)
        return tuple(i for i in cited if i != gone), (), (Edit("evidence", gone),)
    whole = (_whole_evidence(example, number),)
    if defect == "credibility":
        return cited, whole, (Edit("credibility", at),)
    half = rng.choice(cited)
    if defect == "redundant":
        return (at, half), whole, (Edit("redundant", half),)
    return (half,), whole, (Edit("substandard", half), Edit("refinement", at))


def _whole_evidence(example: Example, number: int) -> Document:
    """A document of the whole evidence of a statement, each span under its own document's title."""
    statement = example.statements[number]
    titles = [example.documents[i].title for i in statement.citations]
    spans = [
        f"{example.documents[i].title}: {' '.join(e.text for e in statement.evidence if e.document == i)}"
        for i in statement.citations
    ]
    return Document(language(example.lang).notes_title.format(", ".join(titles)), " ".join(spans))


# --- how many of them a rater finds ----------------------------------------------------------------------------------


def planted_defects(rated: Sequence[RatedResponse], rater: Rater) -> dict[str, Any] | None:
    """By kind, precision and recall of the edits found against those planted, citation for citation; None without any.

    Only edits of the kind on the very document count. `monotonic`: of the steps from a response to the one with a
    further planted defect, how many lowered the headline rating, left it, or raised it.
    """
    cases = [
        (cited.planted, statement.edits or ())
        for one in rated
        for cited, statement in one.pairs
        # a statement that was masked, rightly or not, has no edits; an unscored one says nothing
        if cited.planted is not None and (statement.edits is not None or statement.applicable is False)
    ]
    if not cases:
        return None
    kinds = {}
    for kind in KINDS:
        cells = [[{edit.citation for edit in edits if edit.kind == kind} for edits in case] for case in cases]
        right = sum(len(planted & found) for planted, found in cells)
        planted_count, found_count = (sum(len(cell[i]) for cell in cells) for i in (0, 1))
        scores = prf(right, found_count - right, planted_count - right)
        kinds[kind] = {"planted": planted_count, "found": found_count, "right": right, **scores}
    left_alone = [not edits for planted, edits in cases if not planted]
    return {
        "statements": len(cases),
        "kinds": kinds,
        "sound_statements": len(left_alone),
        "sound_left_alone": sum(left_alone) / len(left_alone) if left_alone else None,
        "monotonic": _steps(rated, rater),
    }


def _steps(rated: Sequence[RatedResponse], rater: Rater) -> dict[str, int]:
    chains: dict[tuple[str, str, str], list[tuple[int, float | None]]] = {}
    for one in rated:
        if one.response.chain is not None:
            defects = sum(len(cited.planted or ()) for cited in one.response.statements)
            rating, _ = response_rating(one, rater.metrics[0], "full", rater.scale)
            key = (one.response.system, one.response.chain, one.response.lang)
            chains.setdefault(key, []).append((defects, rating))
    steps: Counter[str] = Counter(lowered=0, unchanged=0, raised=0, unscored=0)
    for chain in chains.values():
        ratings = [rating for _, rating in sorted(chain, key=lambda step: step[0])]
        for before, after in pairwise(ratings):
            if before is None or after is None:
                steps["unscored"] += 1
            else:
                steps["lowered" if after < before else "raised" if after > before else "unchanged"] += 1
    return dict(steps)


def prf(tp: int, fp: int, fn: int) -> dict[str, float | None]:
    """Precision, recall and F1; None where there is nothing to divide by."""
    return {
        "precision": tp / (tp + fp) if tp + fp else None,
        "recall": tp / (tp + fn) if tp + fn else None,
        "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
    }
