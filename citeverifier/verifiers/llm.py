"""An LLM judges support: yes or no to the level's own question (paper 1), or a grade for both levels (paper 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from citeverifier.llm.client import LLM
from citeverifier.llm.parsing import parse_number, parse_verdict
from citeverifier.records import Pair, Support
from citeverifier.text.language import language
from citeverifier.verifiers.prompted import PromptedScorer

GRADES = ("0", "1", "2")


class LLMVerdict(PromptedScorer):
    """P(yes) of a constrained answer, or, with a reasoning prompt, the verdict at the end of a free one as 1 or 0.

    A constrained answer without usable log probabilities counts as 1 or 0, too, and is counted in the notes
    ("without_logprobs"). No reply, no verdict and contradictory verdicts are unscored with the reason.
    """

    name = "llm"

    def choices(self, pair: Pair) -> tuple[str, ...]:
        """Yes and no in the prompt's language."""
        return language(self.prompt_lang or pair.lang).yes_no

    def read(
        self, text: str, probabilities: Mapping[str, float] | None, pair: Pair, level: Support
    ) -> tuple[float | None, str | None]:
        """P(yes), or the verdict as 1 or 0."""
        if probabilities is not None:
            return probabilities[self.choices(pair)[0]], None
        verdict, problem = parse_verdict(text, self.prompt_lang or pair.lang)
        return None if verdict is None else float(verdict), problem


class LLMScore(PromptedScorer):
    """P(support >= level) from one grade that serves both levels.

    `scale="discrete"`: the reply is 0, 1 or 2 (none, partial, full); with log probabilities the score is the mass at
    or above the level, else 1 or 0 (counted in the notes, "without_logprobs"). `scale="continuous"`: the reply is a
    number from 0 to 1 and is the score at both levels. With a reasoning prompt either ends a free reply. Anything
    else is unscored with the reason.
    """

    name = "llm_score"

    def __init__(self, llm: LLM, prompt: str, scale: Literal["discrete", "continuous"], **choice: Any) -> None:
        if scale not in ("discrete", "continuous"):
            raise ValueError(f"scale: expected discrete or continuous, got {scale!r}")
        super().__init__(llm, prompt, **choice)
        self.scale = scale

    def choices(self, pair: Pair) -> tuple[str, ...]:
        """The grades of the discrete scale."""
        return GRADES if self.scale == "discrete" else ()

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
