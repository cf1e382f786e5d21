"""Held: cite_list asks one selection a statement, every document is a trial, no answer is unscored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citeverifier.evaluation.run import run_scheme
from citeverifier.evaluation.schemes.cite_list import CiteList
from citeverifier.records import Example
from citeverifier.verifiers.base import Listing, Selection, Selector

from .conftest import SelectorByHand


def test_worked_example(worked_example: Example) -> None:
    statement = worked_example.statements[0]
    right = {worked_example.documents[i].text for i in (0, 1)}
    verifier = SelectorByHand(lambda asked: right if asked == statement.text else set())
    predictions, cost = run_scheme(CiteList(), verifier, [worked_example], {})
    assert [(p.trial.setting, p.trial.premise, p.decision) for p in predictions] == [
        *[("statement", (i,), i in (0, 1)) for i in range(10)],
        *[("corrupted", (i,), False) for i in range(10)],
    ]
    assert {(p.score, p.threshold, p.reason) for p in predictions} == {(None, None, None)}
    assert [p.decided(default=True) for p in predictions] == [p.decision for p in predictions]
    assert [listing.statement for listing in verifier.asked] == [statement.text, statement.corrupted]
    assert [share.right for share in CiteList().shares(predictions, default=False)] == [True, True]
    assert (cost.pairs, cost.calls, cost.tokens) == (20, 2, 20)


def test_documents_are_shuffled_alike_for_all_statements(worked_example: Example) -> None:
    verifier = SelectorByHand(lambda asked: set())
    run_scheme(CiteList(context=True), verifier, [worked_example], {})
    (order,) = {listing.documents for listing in verifier.asked}
    assert sorted(order, key=lambda d: d.title) == list(worked_example.documents)
    assert order != worked_example.documents
    assert {listing.context for listing in verifier.asked} == {worked_example.question}


def test_no_selection_leaves_the_statement_unscored_with_its_reason(worked_example: Example) -> None:
    statement = worked_example.statements[0].text
    verifier = SelectorByHand(lambda asked: None if asked == statement else set())
    predictions, _ = run_scheme(CiteList(), verifier, [worked_example], {})
    assert [(p.decision, p.reason) for p in predictions] == [(None, "no answer")] * 10 + [(False, None)] * 10
    assert [share.right for share in CiteList().shares(predictions, default=False)] == [True]


@dataclass
class Tuned(Selector):
    """Selects the first `parameters["k"]` documents."""

    k: int
    name: str = "tuned"

    @property
    def parameters(self) -> dict[str, float]:
        return {"k": self.k}

    def tune(self, statements: Sequence[Listing], gold: Sequence[frozenset[int]]) -> None:
        self.k = 3

    def untuned(self) -> Tuned:
        return Tuned(1)

    def select(self, statements: Sequence[Listing]) -> list[Selection]:
        return [Selection(tuple(range(self.k))) for _ in statements]


def test_a_tuned_selector_is_reported_untuned_too(worked_example: Example) -> None:
    predictions, _ = run_scheme(CiteList(), Tuned(3), [worked_example], {})
    assert sum(bool(p.decided(default=False)) for p in predictions) == 6
    assert sum(bool(p.decided(default=True)) for p in predictions) == 2
