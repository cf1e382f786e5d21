"""Earlier metrics beside CiteEval's, on the same responses: AutoAIS, AttrScore and LQAC. All from 0 to 1.

What each says of a statement follows paper 3's adaptation to statements. Responses are rated as the metric's own paper
does, or, with `dagger`, by the mean of their statements, the paper's rows marked with a dagger. None of them masks
statements: one that cites nothing counts against them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from citeverifier.evaluation.run import run_scheme
from citeverifier.evaluation.schemes.citation_prf import PRECISION, RECALL, CitationPrf
from citeverifier.evaluation.schemes.trials import Prediction
from citeverifier.evaluation.thresholds import DecisionThreshold
from citeverifier.llm.client import LLM, Reply, Request
from citeverifier.llm.parsing import parse_verdict
from citeverifier.llm.prompts import Prompt
from citeverifier.rating.llm_stages import Asking, LLMRater, StageRequest
from citeverifier.rating.responses import SCENARIOS, CitedStatement, RatedResponse, RatedStatement, Rater, Response
from citeverifier.records import Support
from citeverifier.verifiers.base import Scorer


class AutoAis(Rater):
    """Citation recall, precision and F1 by any Scorer (scheme citation_prf; true_t5 is the original's model).

    Of a statement: recall 1 or 0, precision the share of its citations that are relevant, 0 without any. Of a response:
    recall over statements, precision over citations, F1 of the two; with `dagger` the means over statements.
    """

    scale = (0.0, 1.0)
    metrics = ("f1", "recall", "precision")

    def __init__(self, verifier: Scorer, thresholds: Mapping[Support, float], dagger: bool = False) -> None:
        super().__init__(f"auto_ais{'†' * dagger} ({verifier.name})")
        self.verifier, self.thresholds, self.dry_run, self.dagger = verifier, thresholds, verifier.dry_run, dagger

    def settings(self) -> dict[str, object]:
        """The thresholds."""
        return {"thresholds": {level.label: value for level, value in self.thresholds.items()}}

    def rate(self, responses: Sequence[Response], folder: Path) -> list[RatedResponse]:
        """Asks the scheme's questions about all responses at once."""
        if not any(response.statements for response in responses):
            return [RatedResponse(response, ()) for response in responses]
        thresholds = {level: DecisionThreshold(value, "given") for level, value in self.thresholds.items()}
        # an example is known by its id: the response's key, which names the system, too
        examples = [replace(response.to_example(), id=response.key, group=response.key) for response in responses]
        predictions, cost = run_scheme(CitationPrf(include_corrupted=False), self.verifier, examples, thresholds)
        self.cost += cost
        by_statement: dict[tuple[str, str], list[Prediction]] = {}
        for prediction in predictions:
            key = prediction.trial.pair.statement_id, prediction.trial.setting
            by_statement.setdefault(key, []).append(prediction)
        rated = []
        for response in responses:
            asked = [
                [by_statement.get((f"{response.key}/s{number}", setting), []) for setting in (RECALL, PRECISION)]
                for number in range(len(response.statements))
            ]
            cited = [own for own, statement in zip(asked, response.statements, strict=True) if statement.citations]
            overall = {} if self.dagger else {"full": _prf(asked), "cited": _prf(cited)}
            rated.append(RatedResponse(response, tuple(_ais_rated(own) for own in asked), overall))
        return rated


Asked = Sequence[Sequence[Prediction]]  # of a statement, for recall and for precision


def _ais_rated(asked: Asked) -> RatedStatement:
    values = _prf([asked])
    reason = next((p.reason for own in asked for p in own if p.reason is not None), "no score")
    return RatedStatement(ratings=values, reasons={name: reason for name, value in values.items() if value is None})


def _prf(asked: Sequence[Asked]) -> dict[str, float | None]:
    """F1, recall and precision of statements together."""
    recall, precision = (_mean([prediction.decision for own in asked for prediction in own[i]]) for i in (0, 1))
    return {"f1": _f1(recall, precision), "recall": recall, "precision": precision}


def _f1(recall: float | None, precision: float | None) -> float | None:
    """Their harmonic mean, 0 of two zeros; None where one is unknown."""
    if recall is None or precision is None:
        return None
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


class _ByVerdicts(LLMRater):
    """Asks for one of several choices about a statement with some documents of its response."""

    scale = (0.0, 1.0)

    def __init__(self, llm: LLM, prompt_lang: str | None) -> None:
        super().__init__(self.name, llm, prompt_lang)

    def question(
        self, stage: str, response: Response, number: int, documents: Sequence[int], choices: tuple[str, ...],
        key: str = "",
    ) -> StageRequest:  # fmt: skip
        """The stage is also the prompt's name; `key` tells questions about one statement apart."""
        messages = Prompt.load(stage, self.prompt_lang or response.lang).render(
            documents=[response.documents[i] for i in documents],
            question=response.question,
            statement=response.statements[number].text,
        )
        return StageRequest(stage, f"{response.key}/s{number}{key}", Request(messages, choices=choices, max_tokens=16))


class AttrScore(_ByVerdicts):
    """An LLM calls each cited document attributable, extrapolatory or contradictory; a statement gets their mean.

    Attributable counts 1 and contradictory 0; extrapolatory 0 (strict) or one half (relaxed). Without citations: 0.
    """

    name = "attr_score"
    metrics = ("strict", "relaxed")
    values: Mapping[str, tuple[float, float]] = {
        "attributable": (1.0, 1.0), "extrapolatory": (0.0, 0.5), "contradictory": (0.0, 0.0),
    }  # fmt: skip

    def asking(self, response: Response) -> Asking:
        """One question a citation."""
        choices = tuple(self.values)
        cited = [(number, i) for number, statement in enumerate(response.statements) for i in statement.citations]
        replies = yield [self.question("attribution_verdict", response, n, [i], choices, f"/{i}") for n, i in cited]
        verdicts: list[list[Verdict]] = [[] for _ in response.statements]
        for (number, _), reply in zip(cited, replies, strict=True):
            verdicts[number].append(read_verdict(reply, choices))
        return RatedResponse(response, tuple(map(self._rated, verdicts)))

    def _rated(self, verdicts: Sequence[Verdict]) -> RatedStatement:
        unread = [reason for verdict, reason in verdicts if verdict is None]
        if unread:
            return RatedStatement(ratings=dict.fromkeys(self.metrics), reasons=dict.fromkeys(self.metrics, unread[0]))
        values = [self.values[verdict] for verdict, _ in verdicts if verdict is not None] or [(0.0, 0.0)]
        means = [sum(column) / len(values) for column in zip(*values, strict=True)]
        return RatedStatement(ratings=dict(zip(self.metrics, means, strict=True)))


_Read = tuple[float | None, list[float | None], dict[str, str]]  # recall, each citation's relevance, reasons by metric


class Lqac(_ByVerdicts):
    """LongCite's recall and precision by an LLM.

    Recall of a statement: 1, 0.5 or 0 as its cited documents together support all, some or none of it; without
    citations 1 where the LLM says that it needs none, else 0. Precision: the share of its cited documents that support
    any point of it; 0 without citations. F1 of the two. Of a response: recall over statements, precision over
    citations, F1 of these; with `dagger` the means over statements.
    """

    name = "lqac"
    metrics = ("f1", "recall", "precision")
    supports: Mapping[str, float] = {"full": 1.0, "partial": 0.5, "none": 0.0}
    needs: Mapping[str, float] = {"yes": 0.0, "no": 1.0}

    def __init__(self, llm: LLM, prompt_lang: str | None, dagger: bool = False) -> None:
        self.dagger = dagger
        super().__init__(llm, prompt_lang)
        self.name = f"lqac{'†' * dagger} ({llm.name})"

    def asking(self, response: Response) -> Asking:
        """One question a statement, one a citation."""
        asked = []
        for number, statement in enumerate(response.statements):
            stage, meaning = (
                ("citation_support", self.supports) if statement.citations else ("citation_need", self.needs)
            )
            asked.append(self.question(stage, response, number, statement.citations, tuple(meaning)))
            asked += [
                self.question("citation_relevance", response, number, [i], ("yes", "no"), f"/{i}")
                for i in statement.citations
            ]
        replies = iter((yield asked))
        rated = [self._rated(statement, replies) for statement in response.statements]
        overall = {} if self.dagger else {
            scenario: self._overall(response, rated, scenario) for scenario in SCENARIOS
        }  # fmt: skip
        statements = tuple(
            RatedStatement(ratings={"f1": _f1(recall, _mean(own)), "recall": recall, "precision": _mean(own)},
                           reasons=reasons)
            for recall, own, reasons in rated
        )  # fmt: skip
        return RatedResponse(response, statements, overall)

    def _rated(self, statement: CitedStatement, replies: Iterator[Reply]) -> _Read:
        meaning = self.supports if statement.citations else self.needs
        verdict, reason = read_verdict(next(replies), tuple(meaning))
        reasons = {} if verdict is not None else dict.fromkeys(("recall", "f1"), reason)
        answers = [read_verdict(next(replies), ("yes", "no")) for _ in statement.citations]
        if unread := [why for answer, why in answers if answer is None]:
            reasons |= {"precision": unread[0], "f1": reasons.get("f1", unread[0])}
        relevant = [None if answer is None else float(answer == "yes") for answer, _ in answers]
        return None if verdict is None else meaning[verdict], relevant, reasons

    def _overall(self, response: Response, rated: Sequence[_Read], scenario: str) -> dict[str, float | None]:
        counted = [
            (recall, own)
            for (recall, own, _), statement in zip(rated, response.statements, strict=True)
            if scenario == "full" or statement.cites
        ]
        recall = _mean([recall for recall, _ in counted])
        precision = _mean([one for _, own in counted for one in own])
        return {"f1": _f1(recall, precision), "precision": precision}


def _mean(values: Sequence[float | None]) -> float | None:
    """Their mean, 0 of none; None where one is unknown."""
    known = [value for value in values if value is not None]
    return None if len(known) < len(values) else sum(known) / max(1, len(known))


Verdict: TypeAlias = tuple[str | None, str]


def read_verdict(reply: Reply, choices: tuple[str, ...]) -> Verdict:
    """(the choice, ""), or (None, why there is none); servers that ignore constraints are read as free text."""
    text = reply.words
    if text is None:
        return None, reply.error or "no reply"
    choice = text.strip().strip(".\"'").lower()
    if choice in choices:
        return choice, ""
    if choices == ("yes", "no"):
        verdict, problem = parse_verdict(text, "en")
        return (None if verdict is None else "yes" if verdict else "no"), problem or ""
    return None, f"expected one of {', '.join(choices)}, got {text[:80]!r}"
