"""Post-citing, list (paper 1): the statement and all documents at once; which should it cite?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from citeverifier.evaluation.schemes.base import Prediction, Share, Trial
from citeverifier.evaluation.schemes.each_document import by_statement, each_document
from citeverifier.evaluation.schemes.exact import exact_shares
from citeverifier.records import Example, Support
from citeverifier.verifiers.base import Listing


@dataclass(frozen=True)
class CiteList:
    """One selection a statement; every document becomes a trial, cited or not.

    | setting   | asked                                  | expected              |
    |-----------|----------------------------------------|-----------------------|
    | statement | one `select` with all documents        | those that it cites   |
    | corrupted | its twin likewise                      | nothing               |

    Needs a Selector. Documents stand in an order shuffled by seed, the same for all statements of an example. A
    selection says in or out, so there is no AUROC; one without an answer leaves all its trials unscored.
    """

    seed: int = 13
    context: bool = False
    include_corrupted: bool = True
    level: Support = Support.PARTIAL
    name: ClassVar[str] = "cite_list"

    def trials(self, examples: Sequence[Example]) -> list[Trial]:
        """Trials in the order of the examples and their documents."""
        return each_document(
            self.name, examples, seed=self.seed, context=self.context, level=self.level,
            include_corrupted=self.include_corrupted,
        )  # fmt: skip

    def listings(self, trials: Sequence[Trial]) -> list[tuple[Listing, list[int]]]:
        """Each statement's listing, and which trial each of its documents stands for."""
        made = []
        for group in by_statement(trials, self.seed):
            pair = trials[group[0]].pair
            documents = tuple(trials[i].pair.documents[0] for i in group)
            made.append((Listing(pair.statement, documents, pair.lang, pair.context), group))
        return made

    def shares(self, predictions: Sequence[Prediction], *, default: bool) -> list[Share]:
        """exact: share of statements (twins among them) whose whole selection is right."""
        return exact_shares(predictions, default=default)
