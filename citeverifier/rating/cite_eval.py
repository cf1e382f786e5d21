"""CiteEval-Auto (paper 3): an LLM attributes statements to contexts, edits their citations and rates them 1 to 5.

Each stage leaves its replies in a file of its own and is taken up again from there (`llm_stages.py`). The wording of
the prompts is ours. What cannot be read is unscored with the reason, never the best rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from citeverifier.llm.client import LLM, Request
from citeverifier.llm.prompts import Prompt
from citeverifier.rating.llm_stages import (
    CONTEXT_SCHEMA,
    RATING_SCHEMA,
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

    def asking(self, response: Response) -> Asking:
        """Attribution, edits where the way needs them, ratings: one request a stage, by 0-based statement number."""
        numbers = range(len(response.statements))
        contexts: ByNumber[Context] = ByNumber()
        edits: ByNumber[tuple[Edit, ...]] = ByNumber()
        ratings: ByNumber[float] = ByNumber()
        of_edits = edits_schema(len(response.documents))
        if self.attribution and numbers:
            [reply] = yield [self._request("context_attribution", response, numbers, {"context": CONTEXT_SCHEMA})]
            contexts = read_contexts(reply, numbers)
        needs = [
            statement.needs_citations(contexts.values.get(number), self.attribution)
            for number, statement in enumerate(response.statements)
        ]
        asked = rated = [number for number in numbers if needs[number]]
        if self.way in (None, "iter_coe") and asked:
            [reply] = yield [self._request("citation_edits", response, asked, {"edits": of_edits})]
            edits = read_edits(reply, asked, response.statements, len(response.documents))
            if not self.dry_run:  # with a chain of edits, those are rated whose edits could be read
                rated = [number for number in asked if number in edits.values]
        if self.way is not None and rated:
            interleaved = {"edits": of_edits} if self.way == "interleaved_cot" else {}
            chain = [edits.values.get(number, ()) for number in rated] if self.way == "iter_coe" else None
            entry = {**interleaved, "rating": RATING_SCHEMA}
            more = {"way": self.way, "edits": chain}
            [reply] = yield [self._request("citation_rating", response, rated, entry, self.way == "cot", **more)]
            ratings = read_ratings(reply, rated)
            if interleaved:
                edits = read_edits(reply, asked, response.statements, len(response.documents))
        return RatedResponse(
            response,
            tuple(
                self._statement(
                    len(response.statements[number].citations), number, needs[number], contexts, edits, ratings
                )
                for number in numbers
            ),
        )

    def _request(
        self,
        stage: str,
        response: Response,
        asked: Sequence[int],
        entry: dict[str, Any],
        reasoning: bool = False,
        **more: Any,
    ) -> StageRequest:
        """`entry`: the schema of what is said of each statement asked about."""
        messages = Prompt.load(stage, self.prompt_lang or response.lang).render(
            documents=response.documents, question=response.question, statements=response.statements,
            asked=[number + 1 for number in asked], **more,
        )  # fmt: skip
        request = Request(messages, schema=schema(asked, entry, reasoning=reasoning), max_tokens=self.max_tokens)
        return StageRequest(stage, response.key, request)

    def _statement(
        self,
        citations: int,
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
        ratings: dict[str, float | None] = {}
        reasons: dict[str, str] = {}
        own, no_edits = edits.values.get(number), f"edits: {edits.reasons.get(number, '')}"
        if self.way is not None:
            ratings[self.way] = llm_ratings.values.get(number)
            if ratings[self.way] is None:
                reasons[self.way] = llm_ratings.reasons.get(number, no_edits)
        if self.edit_dist is not None:
            value, problem = (None, no_edits) if own is None else self.edit_dist.rating(citations, own)
            ratings[EDIT_DIST] = value
            if value is None:
                reasons[EDIT_DIST] = problem or ""
        if ENSEMBLE in self.metrics:
            known = [value for value in ratings.values() if value is not None]
            ratings[ENSEMBLE] = sum(known) / 2 if len(known) == 2 else None
            if len(known) < 2:
                reasons[ENSEMBLE] = "; ".join(reasons.values())
        return RatedStatement(context, True, own, {name: ratings[name] for name in self.metrics}, reasons)
