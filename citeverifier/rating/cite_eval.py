"""CiteEval-Auto (paper 3): an LLM attributes statements to contexts, edits their citations and rates them 1 to 5.

Each stage leaves its replies in a file of its own and is taken up again from there (`llm_stages.py`). The wording of
the prompts is ours. What cannot be read is unscored with the reason, never the best rating.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from citeverifier.llm.client import LLM, Reply, Request
from citeverifier.llm.prompts import Prompt
from citeverifier.rating.llm_stages import (
    CONTEXT_SCHEMA,
    RATING_SCHEMA,
    ByNumber,
    LLMRater,
    edits_schema,
    read_contexts,
    read_edits,
    read_ratings,
    schema,
)
from citeverifier.rating.rating_from_edits import EditDist
from citeverifier.rating.responses import Context, Edit, RatedResponse, RatedStatement, Response

Way = Literal["vanilla", "cot", "interleaved_cot", "iter_coe"]
ENSEMBLE, EDIT_DIST = "ensemble", "edit_dist"


class CiteEvalAuto(LLMRater):
    """One rater for the paper's variants.

    Args:
        llm: who is asked.
        way: how ratings are asked for. "vanilla": at once; "cot": after some reasoning; "interleaved_cot": edits and
            rating statement by statement, in one reply; "iter_coe": first a chain of edits, then ratings given these.
            None: edits only, for EditDist alone.
        coefficients: a file of `citeverifier fit-ratings`: EditDist's rating of the edits stands beside the LLM's, and
            with both the ensemble, their mean, is the headline.
        attribution: whether statements are attributed first, and those that rest on no document masked. False is the
            paper's ablation: every statement is rated.
        prompt_lang: the prompts' language; None = the response's own.
        max_tokens: of a reply.
    """

    def __init__(
        self,
        llm: LLM,
        way: Way | None = "iter_coe",
        coefficients: str | None = None,
        attribution: bool = True,
        prompt_lang: str | None = None,
        max_tokens: int = 2048,
    ) -> None:
        if way is None and coefficients is None:
            raise ValueError(
                "rater.way=null: expected rater.coefficients=FILE, got none; make one with `citeverifier fit-ratings`"
            )
        self.way, self.attribution, self.max_tokens = way, attribution, max_tokens
        self.edit_dist = None if coefficients is None else EditDist.load(coefficients)
        both = [ENSEMBLE] if way and self.edit_dist else []
        self.metrics = (*both, *([way] if way else []), *([EDIT_DIST] if self.edit_dist else []))
        super().__init__(self.metrics[0], llm, prompt_lang)

    def settings(self) -> dict[str, Any]:
        """Whether statements are attributed; EditDist's coefficients."""
        if self.edit_dist is None:
            return {"attribution": self.attribution}
        fitted = {"coefficients": dict(self.edit_dist.coefficients), "fitted_on": dict(self.edit_dist.fitted_on)}
        return {"edit_dist": fitted, "attribution": self.attribution}

    def rate(self, responses: Sequence[Response], folder: Path) -> list[RatedResponse]:
        """Attribution, edits where the way needs them, ratings: one request a response and stage."""
        works = [_Work(response) for response in responses]
        if self.attribution:
            for work, reply in self._ask(
                folder / "context_attribution.jsonl",
                [work for work in works if work.response.statements],
                self._attribution_request,
            ):
                work.contexts = read_contexts(reply, range(len(work.response.statements)))
        for work in works:
            work.needs = [
                statement.needs_citations(work.contexts.values.get(number), self.attribution)
                for number, statement in enumerate(work.response.statements)
            ]
        if self.way in (None, "iter_coe"):
            asked = [work for work in works if work.asked]
            for work, reply in self._ask(folder / "citation_edits.jsonl", asked, self._edits_request):
                work.read_edits(reply)
        if self.way is not None:
            asked = [work for work in works if self._rated(work)]
            for work, reply in self._ask(folder / "citation_rating.jsonl", asked, self._rating_request):
                work.ratings = read_ratings(reply, self._rated(work))
                if self.way == "interleaved_cot":
                    work.read_edits(reply)
        return [
            RatedResponse(work.response, tuple(self._statement(work, n) for n in range(len(work.response.statements))))
            for work in works
        ]

    def _ask(
        self, path: Path, works: Sequence[_Work], request: Callable[[_Work], Request]
    ) -> list[tuple[_Work, Reply]]:
        """The reply to each work's request."""
        replies = self.ask(path, {work.response.key: request(work) for work in works})
        return [(work, replies[work.response.key]) for work in works]

    def _request(
        self,
        prompt: str,
        work: _Work,
        asked: Sequence[int],
        entry: dict[str, Any],
        reasoning: bool = False,
        **more: Any,
    ) -> Request:
        """`entry`: the schema of what is said of each statement asked about."""
        response = work.response
        messages = Prompt.load(prompt, self.prompt_lang or response.lang).render(
            documents=response.documents, question=response.question, statements=response.statements,
            asked=[number + 1 for number in asked], **more,
        )  # fmt: skip
        return Request(messages, schema=schema(asked, entry, reasoning=reasoning), max_tokens=self.max_tokens)

    def _attribution_request(self, work: _Work) -> Request:
        every = range(len(work.response.statements))
        return self._request("context_attribution", work, every, {"context": CONTEXT_SCHEMA})

    def _edits_request(self, work: _Work) -> Request:
        return self._request("citation_edits", work, work.asked, {"edits": edits_schema(len(work.response.documents))})

    def _rated(self, work: _Work) -> list[int]:
        """The statements whose rating is asked for: with a chain of edits, those whose edits could be read."""
        if self.way != "iter_coe" or self.dry_run:
            return work.asked
        return [number for number in work.asked if number in work.edits.values]

    def _rating_request(self, work: _Work) -> Request:
        asked = self._rated(work)
        edits = [work.edits.values.get(number, ()) for number in asked] if self.way == "iter_coe" else None
        entry: dict[str, Any] = {"rating": RATING_SCHEMA}
        if self.way == "interleaved_cot":
            entry = {"edits": edits_schema(len(work.response.documents)), **entry}
        return self._request("citation_rating", work, asked, entry, self.way == "cot", way=self.way, edits=edits)

    def _statement(self, work: _Work, number: int) -> RatedStatement:
        context, needs = work.contexts.values.get(number), work.needs[number]
        nothing = dict.fromkeys(self.metrics)
        if needs is False:
            return RatedStatement(context, needs, ratings=nothing)
        if needs is None:
            reason = f"attribution: {work.contexts.reasons.get(number, '')}"
            return RatedStatement(None, None, None, nothing, dict.fromkeys(self.metrics, reason))
        ratings: dict[str, float | None] = {}
        reasons: dict[str, str] = {}
        edits, no_edits = work.edits.values.get(number), f"edits: {work.edits.reasons.get(number, '')}"
        if self.way is not None:
            ratings[self.way] = work.ratings.values.get(number)
            if ratings[self.way] is None:
                reasons[self.way] = work.ratings.reasons.get(number, no_edits)
        if self.edit_dist is not None:
            citations = len(work.response.statements[number].citations)
            value, problem = None, no_edits
            if edits is not None:
                value, said = self.edit_dist.rating(citations, edits)
                problem = said or ""
            ratings[EDIT_DIST] = value
            if value is None:
                reasons[EDIT_DIST] = problem
        if ENSEMBLE in self.metrics:
            known = [value for value in ratings.values() if value is not None]
            ratings[ENSEMBLE] = sum(known) / 2 if len(known) == 2 else None
            if len(known) < 2:
                reasons[ENSEMBLE] = "; ".join(reasons.values())
        return RatedStatement(context, True, edits, {name: ratings[name] for name in self.metrics}, reasons)


@dataclass
class _Work:
    """A response on its way: what each stage said of its statements, by 0-based number."""

    response: Response
    contexts: ByNumber[Context] = field(default_factory=ByNumber)
    needs: Sequence[bool | None] = ()
    edits: ByNumber[tuple[Edit, ...]] = field(default_factory=ByNumber)
    ratings: ByNumber[float] = field(default_factory=ByNumber)

    @property
    def asked(self) -> list[int]:
        """The statements that need citations."""
        return [number for number, needs in enumerate(self.needs) if needs]

    def read_edits(self, reply: Reply) -> None:
        """The edits of the statements asked about."""
        response = self.response
        self.edits = read_edits(reply, self.asked, response.statements, len(response.documents))
