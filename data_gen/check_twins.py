"""Stage `check`: a verifier's look at the twins that stage `corrupt` made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from citeverifier.records import Example
from data_gen.stage import Outcome, Step, drop, keep
from data_gen.tools import Tools
from data_gen.verdicts import Checking, judging, premise


def not_supported(tools: Tools, *, level: str = "full", threshold: float | None = None, require: bool = False) -> Step:
    """Takes out twins that the verifier still sees supported, by the altered document or by all cited ones together.

    The threshold is that of the filter: null takes the verifier's own of the level, else 0.5. A twin that the verifier
    cannot score goes too, counted apart. `require` drops records without any twin left.
    """

    def check(example: Example) -> Checking:
        premises = [
            (number, positions)
            for number, statement in enumerate(example.statements)
            if statement.corrupted is not None
            for positions in dict.fromkeys([statement.altered_in or statement.citations, statement.citations])
        ]
        verdicts = yield [premise(example, number, positions, corrupted=True) for number, positions in premises]
        failed: dict[int, str] = {}
        for (number, _), supported in zip(premises, verdicts, strict=True):
            if supported is not False:
                failed[number] = "twin: still supported" if supported else "twin: unscored"
        return _without_twins(example, failed, require)

    return judging(check, tools, level, threshold)


def _without_twins(example: Example, failed: Mapping[int, str], require: bool) -> Outcome:
    statements = tuple(
        replace(statement, corrupted=None, altered_in=(), edit=None) if number in failed else statement
        for number, statement in enumerate(example.statements)
    )
    counts = Counter(failed.values())
    if require and not any(statement.corrupted for statement in statements):
        return drop("no twin", None, counts)
    return keep(replace(example, statements=statements), counts=counts)
