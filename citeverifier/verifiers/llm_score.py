"""Prompted scores (paper 2): an LLM grades the support of a statement, on three levels or from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from citeverifier.llm.client import LLM
from citeverifier.llm.parsing import parse_number
from citeverifier.llm.request import Request
from citeverifier.records import Pair, Support
from citeverifier.verifiers.prompted import PromptedScorer

GRADES = ("0", "1", "2")


class LLMScore(PromptedScorer):
    """P(support >= level) from one grade that serves both levels.

    `scale="discrete"`: the reply is 0, 1 or 2 (none, partial, full); with log probabilities the score is the mass at
    or above the level, else 1 or 0 (counted in the notes, "without_logprobs"). `scale="continuous"`: the reply is a
    number from 0 to 1 and is the score at both levels. Anything else is unscored with the reason.
    """

    name = "llm_score"

    def __init__(self, llm: LLM, prompt: str, scale: Literal["discrete", "continuous"], **choice: Any) -> None:
        if scale not in ("discrete", "continuous"):
            raise ValueError(f"scale: expected discrete or continuous, got {scale!r}")
        super().__init__(llm, prompt, **choice)
        self.scale = scale

    def constrained(self, pair: Pair) -> bool:
        """On the discrete scale."""
        return self.scale == "discrete"

    def request(self, pair: Pair, level: Support) -> Request:
        """The same whatever the level."""
        messages = self.prompt.load(pair.lang).render(
            statement=pair.statement, documents=pair.documents, context=pair.context
        )
        limit = self.prompt.limit(pair.lang)
        if self.scale == "continuous":
            return Request(messages, max_tokens=limit)
        return Request(messages, choices=GRADES, logprobs=True, max_tokens=limit)

    def read(
        self, text: str, probabilities: Mapping[str, float] | None, pair: Pair, level: Support
    ) -> tuple[float | None, str | None]:
        """The grade as a score at the level."""
        if self.scale == "continuous":
            return parse_number(text, 0.0, 1.0)
        if probabilities is not None:
            return min(1.0, sum(p for grade, p in probabilities.items() if int(grade) >= level)), None
        grade, problem = parse_number(text, 0, 2)
        if grade is not None and not grade.is_integer():
            return None, f"expected a grade of {', '.join(GRADES)}, got {grade:g}"
        return None if grade is None else float(grade >= level), problem
