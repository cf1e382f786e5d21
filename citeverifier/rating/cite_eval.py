"""CiteEval-Auto (paper 3): an LLM attributes statements to contexts, edits their citations and rates them 1 to 5.

Each stage leaves its replies in a file of its own and is taken up again from there (`stages.py`). The wording of the
prompts is ours. What cannot be read is unscored with the reason, never the best rating.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from citeverifier.cost import Cost
from citeverifier.llm.client import LLM, Reply, Request
from citeverifier.llm.prompts import Prompt
from citeverifier.rating.base import (
    HIGHEST,
    LOWEST,
    Context,
    Edit,
    Judged,
    Rated,
    Response,
    needs_citations,
)
from citeverifier.rating.edit_dist import EditDist
from citeverifier.rating.replies import (
    CONTEXT_SCHEMA,
    RATING_SCHEMA,
    Read,
    edits_schema,
    read_contexts,
    read_edits,
    read_ratings,
    schema,
)
from citeverifier.rating.stages import ask_stage

Way = Literal["vanilla", "cot", "interleaved_cot", "iter_coe"]
ENSEMBLE = "ensemble"


class CiteEvalAuto:
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

    low, high = LOWEST, HIGHEST

    def __init__(
        self,
        llm: LLM,
        way: Way | None,
        coefficients: str | None,
        attribution: bool,
        prompt_lang: str | None,
        max_tokens: int,
    ) -> None:
        if way is None and coefficients is None:
            raise ValueError(
                "rater=edit_dist: expected rater.coefficients=FILE, came none; make one with `citeverifier fit-ratings`"
            )
        self.llm, self.way, self.attribution = llm, way, attribution
        self.prompt_lang, self.max_tokens = prompt_lang, max_tokens
        self.edit_dist = None if coefficients is None else EditDist.load(coefficients)
        own = [way] if way else []
        both = [ENSEMBLE] if way and self.edit_dist else []
        self.metrics = (*both, *own, *(["edit_dist"] if self.edit_dist else []))
        self.name = f"{self.metrics[0]} ({llm.name})"
        self.cost = Cost()

    def rate(self, responses: Sequence[Response], folder: Path) -> list[Rated]:
        """Attribution, edits where the way needs them, ratings: one request a response and stage."""
        works = [_Work(response) for response in responses]
        if self.attribution:
            asked = [work for work in works if work.response.statements]
            replies = self._ask(folder / "context_attribution.jsonl", asked, self._attribution_request)
            for work in asked:
                work.contexts = read_contexts(replies[work.response.key], range(len(work.response.statements)))
        for work in works:
            needs = [
                needs_citations(statement, work.contexts.values.get(number), self.attribution)
                for number, statement in enumerate(work.response.statements)
            ]
            work.needs = tuple(needs)
            work.asked = [number for number, need in enumerate(needs) if need]
        if self.way in (None, "iter_coe"):
            asked = [work for work in works if work.asked]
            replies = self._ask(folder / "citation_edits.jsonl", asked, self._edits_request)
            for work in asked:
                work.edits = self._read_edits(work, replies[work.response.key])
        if self.way is not None:
            asked = [work for work in works if self._rated(work)]
            replies = self._ask(folder / "citation_rating.jsonl", asked, self._rating_request)
            for work in asked:
                reply = replies[work.response.key]
                work.ratings = read_ratings(reply, self._rated(work))
                if self.way == "interleaved_cot":
                    work.edits = self._read_edits(work, reply)
        return [
            Rated(work.response, tuple(self._judged(work, number) for number in range(len(work.response.statements))))
            for work in works
        ]

    def _ask(self, path: Path, works: Sequence[_Work], request: Callable[[_Work], Request]) -> dict[str, Reply]:
        replies, cost = ask_stage(path, self.llm, [(work.response.key, request(work)) for work in works])
        self.cost += cost
        return replies

    def _render(self, name: str, work: _Work, **more: Any) -> tuple[tuple[str, str], ...]:
        response = work.response
        prompt = Prompt.load(name, self.prompt_lang or response.lang)
        return prompt.render(
            documents=response.documents, question=response.question, statements=response.statements,
            asked=[number + 1 for number in work.asked], **more,
        )  # fmt: skip

    def _attribution_request(self, work: _Work) -> Request:
        ids = range(len(work.response.statements))
        messages = self._render("context_attribution", work)
        return Request(messages, schema=schema(ids, {"context": CONTEXT_SCHEMA}), max_tokens=self.max_tokens)

    def _edits_request(self, work: _Work) -> Request:
        more = {"edits": edits_schema(len(work.response.documents))}
        return Request(
            self._render("citation_edits", work), schema=schema(work.asked, more), max_tokens=self.max_tokens
        )

    def _rated(self, work: _Work) -> list[int]:
        """The statements whose rating is asked for: with a chain of edits, those whose edits could be read."""
        if self.way != "iter_coe" or self.llm.options.dry_run:
            return work.asked
        return [number for number in work.asked if number in work.edits.values]

    def _rating_request(self, work: _Work) -> Request:
        asked = self._rated(work)
        edits = [work.edits.values.get(number, ()) for number in asked] if self.way == "iter_coe" else None
        messages = self._render("citation_rating", replace(work, asked=asked), way=self.way, edits=edits)
        more: dict[str, Any] = {"rating": RATING_SCHEMA}
        if self.way == "interleaved_cot":
            more = {"edits": edits_schema(len(work.response.documents)), **more}
        constraint = schema(asked, more, reasoning=self.way == "cot")
        return Request(messages, schema=constraint, max_tokens=self.max_tokens)

    def _read_edits(self, work: _Work, reply: Reply) -> Read[tuple[Edit, ...]]:
        return read_edits(reply, work.asked, work.response.statements, len(work.response.documents))

    def _judged(self, work: _Work, number: int) -> Judged:
        context = work.contexts.values.get(number)
        needs = work.needs[number]
        if needs is False:
            return Judged(context, needs, ratings=dict.fromkeys(self.metrics))
        ratings: dict[str, float | None] = {}
        reasons: dict[str, str] = {}
        attribution = work.contexts.reasons.get(number, "")
        no_edits = f"edits: {work.edits.reasons.get(number, '')}"
        edits = work.edits.values.get(number)
        if needs is None:
            ratings = dict.fromkeys(self.metrics)
            return Judged(None, None, None, ratings, dict.fromkeys(self.metrics, f"attribution: {attribution}"))
        if self.way is not None:
            ratings[self.way] = work.ratings.values.get(number)
            if ratings[self.way] is None:
                reasons[self.way] = work.ratings.reasons.get(number, no_edits)
        if self.edit_dist is not None:
            value, problem = None, no_edits
            if edits is not None:
                value, said = self.edit_dist.rating(len(work.response.statements[number].citations), edits)
                problem = said or ""
            ratings["edit_dist"] = value
            if value is None:
                reasons["edit_dist"] = problem
        if ENSEMBLE in self.metrics:
            both = [ratings[str(self.way)], ratings["edit_dist"]]
            known = [value for value in both if value is not None]
            ratings[ENSEMBLE] = sum(known) / 2 if len(known) == 2 else None
            if len(known) < 2:
                reasons[ENSEMBLE] = "; ".join(reasons.values())
        return Judged(context, True, edits, {name: ratings[name] for name in self.metrics}, reasons)


@dataclass
class _Work:
    """A response on its way: what each stage said of its statements, by 0-based number."""

    response: Response
    contexts: Read[Context] = field(default_factory=Read)
    needs: tuple[bool | None, ...] = ()
    asked: list[int] = field(default_factory=list)
    edits: Read[tuple[Edit, ...]] = field(default_factory=Read)
    ratings: Read[float] = field(default_factory=Read)
