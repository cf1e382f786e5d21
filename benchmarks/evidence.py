"""How often the evidence sentence of `verify` is one that people chose, and how many it reads.

    CITEVERIFIER_REAL_DATA=... python benchmarks/evidence.py [--most 150]

Sources with known sentences: authored statements over HotpotQA (its supporting facts), PoQuAD (the sentence of the
answer), WiCE (the sentences that people took support from; pages of up to 60 sentences). Compared: the candidates that
`verify` reads; all sentences read, the best score taken; word overlap alone. Documents of at least three sentences,
drawn by seed. 95 % intervals by bootstrap over groups.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from citeverifier.answers.evidence import READ, Candidate, candidates
from citeverifier.data.claims import load_wice
from citeverifier.data.hotpot_statements import load_hotpot_statements
from citeverifier.evaluation.reporting.tables import print_table
from citeverifier.evaluation.schemes.base import value_text
from citeverifier.metrics.bootstrap import Resamples, mean_estimate, resamples
from citeverifier.records import Document, Pair, Support
from citeverifier.verifiers.ordinal import OrdinalVerifier

WAYS = ("as verify", "all sentences read", "word overlap")


@dataclass(frozen=True)
class Known:
    """A statement, a document that supports it, and where in its text people found that."""

    statement: str
    document: Document
    lang: str
    group: str
    spans: tuple[tuple[int, int], ...]


def hotpotqa(folder: Path, lang: str) -> Iterator[Known]:
    """Authored statements; the supporting facts of a document are those of its question."""
    file = folder / "hotpotqa/hotpot_distractor_dev_sample.json.gz"
    facts = {row["_id"]: row for row in json.loads(gzip.decompress(file.read_bytes()))}
    for example in load_hotpot_statements(file):
        row = facts[example.id.split("/")[-1].removesuffix(f":{example.lang}")]
        told: dict[str, list[str]] = dict(row["context"])
        for statement in example.statements if example.lang == lang else ():
            for i in statement.citations:
                document = example.documents[i]
                texts = [told[title][at] for title, at in row["supporting_facts"] if title == document.title]
                yield Known(statement.text, document, lang, example.group, where(document.text, texts))


def poquad(folder: Path) -> Iterator[Known]:
    """Questions with their answers."""
    for line in gzip.decompress((folder / "polish/poquad_sample.jsonl.gz").read_bytes()).splitlines():
        row = json.loads(line)
        for paragraph in row["paragraphs"]:
            for qa in paragraph["qas"]:
                for answer in [] if qa["is_impossible"] else qa["answers"][:1]:
                    start = answer["answer_start"]
                    document = Document(row["title"], paragraph["context"])
                    statement = f"{qa['question']} {answer['text']}"
                    yield Known(statement, document, "pl", row["title"], ((start, start + 1),))


def wice(folder: Path) -> Iterator[Known]:
    """Claims that a page supports, in full or in part."""
    for pair in load_wice(folder / "wice/wice_dev.jsonl.gz"):
        [document] = pair.documents
        yield Known(pair.statement, document, "en", pair.group, where(document.text, pair.evidence))


def where(text: str, sentences: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Spans of sentences in a text that holds them."""
    stripped = [sentence.strip() for sentence in sentences]
    return tuple((text.index(each), text.index(each) + len(each)) for each in stripped if each and each in text)


def row_of(name: str, known: list[Known], most: int, verifier: OrdinalVerifier) -> tuple[str, ...]:
    """A source's row: share right by each way, and how many sentences `verify` reads."""
    random.Random(13).shuffle(known)
    right: dict[str, list[float]] = {way: [] for way in WAYS}
    pairs = dict.fromkeys(WAYS[:2], 0)
    groups: list[str] = []
    for each in known:
        everything = candidates(each.statement, each.document, each.lang, most=len(each.document.text))
        if not each.spans or not 3 <= len(everything) <= 60 or len(groups) == most:
            continue
        groups.append(each.group)
        right["word overlap"].append(is_right(each, everything[0]))
        for way, found in zip(WAYS, (everything[:READ], everything), strict=False):
            asking = [Pair.of(each.statement, [candidate.premise], each.lang) for candidate in found]
            scores = verifier.score(asking, Support.PARTIAL).values.tolist()
            ranks = [candidate.rank(score) for candidate, score in zip(found, scores, strict=True)]
            pairs[way] += len(found)
            right[way].append(is_right(each, found[int(np.argmax(ranks if way == WAYS[0] else scores))]))
    sampled = resamples(groups)
    unit = sampled.of(groups)
    gains = [first - second for first, second in zip(right[WAYS[0]], right[WAYS[1]], strict=True)]
    figures = [told(values, unit, sampled) for values in (*right.values(), gains)]
    return name, str(len(groups)), *figures, f"{pairs[WAYS[0]]} of {pairs[WAYS[1]]}"


def is_right(each: Known, candidate: Candidate) -> float:
    """Whether a sentence is one that people chose."""
    return float(any(candidate.start < end and candidate.end > start for start, end in each.spans))


def told(values: list[float], unit: NDArray[np.intp], sampled: Resamples) -> str:
    """A mean with its interval."""
    mean = mean_estimate(np.array(values), unit, sampled)
    return value_text(mean.value, (mean.low, mean.high))


def main(
    folder: Annotated[Path, typer.Option(envvar="CITEVERIFIER_REAL_DATA", help="The real data (docs/data.md).")],
    most: Annotated[int, typer.Option(help="Documents of a source at most.")] = 150,
    model: Annotated[str, typer.Option(help="A checkpoint.")] = "citeverifier-small",
) -> None:
    """Evidence sentences: how often right."""
    verifier = OrdinalVerifier(model, dtype="float32")
    sources = {
        "HotpotQA": list(hotpotqa(folder, "en")), "HotpotQA, Polish statements": list(hotpotqa(folder, "pl")),
        "PoQuAD": list(poquad(folder)), "WiCE": list(wice(folder)),
    }  # fmt: skip
    header = ("source", "documents", *WAYS, "difference of the first two", "sentences read")
    print_table("evidence sentence", header, [row_of(name, own, most, verifier) for name, own in sources.items()])


if __name__ == "__main__":
    typer.run(main)
