"""Post-citing, list (paper 1): the statement and all documents at once; which should it cite?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from citeverifier.cost import Cost
from citeverifier.evaluation.schemes.base import AUROC, DECISIONS, EXACT
from citeverifier.evaluation.schemes.each_document import EachDocument
from citeverifier.evaluation.schemes.trials import Prediction, Trial
from citeverifier.evaluation.thresholds import Fitted, FittingData
from citeverifier.records import Example, Support
from citeverifier.verifiers.base import Listing, Selector

_COLUMNS = tuple(column for column in DECISIONS if column is not AUROC)


@dataclass(frozen=True)
class CiteList(EachDocument):
    """One selection a statement; every document becomes a trial, cited or not.

    Needs a Selector. Documents stand in an order shuffled by seed, the same for all statements of an example. A
    selection says in or out, so there is no AUROC; one without an answer leaves all its trials unscored.
    """

    name: ClassVar = "cite_list"
    heading: ClassVar = "Which documents should this statement cite, selected from the whole list?"
    order: ClassVar = 5
    columns: ClassVar = (*_COLUMNS, EXACT)
    part_columns: ClassVar = _COLUMNS
    asks: ClassVar = Selector

    def listings(self, trials: Sequence[Trial]) -> list[tuple[Listing, list[int]]]:
        """Each statement's listing, and which trial each of its documents stands for."""
        listings = []
        for group in self.by_statement(trials):
            pair = trials[group[0]].pair
            documents = tuple(trials[i].pair.documents[0] for i in group)
            listings.append((Listing(pair.statement, documents, pair.lang, pair.context), group))
        return listings

    def predict(
        self,
        records: Sequence[Example],
        trials: Sequence[Trial],
        verifier: Selector,
        thresholds: Mapping[Support, float],
    ) -> tuple[list[Prediction], Cost]:
        """One prediction a trial: in or out of its statement's selection. A tuned selector is asked untuned, too."""
        asked = self.listings(trials)
        listings = [listing for listing, _ in asked]
        selections = verifier.select(listings)
        at_default = verifier.untuned().select(listings) if verifier.parameters else selections
        predictions: dict[int, Prediction] = {}
        for (_, group), selection, default in zip(asked, selections, at_default, strict=True):
            for position, i in enumerate(group):
                if selection.positions is None:
                    reason = selection.reason or "the verifier made no selection"
                    predictions[i] = Prediction(trials[i], None, None, None, reason)
                else:
                    chosen = None if default.positions is None else position in default.positions
                    decision = position in selection.positions
                    predictions[i] = Prediction(trials[i], None, None, decision, None, at_default=chosen)
        cost = sum((selection.cost for selection in selections), Cost(pairs=len(trials)))
        return [predictions[i] for i in range(len(trials))], cost

    def fit(self, verifier: Selector, trials: Sequence[Trial], data: FittingData) -> Fitted:
        """A selector's parameters, chosen on dev statements."""
        if not verifier.parameters:
            return Fitted()
        dev = self.trials(data.examples())
        asked = self.listings(dev)
        gold = [frozenset(at for at, i in enumerate(group) if dev[i].gold) for _, group in asked]
        return data.parameters(verifier, [listing for listing, _ in asked], gold)
