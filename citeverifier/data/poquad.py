"""PoQuAD (Tuora et al. 2023): Polish Wikipedia paragraphs with people's questions and answers, as examples.

Each answerable question gives one statement, question + answer, citing its paragraph among nine of other articles.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citeverifier.data.perturb import perturb_answer
from citeverifier.data.splits import SHARES, split_of
from citeverifier.records import Document, Example, RecordError, Statement, read_jsonl

LANG = "pl"
DOCUMENTS = 10


def load_poquad(
    path: str | Path, split: str | None = None, shares: Mapping[str, float] = SHARES, seed: int = 13
) -> list[Example]:
    """Examples in the order of the file; the article is the group. Raises RecordError on rows of another shape."""
    articles: list[tuple[str, list[dict[str, Any]]]] = []
    for number, row in enumerate(read_jsonl(path, lambda row: row), 1):
        try:
            articles.append((row["title"], [{"text": p["context"], "qas": p["qas"]} for p in row["paragraphs"]]))
        except (KeyError, TypeError) as error:
            raise RecordError(
                f"{path}, record {number}: expected PoQuAD's title and paragraphs [{{context, qas}}], came {error!r}"
            ) from None
    paragraphs = [(title, Document(title, p["text"]), p["qas"]) for title, texts in articles for p in texts]
    # Distractors come from the same split, so that no document crosses.
    inside = [p for p in paragraphs if split is None or split_of(f"poquad:{p[0]}", shares) == split]
    return [
        _example(title, document, qa, f"poquad:{split}:{i}:{j}", inside, seed)
        for i, (title, document, qas) in enumerate(inside)
        for j, qa in enumerate(qas)
        if not qa["is_impossible"] and qa["answers"][0]["text"].strip()
    ]


def _example(
    title: str, document: Document, qa: dict[str, Any], identity: str, paragraphs: list[Any], seed: int
) -> Example:
    rng = random.Random(f"{seed}:{identity}")
    others = [d for other, d, _ in rng.sample(paragraphs, min(len(paragraphs), 3 * DOCUMENTS)) if other != title]
    documents = [document, *others[: DOCUMENTS - 1]]
    rng.shuffle(documents)
    question, answer = qa["question"].strip(), qa["answers"][0]["text"].strip()
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
    return Example(
        id=identity,
        lang=LANG,
        group=f"poquad:{title}",
        question=question,
        answer=answer,
        documents=tuple(documents),
        statements=(statement,),
        meta={"source": "poquad"},
    )
