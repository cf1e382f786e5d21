"""CiteEval-Auto (paper 3): an LLM attributes statements to contexts, then edits their citations and rates them 1 to 5.

Each stage leaves its replies in a file of its own and is taken up again from there (`llm_stages.py`). The wording of
the prompts is ours. What cannot be read is unscored with the reason, never the best rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from citeverifier.llm.client import LLM, Request
from citeverifier.llm.prompts import Prompt
from citeverifier.rating.llm_stages import (
    CONTEXT_SCHEMA,
    RATING_SCHEMA,
    REASONING_SCHEMA,
    Asking,
    ByNumber,
    LLMRater,
    StageRequest,
    edits_schema,
    read_contexts,
    read_edits,
    read_ratings,
    schema,
)  # fmt: skip
from citeverifier.rating.rating_from_edits import EditDist
from citeverifier.rating.responses import LOWEST, CitedStatement, Context, Edit, RatedResponse, RatedStatement, Response

Way = Literal["vanilla", "cot", "iter_cot", "iter_coe"]
ENSEMBLE, EDIT_DIST = "ensemble", "edit_dist"


class CiteEvalAuto(LLMRater):
    """One rater for the paper's variants.

    Args:
        llm: who is asked.
        way: how ratings are asked for, always of all statements in one reply. "vanilla": at once; "cot": after some
            reasoning about all; "iter_cot": statement by statement, reasoning, then its rating; "iter_coe": statement
            by statement, reasoning, edits, rating.
        coefficients: a file of `citeverifier fit-ratings`: EditDist's rating of iter_coe's edits stands beside the
            LLM's, and the ensemble of both is the headline.
        weight: the LLM's share in the ensemble, 0 to 1; 0.5 is the mean.
        attribution: whether statements are attributed first, and those that rest on no document masked. False is the
            paper's ablation: every statement is rated.
        prompt_lang: the prompts' language; None = the response's own.
        max_tokens: of a reply.
    """

    def __init__(
        self,
        llm: LLM,
        way: Way = "iter_coe",
        coefficients: str | None = None,
        weight: float = 0.5,
        attribution: bool = True,
        prompt_lang: str | None = None,
        max_tokens: int = 4096,
    ) -> None:
        if way not in get_args(Way):
            raise ValueError(f"rater.way: expected one of {', '.join(get_args(Way))}, got {way}")
        if coefficients is not None and way != "iter_coe":
            raise ValueError(f"rater.coefficients: expected rater.way=iter_coe, which makes edits, got {way}")
        if not 0 <= weight <= 1:
            raise ValueError(f"rater.weight: expected a share from 0 to 1, got {weight}")
        self.way, self.weight, self.attribution, self.max_tokens = way, weight, attribution, max_tokens
        self.edit_dist = None if coefficients is None else EditDist.load(coefficients)
        self.metrics = (way,) if self.edit_dist is None else (ENSEMBLE, way, EDIT_DIST)
        super().__init__(self.metrics[0], llm, prompt_lang)

    def settings(self) -> dict[str, Any]:
        """Whether statements are attributed; EditDist's coefficients and its weight."""
        if self.edit_dist is None:
            return {"attribution": self.attribution}
        fitted = {"coefficients": dict(self.edit_dist.coefficients), "fitted_on": dict(self.edit_dist.fitted_on)}
        return {"edit_dist": fitted, "weight": self.weight, "attribution": self.attribution}

    def asking(self, response: Response) -> Asking:
        """Attribution, then ratings: one request each, statements known by their 0-based number."""
        numbers = range(len(response.statements))
        contexts: ByNumber[Context] = ByNumber()
        edits: ByNumber[tuple[Edit, ...]] = ByNumber()
        ratings: ByNumber[float] = ByNumber()
        if self.attribution and numbers:
            entry = {"reasoning": REASONING_SCHEMA, "context": CONTEXT_SCHEMA}
            [reply] = yield [self._request("context_attribution", response, numbers, schema(numbers, entry))]
            contexts = read_contexts(reply, numbers)
        needs = [
            statement.needs_citations(contexts.values.get(number), self.attribution)
            for number, statement in enumerate(response.statements)
        ]
        asked = [number for number in numbers if needs[number]]
        if asked:
            one_by_one = {"reasoning": REASONING_SCHEMA} if self.way in ("iter_cot", "iter_coe") else {}
            edited = {"edits": edits_schema(len(response.documents))} if self.way == "iter_coe" else {}
            entry = {**one_by_one, **edited, "rating": RATING_SCHEMA}
            constraint = schema(asked, entry, reasoning=self.way == "cot")
            [reply] = yield [self._request("citation_rating", response, asked, constraint, way=self.way)]
            ratings = read_ratings(reply, asked)
            if edited:
                edits = read_edits(reply, asked, response.statements, len(response.documents))
        return RatedResponse(
            response,
            tuple(
                self._statement(statement, number, needs[number], contexts, edits, ratings)
                for number, statement in enumerate(response.statements)
            ),
        )

    def _request(
        self, stage: str, response: Response, asked: Sequence[int], constraint: dict[str, Any], **more: Any
    ) -> StageRequest:
        messages = Prompt.load(stage, self.prompt_lang or response.lang).render(
            documents=response.documents, question=response.question, statements=response.statements,
            asked=[number + 1 for number in asked], **more,
        )  # fmt: skip
        return StageRequest(stage, response.key, Request(messages, schema=constraint, max_tokens=self.max_tokens))

    def _statement(
        self,
        cited: CitedStatement,
        number: int,
        needs: bool | None,
        contexts: ByNumber[Context],
        edits: ByNumber[tuple[Edit, ...]],
        llm_ratings: ByNumber[float],
    ) -> RatedStatement:
        context = contexts.values.get(number)
        nothing = dict.fromkeys(self.metrics)
        if needs is False:
            return RatedStatement(context, needs, ratings=nothing)
        if needs is None:
            reason = f"attribution: {contexts.reasons.get(number, '')}"
            return RatedStatement(None, None, None, nothing, dict.fromkeys(self.metrics, reason))
        own = edits.values.get(number)
        if self.attribution and not cited.cites:  # rests on documents and names none, whatever the LLM makes of it
            return RatedStatement(context, True, own, dict.fromkeys(self.metrics, LOWEST))
        ratings: dict[str, float | None] = {self.way: llm_ratings.values.get(number)}
        reasons: dict[str, str] = {} if ratings[self.way] is not None else {self.way: llm_ratings.reasons[number]}
        if self.edit_dist is not None:
            no_edits = f"edits: {edits.reasons.get(number, '')}"
            value, problem = (None, no_edits) if own is None else self.edit_dist.rating(len(cited.citations), own)
            ratings[EDIT_DIST] = value
            if value is None:
                reasons[EDIT_DIST] = problem or ""
            by_llm = ratings[self.way]
            if by_llm is None or value is None:
                ratings[ENSEMBLE], reasons[ENSEMBLE] = None, "; ".join(reasons.values())
            else:
                ratings[ENSEMBLE] = self.weight * by_llm + (1 - self.weight) * value
        return RatedStatement(context, True, own, {name: ratings[name] for name in self.metrics}, reasons)
