"""Natural labelled sources: people's (or a model's) claims with their evidence, as pairs.

FEVER, FactCG, WiCE, AttributionBench and the judgements of generative search engines read from their published files; a
row becomes one `Pair` whose interval says no more than the label does: a binary source's "unsupported" and a refuted
claim are none to partial.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from citeverifier.data.pair_recipes import BELOW_FULL, FULL, NONE, PARTIAL, Interval, with_distractors
from citeverifier.data.splits import SHARES, in_split, tie
from citeverifier.records import Document, Pair, RecordError, read_jsonl

log = logging.getLogger(__name__)

Row = tuple[int, Mapping[str, Any]]

FEVER_LABELS = {"SUPPORTS": FULL, "REFUTES": BELOW_FULL}
FEVER_SENTENCES = 3  # claims with more evidence are left out
_FEVER_KEYS = ("id", "question", "pars", "evidence", "label")


def _rows(path: str | Path, *keys: str) -> Iterator[Row]:
    """Numbered rows of a source's file; raises RecordError with file:line where one lacks a key."""

    yield from enumerate(read_jsonl(path, lambda row: _with_keys(row, keys)), 1)


def _with_keys(row: Mapping[str, Any], keys: Sequence[str]) -> Mapping[str, Any]:
    if missing := [key for key in keys if key not in row]:
        raise RecordError(f"expected the keys {', '.join(keys)}, got a row without {', '.join(missing)}")
    return row


def label_of(labels: Mapping[Any, Interval], value: Any, path: str | Path, number: int) -> Interval:
    """What a source's label says; raises RecordError with file and record where it is none of those known."""
    if value not in labels:
        known = ", ".join(repr(label) for label in labels)
        raise RecordError(f"{path}, record {number}: expected a label of {known}, got {value!r}")
    return labels[value]


def labelled_pair(
    source: str,
    number: int | str,
    group: str,
    claim: str,
    documents: list[Document],
    label: Interval,
    kind: str = "",
    context: str | None = None,
) -> Pair:
    """An English pair of a source's record; `kind` names its part of the source, else the source."""
    identity = f"{source}:{number}"
    return Pair(
        id=identity,
        example=identity,
        statement_id=identity,
        lang="en",
        group=f"{source}:{group}",
        statement=claim.strip(),
        documents=tuple(documents),
        kind=f"labelled:{kind or source}",
        context=context,
        support_min=label[0],
        support_max=label[1],
    )


def _wiki_title(page: str) -> str:
    brackets = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-COLON-": ":"}
    for code, sign in brackets.items():
        page = page.replace(code, sign)
    return page.replace("_", " ")


def _detokenise(text: str) -> str:
    """FEVER's sentences as people write them: no blanks before punctuation, brackets decoded."""
    text = text.replace("-LRB- ", "(").replace(" -RRB-", ")").replace("-LSB- ", "[").replace(" -RSB-", "]")
    text = re.sub(r"`` | ''", '"', text)
    return re.sub(r" ([.,;:?!%)]|'s\b|n't\b)", r"\1", text)


def part_of(
    pairs: list[Pair], split: str | None, shares: Mapping[str, float], distractors: bool, seed: int
) -> list[Pair]:
    """The pairs of a split, for training with distractors; these come from the same split."""
    chosen = [pair for pair in in_split(pairs, split, shares) if isinstance(pair, Pair)]
    return list(with_distractors(chosen, seed=seed)) if distractors else chosen


def load_fever(
    path: str | Path,
    split: str | None = None,
    shares: Mapping[str, float] = SHARES,
    distractors: bool = False,
    seed: int = 13,
    titles: bool = True,
) -> list[Pair]:
    """FEVER claims with gold evidence (Thorne et al. 2018): SUPPORTS = full, REFUTES = none to partial.

    A claim's sentences of one page form a document under the page's title. Claims that share a page share a group.
    With `distractors`, premises are padded and irrelevant ones added (for training). Without `titles`, documents have
    none, as a retriever's passages often come.
    """
    rows = [(number, row) for number, row in _rows(path, *_FEVER_KEYS) if len(row["pars"]) <= FEVER_SENTENCES]
    pages = [_fever_pages(row) for _, row in rows]
    pairs = []
    for (number, row), on_pages, group in zip(rows, pages, tie([sorted(set(p)) for p in pages]), strict=True):
        documents = fever_documents(zip(on_pages, row["pars"], strict=True))
        if not titles:
            documents = [replace(document, title="") for document in documents]
        label = label_of(FEVER_LABELS, row["label"], path, number)
        pairs.append(labelled_pair("fever", number, group, row["question"], documents, label))
    return part_of(pairs, split, shares, distractors, seed)


def fever_documents(evidence: Iterable[tuple[str, str]]) -> list[Document]:
    """FEVER's evidence, (page, sentence) each, as documents: a page's sentences under its title."""
    texts: dict[str, list[str]] = {}
    for page, sentence in evidence:
        texts.setdefault(page, []).append(_detokenise(sentence))
    return [Document(_wiki_title(page), " ".join(sentences)) for page, sentences in texts.items()]


