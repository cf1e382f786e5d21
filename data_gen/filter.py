"""Stage `filter`: keeps answers whose statements their cited documents support."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Literal

from citeverifier.records import Example
from data_gen.step import CLOSING, Checking, Step, Tools, drop, judging, keep, premise, without_twin

_REASONS = {False: "statement not supported", None: "statement unscored"}


def by_verifier(
    tools: Tools,
    *,
    level: str = "full",
    threshold: float | None = None,
    unit: Literal["answer", "statement"] = "answer",
) -> Step:
    """Each cited statement against all of its documents together, at `level`, decided at `threshold`.

    threshold: null takes the verifier's own of that level, else 0.5.
    unit: "answer" drops an answer with any statement that fails; "statement" takes that statement's citations away, so
        that nothing is asked about it, and drops an answer with none left. A statement that took the citations of a
        later sentence never costs more than itself. An unscored statement fails too, and is counted apart.
    """
    if unit not in ("answer", "statement"):
        raise ValueError(f"filter.unit: expected answer or statement, got {unit!r}")

    def check(example: Example) -> Checking:
        numbers = [number for number, statement in enumerate(example.statements) if statement.citations]
        verdicts = yield [premise(example, number, example.statements[number].citations) for number in numbers]
        answers = zip(numbers, verdicts, strict=True)
        failed = {number: _REASONS[supported] for number, supported in answers if supported is not True}
        counts = Counter(failed.values())
        fatal = [number for number in failed if unit == "answer" and example.statements[number].kind != CLOSING]
        if fatal:
            return drop(failed[fatal[0]], example.statements[fatal[0]].text, counts)
        # They keep their place: a statement has the same number in every language.
        statements = tuple(
            replace(without_twin(statement), citations=()) if n in failed else statement
            for n, statement in enumerate(example.statements)
        )
        if not any(statement.citations for statement in statements):
            return drop("no supported statement", None, counts)
        return keep(replace(example, statements=statements), counts=counts)

    return judging(check, tools, level, threshold)
