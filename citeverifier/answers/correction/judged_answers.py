"""What people say of answers: the share of correct facts, and paper 4's Mean Question-Level Accuracy (MQLA)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np

from citeverifier.metrics.bootstrap import Estimate, mean_estimate, resamples
from citeverifier.record_rules import Rule, Text, Truth, read_record
from citeverifier.records import once, read_jsonl

LEAST = 0.8  # of each of the five shares
MOST_HALLUCINATED = 1  # facts of an answer

Share = Annotated[float, Rule(lambda core, _: core.float_schema(strict=True, ge=0.0, le=1.0))]


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """`correct`: the documents that the fact cites say it; `hallucinated`: no retrieved one does; None: not judged."""

    correct: Truth | None
    hallucinated: Truth | None = None


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer's facts, and shares from 0 to 1, None where nobody judged.

    Of its cited documents, keywords and facts that are relevant; of the question's parts that it answers.
    """

    id: Text
    facts: tuple[JudgedFact, ...]
    relevant_urls: Share | None = None
    relevant_keywords: Share | None = None
    relevant_facts: Share | None = None
    completeness: Share | None = None

    @property
    def correctness(self) -> float | None:
        """The share of correct facts among those that were judged."""
        judged = [fact.correct for fact in self.facts if fact.correct is not None]
        return float(np.mean(judged)) if judged else None

    @property
    def right(self) -> bool | None:
        """Paper 4's rule: all five shares reach .8, at most one fact is hallucinated; None where one is not known."""
        shares = (self.relevant_urls, self.relevant_keywords, self.relevant_facts, self.correctness, self.completeness)
        hallucinated = [False if fact.correct else fact.hallucinated for fact in self.facts]
        if None in shares or None in hallucinated or any(fact.correct is None for fact in self.facts):
            return None
        enough = all(share >= LEAST for share in shares if share is not None)
        return enough and hallucinated.count(True) <= MOST_HALLUCINATED


def judged_answers(path: str | Path, seed: int = 13) -> dict[str, Estimate]:
    """`fact_accuracy`, the mean over answers of the share of correct facts, and `mqla`, the share of right answers.

    Answers that lack a verdict that one of them needs are left out of it; what no answer has is not there. Raises
    RecordError with file:line at a bad line or where an id comes again, ValueError where no fact is judged.
    """
    answers = list(read_jsonl(path, once(partial(read_record, JudgedAnswer), lambda answer: answer.id)))
    known = {
        name: {answer.id: float(value) for answer in answers if (value := getattr(answer, share)) is not None}
        for name, share in (("fact_accuracy", "correctness"), ("mqla", "right"))
    }
    if not known["fact_accuracy"]:
        raise ValueError(f'{path}: expected facts with "correct": true or false, got none in {len(answers)} answers')
    return {name: _mean(values, seed) for name, values in known.items() if values}


def _mean(values: dict[str, float], seed: int) -> Estimate:
    sampled = resamples(list(values), seed=seed)
    return mean_estimate(np.array(list(values.values())), sampled.of(list(values)), sampled)
