"""Stage `filter`: keeps answers whose statements their cited documents support; and asking a verifier for any stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal

from citeverifier.answers.in_step import in_step
from citeverifier.answers.judging import Judge
from citeverifier.cost import Cost
from citeverifier.records import LEVELS, Example, Pair, Support, statement_id
from data_gen.stage import CLOSING, Outcome, Step, drop, keep, without_twin
from data_gen.tools import Tools

BATCH = 128  # records whose pairs the verifier scores together
Verdict = bool | None  # supported or not; None where unscored
Checking = Generator[list[Pair], list[Verdict], Outcome]

_REASONS = {False: "statement not supported", None: "statement unscored"}


def judging(check: Callable[[Example], Checking], tools: Tools, level: str, threshold: float | None = None) -> Step:
    """A step that asks the verifier: `check` yields a record's pairs, gets their verdicts, returns an outcome.

    A pair is supported where its score at `level` reaches the threshold: the given one, else the verifier's own, else
    0.5. The first outcome of a batch carries what the batch cost. ValueError for level none.
    """
    support = Support.parse(level)
    if support not in LEVELS:
        raise ValueError(f"level: expected {' or '.join(each.label for each in LEVELS)}, got {level}")

    def run(records: Iterator[Example]) -> Iterator[Outcome]:
        judge = Judge(tools.verifier())
        least = judge.thresholds[support] if threshold is None else threshold

        def answer(asked: Sequence[list[Pair]]) -> list[list[Verdict]]:
            scores = judge.scores([pair for pairs in asked for pair in pairs], support)
            verdicts = (None if reason is not None else value >= least for value, reason in scores)
            return [list(islice(verdicts, len(pairs))) for pairs in asked]

        while examples := list(islice(records, BATCH)):
            first, *others = in_step(map(check, examples), answer)
            yield replace(first, cost=judge.cost)
            yield from others
            judge.cost = Cost()

    return Step(run, judges=True)


def premise(example: Example, number: int, positions: Sequence[int], *, corrupted: bool = False) -> Pair:
    """A statement of the example (or its twin) with these documents, unlabelled."""
    statement = example.statements[number]
    identity = statement_id(example, number, corrupted=corrupted)
    return Pair(
        id=f"{identity}/{example.lang}/{'-'.join(map(str, positions))}",
        example=example.id,
        statement_id=identity,
        lang=example.lang,
        group=example.group,
        statement=(statement.corrupted or "") if corrupted else statement.text,
        documents=tuple(example.documents[i] for i in positions),
        kind=statement.kind,
        context=example.question or None,
    )


def labelled(example: Example, number: int, position: int, kind: str, interval: tuple[Support, Support]) -> Pair:
    """A statement of the example with one document, its support known; the kind's first word tells ids apart."""
    pair = premise(example, number, (position,))
    identity = f"{pair.statement_id}/{example.lang}/{kind.split(':')[0]}/{position}"
    return replace(pair, id=identity, kind=kind, support_min=interval[0], support_max=interval[1])


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
