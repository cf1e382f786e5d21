"""Stage `filter`: keeps answers whose statements their cited documents support, as a verifier sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from citeverifier.records import Example, Support
from data_gen.stage import Outcome, Step, drop, in_batches, keep
from data_gen.support import judge, premise
from data_gen.tools import Tools

_REASONS = {False: "statement not supported", None: "statement unscored"}


def by_verifier(
    tools: Tools,
    *,
    level: str = "full",
    threshold: float | None = None,
    unit: Literal["answer", "statement"] = "answer",
    batch: int = 128,
) -> Step:
    """Each cited statement against all of its documents together, at `level`, decided at `threshold`.

    threshold: null takes the verifier's own of that level, else 0.5.
    unit: "answer" drops an answer with any statement that fails; "statement" takes that statement's citations away, so
        that nothing is asked about it, and drops an answer with none left. An unscored statement fails too, and is
        counted apart.
    """
    asked = Support.parse(level)
    if unit not in ("answer", "statement"):
        raise ValueError(f"filter.unit: expected answer or statement, came {unit!r}")

    def run(records: Iterator[Example]) -> Iterator[Outcome]:
        verifier = tools.verifier()
        for examples in in_batches(records, batch):
            places = [
                (i, number)
                for i, example in enumerate(examples)
                for number, statement in enumerate(example.statements)
                if statement.citations
            ]
            pairs = [premise(examples[i], n, examples[i].statements[n].citations) for i, n in places]
            verdicts = judge(verifier, pairs, asked, threshold)
            failed: dict[int, dict[int, str]] = {i: {} for i in range(len(examples))}
            for (i, number), supported in zip(places, verdicts.supported, strict=True):
                if supported is not True:
                    failed[i][number] = _REASONS[supported]
            for i, example in enumerate(examples):
                outcome = _fold(example, failed[i], unit)
                if i == 0:  # what a verifier behind an LLM cost, once a batch
                    outcome = replace(outcome, calls=verdicts.calls, prompt_tokens=verdicts.tokens)
                yield outcome

    return Step(run, judges=True)


def _fold(example: Example, failed: dict[int, str], unit: str) -> Outcome:
    counts = Counter(failed.values())
    if failed and unit == "answer":
        first = min(failed)
        return drop(failed[first], example.statements[first].text, counts)
    # They keep their place: a statement has the same number in every language.
    statements = tuple(
        replace(statement, citations=(), corrupted=None, altered_in=(), edit=None) if n in failed else statement
        for n, statement in enumerate(example.statements)
    )
    if not any(statement.citations for statement in statements):
        return drop("no supported statement", None, counts)
    return keep(replace(example, statements=statements), counts=counts)
