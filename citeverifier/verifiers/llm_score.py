"""Prompted scores (paper 2): an LLM grades the support of a statement, on three levels or from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from citeverifier.llm.client import LLM
from citeverifier.llm.parsing import parse_number
from citeverifier.llm.request import Request
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.prompted import EVEN, PromptChoice, ask, words_of

GRADES = ("0", "1", "2")


class LLMScore(Scorer):
    """P(support >= level) from one grade that serves both levels.

    `scale="discrete"`: the reply is 0, 1 or 2 (none, partial, full); with log probabilities the score is the mass at
    or above the level, else 1 or 0 (counted in the notes, "without_logprobs"). `scale="continuous"`: the reply is a
    number from 0 to 1 and is the score at both levels. Anything else is unscored with the reason.
    """

    name = "llm_score"
    thresholds = EVEN

    def __init__(self, llm: LLM, prompt: PromptChoice, scale: Literal["discrete", "continuous"]) -> None:
        if scale not in ("discrete", "continuous"):
            raise ValueError(f"scale: expected discrete or continuous, came {scale!r}")
        self.llm, self.prompt, self.scale = llm, prompt, scale
        self.name = f"{llm.name} ({prompt.name}{'' if prompt.lang is None else f', {prompt.lang}'})"
        self.dry_run = llm.options.dry_run

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """The score of each pair at the level."""
        requests = [self._request(pair) for pair in pairs]
        replies, cost = ask(self.llm, requests)
        values = np.full(len(pairs), np.nan)
        reasons: dict[int, str] = {}
        without = 0
        for i, reply in enumerate(replies):
            text = words_of(reply)
            if text is None:
                reasons[i] = reply.error or "no reply"
                continue
            value, problem = self._grade(text, reply.probabilities, level)
            if value is None:
                reasons[i] = problem or "no grade"
            else:
                values[i] = value
                without += self.scale == "discrete" and reply.probabilities is None
        return Scores(values, reasons, replace(cost, notes={"without_logprobs": without} if without else {}))

    def _request(self, pair: Pair) -> Request:
        messages = self.prompt.load(pair.lang).render(
            statement=pair.statement, documents=pair.documents, context=pair.context
        )
        if self.scale == "continuous":
            return Request(messages, max_tokens=self.prompt.max_tokens)
        return Request(messages, choices=GRADES, logprobs=True, max_tokens=self.prompt.max_tokens)

    def _grade(
        self, text: str, probabilities: Mapping[str, float] | None, level: Support
    ) -> tuple[float | None, str | None]:
        """(score, what was wrong) of a reply."""
        if self.scale == "continuous":
            return parse_number(text, 0.0, 1.0)
        if probabilities is not None:
            return min(1.0, sum(p for grade, p in probabilities.items() if int(grade) >= level)), None
        grade, problem = parse_number(text, 0, 2)
        if grade is not None and not grade.is_integer():
            return None, f"expected a grade of {', '.join(GRADES)}, came {grade:g}"
        return (None, problem) if grade is None else (float(grade >= level), None)
