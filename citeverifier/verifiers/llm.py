"""Prompted verdicts: an LLM answers the level's own question with yes or no (paper 1's LLM verifiers)."""

from __future__ import annotations

from collections.abc import Mapping

from citeverifier.llm.parsing import parse_verdict
from citeverifier.llm.request import Request
from citeverifier.records import Pair, Support
from citeverifier.text.language import language
from citeverifier.verifiers.prompted import PromptedScorer


class LLMVerdict(PromptedScorer):
    """P(yes) of a constrained answer, or, with a reasoning prompt, the verdict at the end of a free one as 1 or 0.

    A constrained answer without usable log probabilities counts as 1 or 0, too, and is counted in the notes
    ("without_logprobs"). No reply, no verdict and contradictory verdicts are unscored with the reason.
    """

    name = "llm"

    def constrained(self, pair: Pair) -> bool:
        """Unless the prompt asks for reasoning first."""
        return not self.prompt.load(pair.lang).reply.reasoning

    def request(self, pair: Pair, level: Support) -> Request:
        """The question of the level."""
        messages = self.prompt.load(pair.lang).render(
            statement=pair.statement, documents=pair.documents, context=pair.context, level=level.label
        )
        limit = self.prompt.limit(pair.lang)
        if not self.constrained(pair):
            return Request(messages, max_tokens=limit)
        return Request(messages, choices=self._answers(pair), logprobs=True, max_tokens=limit)

    def read(
        self, text: str, probabilities: Mapping[str, float] | None, pair: Pair, level: Support
    ) -> tuple[float | None, str | None]:
        """P(yes), or the verdict as 1 or 0."""
        if probabilities is not None:
            return probabilities[self._answers(pair)[0]], None
        verdict, problem = parse_verdict(text, self.prompt.lang or pair.lang)
        return None if verdict is None else float(verdict), problem

    def _answers(self, pair: Pair) -> tuple[str, str]:
        """Yes and no in the prompt's language."""
        return language(self.prompt.lang or pair.lang).yes_no
