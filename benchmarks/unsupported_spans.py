"""How often `verify` points at the altered words: corrupted statements of the bundled set with their documents cited.

    python benchmarks/unsupported_spans.py --model outputs/train/default --split test

Thresholds are moved so that every twin counts as partly supported and gets a span. "by chance" is the share of a twin's
phrases that touch altered words.
"""

from __future__ import annotations

import argparse
import difflib
import re

from citeverifier.answers.answer_record import AnswerRecord
from citeverifier.answers.judging import Judge
from citeverifier.answers.phrases import phrases
from citeverifier.answers.verify_answers import verify_answers
from citeverifier.commands.answer_files import load_verifier
from citeverifier.data.mini import load_mini
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


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="checkpoint folder or hub id; keyword for word overlap (default: last trained)")
    parser.add_argument("--split", default="test")
    options = parser.parse_args()
    judge = Judge(load_verifier(options.model).scorer, EVERY)
    print(f"{'lang':6}{'twins':>7}{'found':>8}{'by chance':>11}")
    for lang in LANGUAGES:
        records, spans, twins = [], [], []
        for example in load_mini(options.split, lang):
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
        print(f"{lang:6}{len(found):7}{sum(found) / len(found):8.2f}{sum(chance) / len(chance):11.2f}")


if __name__ == "__main__":
    main()
