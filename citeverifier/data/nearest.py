"""Pairs for paper 4's fine-tuned matching: a statement with a document it cites, and with one that is only like it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from citeverifier.data.pairs import AT_LEAST_PARTIAL, NONE
from citeverifier.records import Document, Example, Pair, statement_id
from citeverifier.text.bm25 import collection, relative_bm25
from citeverifier.text.rendering import render_document
from citeverifier.text.words import words


def nearest_pairs(examples: Iterable[Example], *, ns: Sequence[int] = (5, 3, 1)) -> Iterator[Pair]:
    """For each citation a positive pair, and for each n a negative one: the n-th nearest document that is not cited.

    Nearness is BM25 of the cited document among the example's own; where fewer are left than n, the last one counts.
    The smaller n, the harder. `statement_id` ends in the cited document's position: what is contrasted shares it.
    Raises ValueError for an n below 1.
    """
    if not ns or min(ns) < 1:
        raise ValueError(f"pairs.build.ns: expected numbers from 1, came {list(ns)}")
    for example in examples:
        for number, statement in enumerate(example.statements):
            others = [d for i, d in enumerate(example.documents) if i not in statement.citations]
            for position in statement.citations if others else ():
                identity = f"{statement_id(example, number)}/d{position}"
                positive = Pair(
                    id=f"{identity}/{example.lang}/cited",
                    example=example.id,
                    statement_id=identity,
                    lang=example.lang,
                    group=example.group,
                    statement=statement.text,
                    documents=(example.documents[position],),
                    kind=f"cited:{statement.kind}",
                    support_min=AT_LEAST_PARTIAL[0],
                    support_max=AT_LEAST_PARTIAL[1],
                )
                yield positive
                near = _by_nearness(example.documents[position], others)
                for n in dict.fromkeys(min(n, len(near)) for n in ns):
                    yield replace(
                        positive,
                        id=f"{identity}/{example.lang}/nearest{n}",
                        documents=(near[n - 1],),
                        kind=f"nearest_{n}:{statement.kind}",
                        support_min=NONE[0],
                        support_max=NONE[1],
                    )


def _by_nearness(document: Document, others: Sequence[Document]) -> list[Document]:
    query, *texts = (words(render_document(each)) for each in (document, *others))
    if not query:
        return list(others)
    known = collection(texts)
    values = [relative_bm25(query, [text], known) for text in texts]
    return [others[i] for i in sorted(range(len(others)), key=lambda i: -values[i])]