def _fever_pages(row: Mapping[str, Any]) -> list[str]:
    """The page of each evidence sentence in `pars` (distinct sentences, in the order of the annotations)."""
    seen: dict[tuple[str, int], None] = {}
    for annotation in row["evidence"]:
        for _, _, page, sentence in annotation:
            seen[(page, sentence)] = None
    pages = [page for page, _ in seen]
    if len(pages) == len(row["pars"]):
        return pages
    return [pages[0] if pages else str(row["id"])] * len(row["pars"])


def load_factcg(
    path: str | Path,
    split: str | None = None,
    shares: Mapping[str, float] = SHARES,
    distractors: bool = False,
    seed: int = 13,
) -> list[Pair]:
    """FactCG's synthetic claims on documents (Lei et al. 2025): 1 = full, 0 = none to partial.

    A claim comes with its document and with altered versions of it, so a claim names the group.
    """
    labels = {1: FULL, 0: BELOW_FULL}
    rows = list(_rows(path, "text_a", "text_b", "orig_label"))
    groups = tie([[row["text_b"][0], row["text_a"]] for _, row in rows])
    pairs = [
        labelled_pair(
            "factcg",
            number,
            group[:40],
            row["text_b"][0],
            [Document("", row["text_a"])],
            label_of(labels, row["orig_label"], path, number),
        )
        for (number, row), group in zip(rows, groups, strict=True)
    ]
    return part_of(pairs, split, shares, distractors, seed)


def load_wice(path: str | Path) -> list[Pair]:
    """WiCE claims (Kamoi et al. 2023) with people's three-level judgements; a page's sentences form one document.

    Evidence is every sentence that any annotator took support from, where the file says (`supporting_sentences`).
    """
    labels = {"supported": FULL, "partially_supported": PARTIAL, "not_supported": NONE}
    pairs = []
    for number, row in _rows(path, "claim", "evidence", "label", "meta"):
        sentences = [s.removeprefix("(meta data) ") for s in row["evidence"]]
        title = ""
        if sentences and sentences[0].startswith("TITLE: "):
            title, sentences = sentences[0].removeprefix("TITLE: "), sentences[1:]
        document = Document(title, " ".join(sentences))
        label = label_of(labels, row["label"], path, number)
        pair = labelled_pair("wice", number, str(row["meta"]["id"]), row["claim"], [document], label)
        chosen = sorted({position for one in row.get("supporting_sentences") or () for position in one})
        if chosen and not 0 <= chosen[0] <= chosen[-1] < len(row["evidence"]):
            raise RecordError(
                f"{path}, record {number}: expected supporting_sentences below {len(row['evidence'])}, got {chosen}"
            )
        pairs.append(replace(pair, evidence=tuple(row["evidence"][i].removeprefix("(meta data) ") for i in chosen)))
    return pairs


def load_attributionbench(path: str | Path) -> list[Pair]:
    """AttributionBench claims and references (Li et al. 2024): attributable = full, else none to partial.

    The pair's kind names the source dataset; the question is its context.
    """
    labels = {"attributable": FULL, "not attributable": BELOW_FULL}
    pairs = []
    for number, row in _rows(path, "question", "claim", "references", "attribution_label", "src_dataset"):
        documents = [_titled(reference) for reference in row["references"] if reference.strip()]
        label = label_of(labels, row["attribution_label"], path, number)
        if documents:
            pairs.append(
                labelled_pair(
                    "attributionbench",
                    number,
                    row["question"],
                    row["claim"],
                    documents,
                    label,
                    kind=row["src_dataset"],
                    context=row["question"],
                )
            )
    return pairs


def load_gensearch(path: str | Path) -> list[Pair]:
    """People's judgements of generative search engines' citations (Liu et al. 2023), a pair a citation.

    Rows are those of the published verifiability judgements (statement, source's text, judgement, evidence). A
    statement's citations share its `statement_id`, a query's a group; evidence comes a sentence a line. Citations whose
    page has no text are left out, and counted in a warning.
    """
    labels = {"complete_support": FULL, "partial_support": PARTIAL, "no_support": NONE}
    pairs, empty = [], 0
    for number, row in _rows(path, "query", "response", "statement", "source_text", "source_supports_statement"):
        label = label_of(labels, row["source_supports_statement"], path, number)
        if not row["source_text"] or not row["source_text"].strip():
            empty += 1
            continue
        title = row.get("source_content_title") or row.get("source_title") or ""
        document = Document(title, row["source_text"].strip())
        pair = labelled_pair(
            "gensearch", number, row["query"], row["statement"], [document], label, context=row["query"]
        )
        answer = hashlib.sha256("\n".join((row["query"], row["response"])).encode()).hexdigest()[:12]
        statement = hashlib.sha256(row["statement"].encode()).hexdigest()[:12]
        lines = (row.get("source_localized_evidence") or "").splitlines()
        pairs.append(
            replace(
                pair,
                example=f"gensearch:{answer}",
                statement_id=f"gensearch:{answer}/{statement}",
                evidence=tuple(line.strip() for line in lines if line.strip()),
            )
        )
    if empty:
        log.warning("%s: %d citations of pages without text left out", path, empty)
    return pairs


def _titled(reference: str) -> Document:
    match = re.match(r"Title: (.*?)\n+(?:Section: .*?\n+)?(.+)", reference, re.DOTALL)
    return Document(match.group(1).strip(), match.group(2).strip()) if match else Document("", reference.strip())
