"""Paper 4's Mean Question-Level Accuracy, from people's verdicts on the facts of answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from citeverifier.metrics.bootstrap import Estimate, mean_estimate, resamples
from citeverifier.record_rules import Text, Truth, read_record
from citeverifier.records import once, read_jsonl


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """Whether the documents that a fact cites support it; None where nobody judged."""

    correct: Truth | None


@dataclass(frozen=True, slots=True)
class AnnotatedFacts:
    """An answer's facts."""

    id: Text
    facts: tuple[JudgedFact, ...]


def question_accuracy(path: str | Path, seed: int = 13) -> Estimate:
    """The mean, over questions, of the share of their facts that are correct; facts without a verdict are left out.

    Raises RecordError with file:line at a bad line or where an id comes again, ValueError where nothing is judged.
    """
    answers = list(read_jsonl(path, once(partial(read_record, AnnotatedFacts), lambda answer: answer.id)))
    judged = {answer.id: [fact.correct for fact in answer.facts if fact.correct is not None] for answer in answers}
    shares = {identity: float(np.mean(verdicts)) for identity, verdicts in judged.items() if verdicts}
    if not shares:
        raise ValueError(f'{path}: expected facts with "correct": true or false, got none in {len(answers)} answers')
    sampled = resamples(list(shares), seed=seed)
    return mean_estimate(np.array(list(shares.values())), sampled.of(list(shares)), sampled)
