"""PoQuAD (Tuora et al. 2023): Polish Wikipedia paragraphs with people's questions and answers, as examples.

Each answerable question gives one statement, question + answer, citing its paragraph among nine of other articles; for
training and dev, with `sentences`, also a sentence of the paragraph that names its subject, with a rule-made twin.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citeverifier.data.perturb import names, perturb, perturb_answer
from citeverifier.data.rows import read_rows
from citeverifier.data.splits import SHARES, split_of
from citeverifier.records import Document, Evidence, Example, RecordError, Statement
from citeverifier.text.sentences import sentences as split_sentences

LANG = "pl"
DOCUMENTS = 10


def load_poquad(
    path: str | Path,
    split: str | None = None,
    shares: Mapping[str, float] = SHARES,
    seed: int = 13,
    sentences: bool = True,
) -> list[Example]:
    """Examples in the order of the file; the article is the group. Raises RecordError on rows of another shape."""
    paragraphs: list[tuple[str, Document, list[tuple[int, str, str]]]] = []
    for row in read_rows(path):
        try:
            paragraphs += [
                (row["title"], Document(row["title"], p["context"]), _answered(p["qas"])) for p in row["paragraphs"]
            ]
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise RecordError(
                f"{row.where}: expected PoQuAD's title and paragraphs [{{context, qas: [{{question, "
                f"is_impossible, answers}}]}}], got {error!r}"
            ) from None
    sentences = sentences and split in ("train", "dev")
    # Distractors come from the same split, so that no document crosses.
    inside = [p for p in paragraphs if split is None or split_of(f"poquad:{p[0]}", shares) == split]
    return [
        _example(title, document, question, answer, f"poquad:{split}:{i}:{j}", inside, seed, sentences)
        for i, (title, document, answered) in enumerate(inside)
        for j, question, answer in answered
    ]


def _answered(qas: list[dict[str, Any]]) -> list[tuple[int, str, str]]:
    """Number, question and answer of the answerable questions."""
    found = [
        (j, qa["question"].strip(), qa["answers"][0]["text"].strip())
        for j, qa in enumerate(qas)
        if not qa["is_impossible"]
    ]
    return [entry for entry in found if entry[2]]


def _example(
    title: str,
    document: Document,
    question: str,
    answer: str,
    identity: str,
    paragraphs: list[Any],
    seed: int,
    sentences: bool,
) -> Example:
    rng = random.Random(f"{seed}:{identity}")
    others = [d for other, d, _ in rng.sample(paragraphs, min(len(paragraphs), 3 * DOCUMENTS)) if other != title]
    documents = [document, *others[: DOCUMENTS - 1]]
    rng.shuffle(documents)
    made = perturb_answer(answer, question=question, cited=document.text, context=document.text, lang=LANG, rng=rng)
    position = documents.index(document)
    statement = Statement(
        text=f"{question} {answer}",
        citations=(position,),
        kind="question_single",
        span=answer,
        corrupted=None if made is None else f"{question} {made.text}",
        altered_in=() if made is None else (position,),
        edit=None if made is None else made.rule,
    )
    second = _sentence(document, position, rng) if sentences else None
    return Example(
        id=identity,
        lang=LANG,
        group=f"poquad:{title}",
        question=question,
        answer=answer,
        documents=tuple(documents),
        statements=(statement,) if second is None else (statement, second),
        meta={"source": "poquad"},
    )


def _sentence(document: Document, position: int, rng: random.Random) -> Statement | None:
    """A sentence of the document that can stand alone (it holds a name), with a twin; None where none does."""
    standing = [s for s in split_sentences(document.text, LANG) if 6 <= len(s.split()) <= 40 and names(s[1:], LANG)]
    rng.shuffle(standing)
    for text in standing:
        made = perturb(text, cited=document.text, context=document.text, lang=LANG, rng=rng)
        if made is not None:
            return Statement(
                text=text,
                citations=(position,),
                kind="supporting_sentence",
                span=made.before,
                evidence=(Evidence(position, text),),
                corrupted=made.text,
                altered_in=(position,),
                edit=made.rule,
            )
    return None
