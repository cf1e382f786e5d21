"""Prompted verdicts: an LLM answers the level's own question with yes or no (paper 1's LLM verifiers)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from citeverifier.llm.client import LLM
from citeverifier.llm.parsing import parse_verdict
from citeverifier.llm.request import Request
from citeverifier.records import Pair, Support
from citeverifier.text.language import language
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.prompted import EVEN, PromptChoice, ask, words_of


class LLMVerdict(Scorer):
    """P(yes) of a constrained answer, or, with a reasoning prompt, the verdict at the end of a free one as 1 or 0.

    A constrained answer without usable log probabilities counts as 1 or 0, too, and is counted in the notes
    ("without_logprobs"). No reply, no verdict and contradictory verdicts are unscored with the reason.
    """

    name = "llm"
    thresholds = EVEN

    def __init__(self, llm: LLM, prompt: PromptChoice) -> None:
        self.llm, self.prompt = llm, prompt
        self.name = f"{llm.name} ({prompt.name}{'' if prompt.lang is None else f', {prompt.lang}'})"
        self.dry_run = llm.options.dry_run

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """P(yes) of each pair to the question of the level."""
        requests = [self._request(pair, level) for pair in pairs]
        replies, cost = ask(self.llm, requests)
        values = np.full(len(pairs), np.nan)
        reasons: dict[int, str] = {}
        without = 0
        for i, (pair, reply) in enumerate(zip(pairs, replies, strict=True)):
            text = words_of(reply)
            if text is None:
                reasons[i] = reply.error or "no reply"
                continue
            if reply.probabilities is not None:
                values[i] = reply.probabilities[self._answers(pair.lang)[0]]
                continue
            verdict, problem = parse_verdict(text, self.prompt.lang or pair.lang)
            if verdict is None:
                reasons[i] = problem or "no verdict"
            else:
                values[i] = float(verdict)
                without += not self.prompt.reasoning
        return Scores(values, reasons, replace(cost, notes={"without_logprobs": without} if without else {}))

    def _answers(self, lang: str) -> tuple[str, str]:
        """Yes and no in the prompt's language."""
        return language(self.prompt.lang or lang).yes_no

    def _request(self, pair: Pair, level: Support) -> Request:
        messages = self.prompt.load(pair.lang).render(
            statement=pair.statement, documents=pair.documents, context=pair.context, level=level.label
        )
        if self.prompt.reasoning:
            return Request(messages, max_tokens=self.prompt.max_tokens)
        return Request(messages, choices=self._answers(pair.lang), logprobs=True, max_tokens=self.prompt.max_tokens)
