"""What the LLM verifiers share: which prompt, in which language, and what a batch of calls cost. Imports no torch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from citeverifier.cost import Cost
from citeverifier.llm.client import LLM
from citeverifier.llm.prompts import Prompt
from citeverifier.llm.request import Reply, Request
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Listing, Scorer, Scores


class Prompted:
    """A verifier that is an LLM and a prompt.

    Args:
        llm: who is asked.
        prompt: a prompt of `citeverifier/prompts`, or of a folder of one's own.
        prompt_lang: the prompt's language whatever the statement's; None = the statement's own.
        prompt_folder: None = the package's.
        max_tokens: bounds the reply; None = as the prompt says.
    """

    def __init__(
        self,
        llm: LLM,
        prompt: str,
        prompt_lang: str | None = None,
        prompt_folder: str | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.llm, self.prompt, self.prompt_lang, self.prompt_folder = llm, prompt, prompt_lang, prompt_folder
        self.max_tokens = max_tokens
        self.name = f"{llm.name} ({prompt}{'' if prompt_lang is None else f', {prompt_lang}'})"
        self.dry_run = llm.options.dry_run

    def template(self, lang: str) -> Prompt:
        """The prompt for a statement's language; raises ValueError naming what there is."""
        return Prompt.load(self.prompt, self.prompt_lang or lang, self.prompt_folder)

    def limit(self, lang: str) -> int:
        """The most tokens of a reply."""
        return self.max_tokens or self.template(lang).reply.max_tokens

    def messages(self, asked: Pair | Listing, **more: str) -> tuple[tuple[str, str], ...]:
        """The prompt about a statement and its documents."""
        return self.template(asked.lang).render(
            statement=asked.statement, documents=asked.documents, context=asked.context, **more
        )


class PromptedScorer(Prompted, Scorer):
    """One call a pair; the reply becomes a score, or the pair is unscored with the reason."""

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """The score of each pair at the level; equal pairs are asked once."""
        replies, cost = ask(self.llm, [self.request(pair, level) for pair in pairs])
        values = np.full(len(pairs), np.nan)
        reasons: dict[int, str] = {}
        without = 0  # constrained answers whose log probabilities did not come
        for i, (pair, reply) in enumerate(zip(pairs, replies, strict=True)):
            text = words_of(reply)
            value, problem = (None, reply.error) if text is None else self.read(text, reply.probabilities, pair, level)
            if value is None:
                reasons[i] = problem or "no reply"
            else:
                values[i] = value
                without += bool(self.answers(pair)) and reply.probabilities is None
        return Scores(values, reasons, replace(cost, notes={"without_logprobs": without} if without else {}))

    def request(self, pair: Pair, level: Support) -> Request:
        """What is asked about a pair."""
        messages, answers = self.messages(pair, level=level.label), self.answers(pair)
        return Request(messages, answers, logprobs=bool(answers), max_tokens=self.limit(pair.lang))

    def answers(self, pair: Pair) -> tuple[str, ...]:
        """The answers that the reply is constrained to; none where it is free, or the prompt has it reason first."""
        return () if self.template(pair.lang).reply.reasoning else self.choices(pair)

    @abstractmethod
    def choices(self, pair: Pair) -> tuple[str, ...]:
        """The answers that there are; none where any text is one."""

    @abstractmethod
    def read(
        self, text: str, probabilities: Mapping[str, float] | None, pair: Pair, level: Support
    ) -> tuple[float | None, str | None]:
        """(score, what was wrong) of a reply."""


def ask(llm: LLM, requests: Sequence[Request]) -> tuple[list[Reply], Cost]:
    """Replies in order, equal requests sent once, and what they cost."""
    replies = llm.ask(requests)
    cost = sum((llm.cost(reply) for reply in replies if not reply.cached), Cost())
    return replies, cost + Cost(distinct_pairs=len({request.messages for request in requests}))


def words_of(reply: Reply) -> str | None:
    """The reply's text, also where it does not fit the constraints that the request asked for; None where none came."""
    return reply.raw if reply.text is None else reply.text
