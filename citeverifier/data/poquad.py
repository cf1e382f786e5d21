"""PoQuAD (Tuora et al. 2023): Polish Wikipedia paragraphs with people's questions and answers, as examples.

Each answerable question gives one statement, question + answer, citing its paragraph among nine of other articles; for
training and dev also a sentence of the paragraph that names its subject, with a rule-made twin.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from citeverifier.data.perturb import names, perturb_answer, supporting_sentence, with_twin
from citeverifier.data.rows import SourceRow, read_rows
from citeverifier.data.splits import SHARES, in_split
from citeverifier.records import Document, Evidence, Example, RecordError, Statement
from citeverifier.text.sentences import sentences

LANG = "pl"
DOCUMENTS = 10
_SEED = 13


class _Paragraph(NamedTuple):
    document: Document
    answered: list[tuple[int, str, str]]  # number, question and answer of its answerable questions


def load_poquad(path: str | Path, split: str | None = None, shares: Mapping[str, float] = SHARES) -> list[Example]:
    """Examples in the order of the file; the article is the group.

    Raises RecordError on rows of another shape, ValueError on an unknown split.
    """
    paragraphs = [paragraph for row in read_rows(path) for paragraph in _paragraphs(row)]
    # Distractors come from the same split, so that no document crosses.
    inside = in_split(paragraphs, split, shares, lambda paragraph: f"poquad:{paragraph.document.title}")
    return [
        _example(paragraph.document, question, answer, f"poquad:{split}:{i}:{j}", inside, split in ("train", "dev"))
        for i, paragraph in enumerate(inside)
        for j, question, answer in paragraph.answered
    ]


def _paragraphs(row: SourceRow) -> Iterator[_Paragraph]:
    try:
        for paragraph in row["paragraphs"]:
            answered = [
                (j, qa["question"].strip(), qa["answers"][0]["text"].strip())
                for j, qa in enumerate(paragraph["qas"])
                if not qa["is_impossible"]
            ]
            yield _Paragraph(Document(row["title"], paragraph["context"]), [entry for entry in answered if entry[2]])
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise RecordError(
            f"{row.where}: expected PoQuAD's title and paragraphs [{{context, qas: [{{question, "
            f"is_impossible, answers}}]}}], got {error!r}"
        ) from None


def _example(
    document: Document, question: str, answer: str, identity: str, inside: Sequence[_Paragraph], with_sentence: bool
) -> Example:
    rng = random.Random(f"{_SEED}:{identity}")
    drawn = [p.document for p in rng.sample(inside, min(len(inside), 3 * DOCUMENTS))]
    documents = [document, *[other for other in drawn if other.title != document.title][: DOCUMENTS - 1]]
    rng.shuffle(documents)
    position, text = documents.index(document), document.text
    twin = perturb_answer(answer, question=question, cited=text, context=text, lang=LANG, rng=rng)
    asked = Statement(f"{question} {answer}", (position,), "question_single", answer)
    sentence = _sentence(document, position, rng) if with_sentence else None
    statements = (with_twin(asked, twin, (position,), f"{question} "), *([sentence] if sentence else []))
    return Example(
        identity, LANG, f"poquad:{document.title}", question, tuple(documents), statements, answer, {"source": "poquad"}
    )


def _sentence(document: Document, position: int, rng: random.Random) -> Statement | None:
    """A sentence of the document that can stand alone (it holds a name), with a twin; None where none does."""
    standing = [s for s in sentences(document.text, LANG) if 6 <= len(s.split()) <= 40 and names(s[1:], LANG)]
    rng.shuffle(standing)
    for text in standing:
        statement = supporting_sentence(
            text, Evidence(position, text), cited=document.text, context=document.text, lang=LANG, rng=rng
        )
        if statement.corrupted is not None:
            return statement
    return None
