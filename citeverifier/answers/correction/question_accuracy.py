"""Paper 4's Mean Question-Level Accuracy, from people's verdicts on the facts of answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from citeverifier.metrics.bootstrap import Estimate, mean_estimate, resamples
from citeverifier.records import RecordError, once, read_jsonl


@dataclass(frozen=True, slots=True)
class AnnotatedFacts:
    """An answer's facts: whether the documents that each cites support it; None where nobody judged."""

    id: str
    correct: tuple[bool | None, ...]


def annotated_from_json(row: Mapping[str, Any]) -> AnnotatedFacts:
    """Read a line; raises RecordError naming the key at fault."""
    if not isinstance(row.get("id"), str) or not isinstance(row.get("facts"), list):
        raise RecordError(f"expected keys 'id' (a string) and 'facts' (a list), got {', '.join(row) or 'none'}")
    verdicts = []
    for number, fact in enumerate(row["facts"]):
        verdict = fact.get("correct", "nothing") if isinstance(fact, dict) else "no object"
        if verdict is not None and not isinstance(verdict, bool):
            raise RecordError(f"facts[{number}]: key 'correct': expected true, false or null, got {verdict!r}")
        verdicts.append(verdict)
    return AnnotatedFacts(row["id"], tuple(verdicts))


def question_accuracy(path: str | Path, seed: int = 13) -> Estimate:
    """The mean, over questions, of the share of their facts that are correct; facts without a verdict are left out.

    Raises RecordError with file:line at a bad line or where an id comes again, ValueError where nothing is judged.
    """
    answers = list(read_jsonl(path, once(annotated_from_json, lambda answer: answer.id)))
    judged = {answer.id: [v for v in answer.correct if v is not None] for answer in answers}
    shares = {identity: float(np.mean(verdicts)) for identity, verdicts in judged.items() if verdicts}
    if not shares:
        raise ValueError(f'{path}: expected facts with "correct": true or false, got none in {len(answers)} answers')
    sampled = resamples(list(shares), seed=seed)
    return mean_estimate(np.array(list(shares.values())), sampled.of(list(shares)), sampled)
