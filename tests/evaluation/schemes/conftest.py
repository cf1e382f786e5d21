"""Shared by the scheme tests: verifiers that answer by hand, and the statements behind the papers' golden counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from citeverifier.cost import Cost
from citeverifier.records import Document, Example, Pair, Statement, Support
from citeverifier.verifiers.base import Listing, Scorer, Scores, Selection, Selector


@dataclass
class ScorerByHand(Scorer):
    """Scores by a function of the statement and the documents' texts; keeps what was asked, call by call."""

    of: Callable[[str, tuple[str, ...]], float]
    asked: list[list[tuple[str, tuple[str, ...]]]] = field(default_factory=list)
    name: str = "by hand"

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        keys = [(pair.statement, tuple(document.text for document in pair.documents)) for pair in pairs]
        self.asked.append(keys)
        values = np.array([self.of(*key) for key in keys], dtype=np.float64)
        return Scores(
            values, {i: "no answer" for i, v in enumerate(values) if math.isnan(v)}, Cost(distinct_pairs=len(keys))
        )


@dataclass
class SelectorByHand(Selector):
    """Selects the documents whose text a function of the statement names; None is no answer."""

    of: Callable[[str], set[str] | None]
    asked: list[Listing] = field(default_factory=list)
    name: str = "by hand"

    def select(self, statements: Sequence[Listing]) -> list[Selection]:
        self.asked += statements
        made = []
        for listing in statements:
            chosen = self.of(listing.statement)
            if chosen is None:
                made.append(Selection(None, reason="no answer"))
            else:
                found = tuple(i for i, document in enumerate(listing.documents) if document.text in chosen)
                made.append(Selection(found, cost=Cost(calls=1, tokens=10)))
        return made


@pytest.fixture
def paper_examples() -> list[Example]:
    """252 statements, half of them twins, 218 citations, 2,496 trials: twelve questions have nine documents."""
    examples = []
    for i in range(126):
        documents = tuple(Document("", f"Text {j}.") for j in range(9 if i >= 114 else 10))
        cited = (0, 1) if i < 92 else (0,)
        statement = Statement(f"S {i}", cited, corrupted=f"T {i}", altered_in=cited[:1], edit="date")
        examples.append(Example(f"q{i:03}", "en", f"q{i:03}", "", documents, (statement,)))
    return examples


def chosen_sets(examples: Sequence[Example], counts: tuple[int, int, int, int], exact: int) -> dict[str, set[str]]:
    """The documents cited by a verifier that ends with these counts (TP, FN, FP, TN) and exact statements."""
    _, fn, fp, _ = counts
    wrong = len(examples) * 2 - exact
    twins = min(fp, wrong - (fn + 1) // 2)
    chosen = {f"S {i}": {f"Text {d}." for d in e.statements[0].citations} for i, e in enumerate(examples)}
    chosen |= {f"T {i}": set() for i in range(len(examples))}
    for i in range(fn):
        chosen[f"S {i % (wrong - twins)}"].remove(f"Text {i // (wrong - twins)}.")
    for i in range(fp):
        chosen[f"T {i % twins}"].add(f"Text {i // twins}.")
    return chosen
