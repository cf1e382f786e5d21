"""Earlier metrics beside CiteEval's, on the same responses: AutoAIS, AttrScore and LQAC. All from 0 to 1.

What each says of a statement follows paper 3's adaptation to statements; responses are rated as the metric's own paper
does. None of them masks statements: one that cites nothing counts against them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from citeverifier.cost import Cost
from citeverifier.evaluation.run import run_scheme
from citeverifier.evaluation.schemes.citation_prf import PRECISION, RECALL, CitationPrf
from citeverifier.evaluation.schemes.trials import Prediction
from citeverifier.evaluation.thresholds import DecisionThreshold
from citeverifier.llm.client import LLM, Reply, Request
from citeverifier.llm.parsing import parse_verdict
from citeverifier.llm.prompts import Prompt
from citeverifier.rating.base import SCENARIOS, Judged, Rated, Response, statements_of
from citeverifier.rating.stages import ask_stage
from citeverifier.records import Example, Statement, Support
from citeverifier.verifiers.base import Scorer
from citeverifier.verifiers.prompted import words_of

Values = Mapping[str, float | None]


class AutoAis:
    """Citation recall, precision and F1 by any Scorer (scheme citation_prf; true_t5 is the original's model).

    Of a statement: recall 1 or 0, precision the share of its citations that are relevant, 0 without any. Of a response:
    recall over statements, precision over citations, F1 of the two.
    """

    low, high = 0.0, 1.0
    metrics = ("f1", "recall", "precision")

    def __init__(self, verifier: Scorer, thresholds: Mapping[Support, float]) -> None:
        self.verifier, self.thresholds = verifier, thresholds
        self.name = f"auto_ais ({verifier.name})"
        self.cost = Cost()

    def rate(self, responses: Sequence[Response], folder: Path) -> list[Rated]:
        """Asks the scheme's questions about all responses at once."""
        examples = [_example(response) for response in responses]
        if not any(example.statements for example in examples):
            return [Rated(response, ()) for response in responses]
        thresholds = {level: DecisionThreshold(value, "given") for level, value in self.thresholds.items()}
        predictions, self.cost = run_scheme(CitationPrf(include_corrupted=False), self.verifier, examples, thresholds)
        found: dict[tuple[str, str], list[Prediction]] = {}
        for prediction in predictions:
            found.setdefault((prediction.trial.pair.statement_id, prediction.trial.setting), []).append(prediction)
        rated = []
        for response in responses:
            recall = [found[f"{response.key}/s{n}", RECALL] for n in range(len(response.statements))]
            precision = [found.get((f"{response.key}/s{n}", PRECISION), []) for n in range(len(response.statements))]
            judged = tuple(_ais_judged(r, p) for r, p in zip(recall, precision, strict=True))
            cited = [n for n, statement in enumerate(response.statements) if statement.citations]
            overall = {}
            for scenario in SCENARIOS:
                chosen = cited if scenario == "cited" else range(len(response.statements))
                pair = (
                    _share([one for n in chosen for one in recall[n]]),
                    _share([p for n in chosen for p in precision[n]]),
                )
                overall[scenario] = {"recall": pair[0], "precision": pair[1], "f1": _f1(*pair)}
            rated.append(Rated(response, judged, overall))
        return rated


def _example(response: Response) -> Example:
    """The response as the schemes take it, known by its key."""
    statements = tuple(Statement(statement.text, statement.citations) for statement in response.statements)
    return Example(response.key, response.lang, response.key, response.question, response.documents, statements)


def _ais_judged(recall: Sequence[Prediction], precision: Sequence[Prediction]) -> Judged:
    pair = _share(recall), _share(precision)
    values = {"f1": _f1(*pair), "recall": pair[0], "precision": pair[1]}
    reason = next((p.reason for p in (*recall, *precision) if p.reason is not None), "no score")
    return Judged(ratings=values, reasons={name: reason for name, value in values.items() if value is None})


def _share(predictions: Sequence[Prediction]) -> float | None:
    """The share of true decisions, 0 of none; None where one is unscored."""
    decisions = [prediction.decision for prediction in predictions]
    if any(decision is None for decision in decisions):
        return None
    return sum(map(bool, decisions)) / len(decisions) if decisions else 0.0


def _f1(recall: float | None, precision: float | None) -> float | None:
    if recall is None or precision is None:
        return None
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


class AttrScore:
    """An LLM calls each cited document attributable, extrapolatory or contradictory; a statement gets their mean.

    Attributable counts 1 and contradictory 0; extrapolatory 0 (strict) or one half (relaxed). Without citations: 0.
    """

    low, high = 0.0, 1.0
    metrics = ("strict", "relaxed")
    values: Mapping[str, tuple[float, float]] = {
        "attributable": (1.0, 1.0), "extrapolatory": (0.0, 0.5), "contradictory": (0.0, 0.0),
    }  # fmt: skip

    def __init__(self, llm: LLM, prompt_lang: str | None) -> None:
        self.llm, self.prompt_lang = llm, prompt_lang
        self.name = f"attr_score ({llm.name})"
        self.cost = Cost()

    def rate(self, responses: Sequence[Response], folder: Path) -> list[Rated]:
        """One question a citation."""
        asked = {
            f"{response.key}/s{number}/{citation}": _ask(
                "attribution_verdict", self.prompt_lang, response, number, [citation], tuple(self.values)
            )
            for response, number, statement in statements_of(responses)
            for citation in statement.citations
        }
        replies, cost = ask_stage(folder / "attribution_verdict.jsonl", self.llm, list(asked.items()))
        self.cost += cost
        return [
            Rated(response, tuple(self._judged(response, n, replies) for n in range(len(response.statements))))
            for response in responses
        ]

    def _judged(self, response: Response, number: int, replies: Mapping[str, Reply]) -> Judged:
        citations = response.statements[number].citations
        own = [replies[f"{response.key}/s{number}/{citation}"] for citation in citations]
        verdicts = [_choice(reply, tuple(self.values)) for reply in own]
        for verdict, reason in verdicts:
            if verdict is None:
                return Judged(
                    ratings=dict.fromkeys(self.metrics), reasons=dict.fromkeys(self.metrics, reason or "no verdict")
                )
        return Judged(
            ratings={
                metric: sum(self.values[str(verdict)][i] for verdict, _ in verdicts) / max(1, len(verdicts))
                for i, metric in enumerate(self.metrics)
            }
        )


class Lqac:
    """LongCite's recall and precision by an LLM.

    Recall of a statement: 1, 0.5 or 0 as its cited documents together support all, some or none of it; without
    citations 1 where the LLM says that it needs none, else 0. Precision: the share of its cited documents that support
    any point of it; 0 without citations. Of a response: recall over statements, precision over citations.
    """

    low, high = 0.0, 1.0
    metrics = ("recall", "precision")
    supports: Mapping[str, float] = {"full": 1.0, "partial": 0.5, "none": 0.0}

    def __init__(self, llm: LLM, prompt_lang: str | None) -> None:
        self.llm, self.prompt_lang = llm, prompt_lang
        self.name = f"lqac ({llm.name})"
        self.cost = Cost()

    def rate(self, responses: Sequence[Response], folder: Path) -> list[Rated]:
        """One question a statement, one a citation."""
        yes_no = ("yes", "no")
        support, need, relevance = {}, {}, {}
        for response, number, statement in statements_of(responses):
            key = f"{response.key}/s{number}"
            if statement.citations:
                cited = statement.citations
                support[key] = self._ask("citation_support", response, number, cited, tuple(self.supports))
            else:
                need[key] = self._ask("citation_need", response, number, (), yes_no)
            for citation in statement.citations:
                relevance[f"{key}/{citation}"] = self._ask("citation_relevance", response, number, [citation], yes_no)
        replies: dict[str, Reply] = {}
        for name, requests in (("support", support), ("need", need), ("relevance", relevance)):
            answered, cost = ask_stage(folder / f"citation_{name}.jsonl", self.llm, list(requests.items()))
            replies |= answered
            self.cost += cost
        return [self._rated(response, replies) for response in responses]

    def _ask(
        self, name: str, response: Response, number: int, documents: Sequence[int], choices: tuple[str, ...]
    ) -> Request:
        return _ask(name, self.prompt_lang, response, number, documents, choices)

    def _rated(self, response: Response, replies: Mapping[str, Reply]) -> Rated:
        judged, relevant = [], []
        for number, statement in enumerate(response.statements):
            key = f"{response.key}/s{number}"
            verdict, reason = _choice(replies[key], tuple(self.supports) if statement.citations else ("yes", "no"))
            recall = None if verdict is None else {**self.supports, "yes": 0.0, "no": 1.0}[verdict]
            answers = [_choice(replies[f"{key}/{citation}"], ("yes", "no")) for citation in statement.citations]
            unread = [why for answer, why in answers if answer is None]
            own = [float(answer == "yes") for answer, _ in answers]
            relevant.append(None if unread else own)
            precision = None if unread else sum(own) / max(1, len(own))
            reasons = {} if recall is not None else {"recall": reason or "no verdict"}
            if unread:
                reasons["precision"] = unread[0] or "no verdict"
            judged.append(Judged(ratings={"recall": recall, "precision": precision}, reasons=reasons))
        known = [value for values in relevant if values is not None for value in values]
        precision = None if None in relevant else sum(known) / max(1, len(known))
        return Rated(response, tuple(judged), {scenario: {"precision": precision} for scenario in SCENARIOS})


def _ask(
    name: str,
    lang: str | None,
    response: Response,
    number: int,
    documents: Sequence[int],
    choices: tuple[str, ...],
) -> Request:
    messages = Prompt.load(name, lang or response.lang).render(
        documents=[response.documents[i] for i in documents],
        question=response.question,
        statement=response.statements[number].text,
    )
    return Request(messages, choices=choices, max_tokens=16)


def _choice(reply: Reply, choices: tuple[str, ...]) -> tuple[str | None, str | None]:
    """(the choice, None), or (None, why there is none); servers that ignore constraints are read as free text."""
    text = words_of(reply)
    if text is None:
        return None, reply.error or "no reply"
    said = text.strip().strip(".\"'").lower()
    if said in choices:
        return said, None
    if choices == ("yes", "no"):
        verdict, problem = parse_verdict(text, "en")
        return (None if verdict is None else "yes" if verdict else "no"), problem
    return None, f"expected one of {', '.join(choices)}, came {text[:80]!r}"
