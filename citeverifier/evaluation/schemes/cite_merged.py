"""Post-citing, merged (paper 1): a document should be cited if the statement loses its support without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from citeverifier.evaluation.schemes.base import Prediction, Share, Trial, premise_trial
from citeverifier.evaluation.schemes.each_document import by_statement, each_document
from citeverifier.evaluation.schemes.exact import exact_shares
from citeverifier.records import Example, Support


@dataclass(frozen=True)
class CiteMerged:
    """Leave one out: a document is cited iff all documents support the statement and those without it do not.

    | setting   | asked                                                          | expected                      |
    |-----------|----------------------------------------------------------------|-------------------------------|
    | statement | the statement with all documents, then with each one left out  | true for those it cites       |
    | corrupted | its twin likewise                                              | false: it has nothing to cite |

    Where the whole does not support, nothing is cited and no more is asked; the rest of a single document is empty and
    supports nothing. "Does not support" means below the fitted threshold and below 0.5, since both decisions are
    reported. The documents of an example keep one order (shuffled by seed), so that a prompt shares its documents with
    the whole's up to the one left out.

    A trial's score is what is lost without the document: the whole's score less the rest's, at least 0; 0 where the
    whole does not support. It ranks documents (AUROC); the decision is taken on the two answers, not on it. A trial is
    unscored where a question asked for it is.
    """

    seed: int = 13
    context: bool = False
    include_corrupted: bool = True
    level: Support = Support.FULL
    name: ClassVar[str] = "cite_merged"

    def trials(self, examples: Sequence[Example]) -> list[Trial]:
        """Trials in the order of the examples and their documents."""
        return each_document(
            self.name, examples, seed=self.seed, context=self.context, level=self.level,
            include_corrupted=self.include_corrupted,
        )  # fmt: skip

    def questions(self, trials: Sequence[Trial], answers: Sequence[Prediction]) -> list[Trial]:
        """First every whole; then, of those that support, the rests; then nothing."""
        known = {answer.trial.id: answer for answer in answers}
        asked = []
        for group in by_statement(trials, self.seed):
            ordered = [trials[i] for i in group]
            whole = _whole(ordered)
            if whole.id not in known:
                asked.append(whole)
            elif _supports(known[whole.id]) and len(ordered) > 1:
                asked += [rest for trial in ordered if (rest := _rest(ordered, trial)).id not in known]
        return asked

    def fold(self, trials: Sequence[Trial], answers: Sequence[Prediction]) -> list[Prediction]:
        """One prediction a trial."""
        known = {answer.trial.id: answer for answer in answers}
        folded: dict[int, Prediction] = {}
        for group in by_statement(trials, self.seed):
            ordered = [trials[i] for i in group]
            whole = known[_whole(ordered).id]
            for i in group:
                folded[i] = _folded(trials[i], whole, known.get(_rest(ordered, trials[i]).id))
        return [folded[i] for i in range(len(trials))]

    def shares(self, predictions: Sequence[Prediction], *, default: bool) -> list[Share]:
        """exact: share of statements (twins among them) whose whole predicted set is right."""
        return exact_shares(predictions, default=default)


def _whole(ordered: Sequence[Trial]) -> Trial:
    first = min(ordered, key=lambda trial: trial.premise)
    return replace(premise_trial(f"{first.id}/whole", ordered), setting=f"{first.setting}.whole")


def _rest(ordered: Sequence[Trial], left_out: Trial) -> Trial:
    rest = [trial for trial in ordered if trial is not left_out] or [left_out]
    return replace(premise_trial(f"{left_out.id}/rest", rest), setting=f"{left_out.setting}.rest")


def _supports(whole: Prediction) -> bool:
    return bool(whole.decision or whole.decided(default=True))


def _folded(trial: Trial, whole: Prediction, rest: Prediction | None) -> Prediction:
    """`rest` is None where it was not asked: nothing left, or a whole that does not support."""
    answers = (whole,) if rest is None else (whole, rest)
    for answer in answers:
        if answer.score is None:
            what = answer.trial.setting.rpartition(".")[2]
            return Prediction(trial, None, whole.threshold, None, f"{what}: {answer.reason}", answers=answers)

    def cited(*, default: bool) -> bool:
        return bool(whole.decided(default=default)) and not (rest and rest.decided(default=default))

    lost = max(0.0, (whole.score or 0.0) - (rest.score or 0.0 if rest else 0.0)) if _supports(whole) else 0.0
    return Prediction(
        trial, lost, whole.threshold, cited(default=False), None, at_default=cited(default=True), answers=answers
    )
