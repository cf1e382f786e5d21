"""What a scheme is: which pairs are asked (`trials`), what is expected, how scores fold into predictions.

All trials of a scheme go to the verifier in one `score` call per level, so that it can sort, deduplicate and batch. A
scheme whose trials are not what is asked is `InRounds` (questions, then further ones, folded), `ByList` (selections) or
`Corrects` (whole answers).
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

from citeverifier.correction.base import Method
from citeverifier.cost import Cost
from citeverifier.metrics.bootstrap import Estimate, Resamples
from citeverifier.metrics.decisions import Floats
from citeverifier.records import Document, Example, Pair, Statement, Support, statement_id
from citeverifier.verifiers.base import Listing


@dataclass(frozen=True, slots=True)
class Trial:
    """One question to the verifier and its expected answer.

    `setting` names the experiment; a part after a dot refines it ("incorrect.altered"). `premise` holds the positions
    asked about. `kind` and `edit` are the statement's.
    """

    id: str
    setting: str
    level: Support
    gold: bool
    pair: Pair
    premise: tuple[int, ...]
    kind: str
    edit: str | None


@dataclass(frozen=True, slots=True)
class Prediction:
    """A trial with its score and decision; both None where unscored, with the reason.

    A decision folded from several answers (`answers`) need not follow from the score: `at_default` is then the decision
    at 0.5. A selection has neither score nor threshold.
    """

    trial: Trial
    score: float | None
    threshold: float | None
    decision: bool | None
    reason: str | None
    at_default: bool | None = None
    answers: tuple[Prediction, ...] = ()

    def decided(self, *, default: bool) -> bool | None:
        """The decision, or with `default` that at 0.5."""
        if not default or self.decision is None:
            return self.decision
        if self.at_default is not None or self.score is None:
            return self.at_default
        return self.score >= 0.5


@dataclass(frozen=True, slots=True)
class Share:
    """One item of a metric that is a mean ("exact", "ndcg_10"): its question, how right it is, its weight."""

    metric: str
    example: str
    right: float  # in [0, 1]
    weight: float = 1.0


class Scheme(Protocol):
    """A way to use a verifier."""

    name: ClassVar[str]

    def trials(self, examples: Sequence[Any]) -> list[Trial]:
        """Every question the scheme asks about the examples (or pairs), in a fixed order."""
        ...

    def shares(self, predictions: Sequence[Prediction], *, default: bool) -> list[Share]:
        """The items of this scheme's own metrics; `default` decides at 0.5."""
        ...


@runtime_checkable
class OfPairs(Protocol):
    """A scheme that takes labelled pairs, not examples."""

    takes_pairs: ClassVar[bool]


@runtime_checkable
class InRounds(Protocol):
    """A scheme whose predictions are folded from the answers to questions asked in rounds."""

    def questions(self, trials: Sequence[Trial], answers: Sequence[Prediction]) -> list[Trial]:
        """What to ask next, given all answers so far; nothing when all is settled."""
        ...

    def fold(self, trials: Sequence[Trial], answers: Sequence[Prediction]) -> list[Prediction]:
        """One prediction a trial, in their order."""
        ...


@runtime_checkable
class ByList(Protocol):
    """A scheme that asks a Selector: one selection a statement."""

    def listings(self, trials: Sequence[Trial]) -> list[tuple[Listing, list[int]]]:
        """Each listing with the positions of the trials that its documents stand for."""
        ...


@runtime_checkable
class Measured(Protocol):
    """A scheme with metrics that are no shares of right items, and with records that it leaves out."""

    def left_out(self, records: Sequence[Any]) -> dict[str, int]:
        """How many records are not asked about, by reason."""
        ...

    def measures(self, predictions: Sequence[Prediction], sampled: Resamples, *, default: bool) -> dict[str, Floats]:
        """By metric its value as a whole and in each resample, (1 + rounds,); `default` decides at 0.5."""
        ...

    def details(self, predictions: Sequence[Prediction], sampled: Resamples) -> dict[str, Any]:
        """What metrics.json holds beside metrics."""
        ...


