"""What the LLM verifiers share: which prompt, in which language, and what a batch of calls cost. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from citeverifier.cost import Cost
from citeverifier.llm.client import LLM
from citeverifier.llm.prompts import Prompt
from citeverifier.llm.request import Reply, Request
from citeverifier.records import Support

# What a prompted verdict is decided by: yes more likely than no. `calibrate=true` fits thresholds on dev instead.
EVEN: Mapping[Support, float] = {Support.PARTIAL: 0.5, Support.FULL: 0.5}


@dataclass(frozen=True)
class PromptChoice:
    """A prompt of `citeverifier/prompts` and how its reply is read.

    `lang`: the prompt's language whatever the statement's; None = the statement's own. `reasoning`: the reply is free
    text that ends in a verdict; otherwise it is constrained to the possible answers. `max_tokens` bounds the reply.
    `folder`: where prompts of one's own are; None = the package's.
    """

    name: str
    lang: str | None = None
    reasoning: bool = False
    max_tokens: int = 16
    folder: str | None = None

    def load(self, lang: str) -> Prompt:
        """The template for a statement's language; raises ValueError naming what there is."""
        return Prompt.load(self.name, self.lang or lang, self.folder)


def ask(llm: LLM, requests: Sequence[Request]) -> tuple[list[Reply], Cost]:
    """Replies in order, equal requests sent once, and what they cost."""
    replies = llm.ask(requests)
    cost = sum((llm.cost(reply) for reply in replies if not reply.cached), Cost())
    return replies, cost + Cost(distinct_pairs=len({request.messages for request in requests}))


def words_of(reply: Reply) -> str | None:
    """The reply's text, also where it does not fit the constraints that the request asked for; None where none came."""
    return reply.raw if reply.text is None else reply.text
