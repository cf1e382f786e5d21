"""How often `verify` points at the altered words: corrupted statements of the bundled set with their documents cited.

    python benchmarks/unsupported_spans.py --model outputs/train/default --split test

Thresholds are moved so that every twin counts as partly supported and gets a span. "by chance" is the share of a twin's
phrases that touch altered words.
"""

from __future__ import annotations

import difflib
import re
from typing import Annotated

import typer

from citeverifier.answers.answer_record import AnswerRecord
from citeverifier.answers.judging import Judge
from citeverifier.answers.phrases import phrases
from citeverifier.answers.verify_answers import verify_answers
from citeverifier.commands.answer_files import load_verifier
from citeverifier.data.mini import load_mini
from citeverifier.evaluation.reporting.tables import print_table
from citeverifier.records import LANGUAGES, Support

EVERY = {Support.PARTIAL: 0.0, Support.FULL: 2.0}


def altered(statement: str, twin: str) -> list[tuple[int, int]]:
    """The spans of a twin whose words are not the statement's."""
    old, new = re.findall(r"\S+", statement), list(re.finditer(r"\S+", twin))
    codes = difflib.SequenceMatcher(None, old, [word.group() for word in new], autojunk=False).get_opcodes()
    return [(new[j].start(), new[k - 1].end()) for tag, _, _, j, k in codes if tag != "equal" and k > j]


def touches(span: tuple[int, int], spans: list[tuple[int, int]]) -> bool:
    """Whether a span and any of the others share a character."""
    return any(span[0] < end and start < span[1] for start, end in spans)


def main(
    model: Annotated[
        str | None, typer.Option(help="Checkpoint folder or hub id; keyword for word overlap; default: last trained.")
    ] = None,
    split: str = "test",
) -> None:
    """Print a table."""
    judge = Judge(load_verifier(model).scorer, EVERY)
    rows = []
    for lang in LANGUAGES:
        records, spans, twins = [], [], []
        for example in load_mini(split, lang):
            for statement in example.statements:
                changed = altered(statement.text, statement.corrupted or "")
                if statement.citations and changed:
                    marks = "".join(f"[{i + 1}]" for i in statement.citations)
                    records.append(AnswerRecord(f"{statement.corrupted} {marks}", example.documents, lang=lang))
                    spans.append(changed)
                    twins.append(statement.corrupted or "")
        results = verify_answers(records, judge)
        found = [
            any(s.unsupported and touches(s.unsupported, own) for s in result.statements)
            for result, own in zip(results, spans, strict=True)
        ]
        chance = [
            sum(touches(phrase, own) for phrase in phrases(twin, lang)) / len(phrases(twin, lang))
            for twin, own in zip(twins, spans, strict=True)
        ]
        rows.append((lang, str(len(found)), f"{sum(found) / len(found):.2f}", f"{sum(chance) / len(chance):.2f}"))
    print_table("unsupported", ("lang", "twins", "found", "by chance"), rows)


if __name__ == "__main__":
    typer.run(main)