@runtime_checkable
class Corrects(Protocol):
    """A scheme that asks a correction method: whole answers, whose citations it changes."""

    def correct(
        self, examples: Sequence[Any], trials: Sequence[Trial], method: Method
    ) -> tuple[list[Prediction], Cost]:
        """One prediction a trial, and the cost with the latency of answers that came one by one."""
        ...

    def estimates(self) -> dict[str, Estimate]:
        """Further metrics, which come of no trial."""
        ...


def premise_trial(identity: str, trials: Sequence[Trial]) -> Trial:
    """A question about the documents of several one-document trials of a statement together, in their order."""
    first = trials[0]
    documents = tuple(document for trial in trials for document in trial.pair.documents)
    premise = tuple(position for trial in trials for position in trial.premise)
    pair = replace(first.pair, id=identity, documents=documents)
    return replace(first, id=identity, pair=pair, premise=premise)


def predict(
    trials: Sequence[Trial], scores: Sequence[float], reasons: Mapping[int, str], thresholds: Mapping[Support, float]
) -> list[Prediction]:
    """One prediction a trial: true where the score reaches the level's threshold, unscored where it is nan."""
    made = []
    for i, (trial, score) in enumerate(zip(trials, scores, strict=True)):
        threshold = thresholds[trial.level]
        if math.isnan(score):
            made.append(Prediction(trial, None, threshold, None, reasons.get(i, "the verifier gave no score")))
        else:
            made.append(Prediction(trial, float(score), threshold, bool(score >= threshold), None))
    return made


class Asker:
    """Makes the trials of one statement: shuffles premises by seed, numbers trials, fills in the pair."""

    def __init__(self, scheme: str, example: Example, number: int, seed: int, context: bool) -> None:
        self.scheme, self.example, self.number = scheme, example, number
        self.statement: Statement = example.statements[number]
        # The languages of an example share their draws, so that their trials are the same.
        self.rng = random.Random(f"{seed}:{scheme}:{example.id}:{number}")
        self.context = context
        self.cited = self.statement.citations
        self.others = tuple(i for i in range(len(example.documents)) if i not in self.cited)
        self._count = 0

    def distractors(self, count: int) -> tuple[int, ...]:
        """`count` documents that the statement does not cite, or as many as there are."""
        return tuple(self.rng.sample(self.others, min(count, len(self.others))))

    def ask(
        self, setting: str, premise: Sequence[int], level: Support, gold: bool, *, corrupted: bool = False
    ) -> Trial:
        """A trial with these documents as premise, in shuffled order."""
        example, statement = self.example, self.statement
        order = list(premise)
        self.rng.shuffle(order)
        text = statement.text
        if corrupted:
            if statement.corrupted is None:
                raise ValueError(f"example {example.id!r}: statement {self.number} has no corrupted twin to ask about")
            text = statement.corrupted
        identity = statement_id(example, self.number, corrupted=corrupted)
        self._count += 1
        documents: tuple[Document, ...] = tuple(example.documents[i] for i in order)
        trial_id = f"{self.scheme}/{identity}/{example.lang}/{self._count}"
        pair = Pair(
            id=trial_id,
            example=example.id,
            statement_id=identity,
            lang=example.lang,
            group=example.group,
            statement=text,
            documents=documents,
            kind=setting,
            context=example.question if self.context else None,
        )
        return Trial(trial_id, setting, level, gold, pair, tuple(order), statement.kind, statement.edit)


def askers(scheme: str, examples: Sequence[Example], seed: int, context: bool) -> list[Asker]:
    """One asker for each statement that cites something."""
    return [
        Asker(scheme, example, number, seed, context)
        for example in examples
        for number, statement in enumerate(example.statements)
        if statement.citations
    ]
