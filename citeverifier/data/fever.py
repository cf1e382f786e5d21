"""FEVER claims with gold evidence (Thorne et al. 2018): SUPPORTS = full, REFUTES = none to partial.

From a published file (question, pars, evidence, label), where claims that share a page share a group, or from the hub's
`copenlu/fever_gold_evidence` (claim, label, evidence [[page, sentence number, sentence]]), which has splits of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from citeverifier.data.claims import labelled_pair, part_of
from citeverifier.data.pair_recipes import BELOW_FULL, FULL
from citeverifier.data.rows import SourceRow, drawn, is_hub, read_rows
from citeverifier.data.splits import SHARES, tie
from citeverifier.records import Document, Pair, RecordError
from citeverifier.text.words import detokenised

_LABELS = {"SUPPORTS": FULL, "REFUTES": BELOW_FULL}
_SENTENCES = 3  # claims with more evidence are left out
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-COLON-": ":"}


def load_fever(
    path: str | Path,
    split: str | None = None,
    shares: Mapping[str, float] = SHARES,
    rows: int | None = None,
    titles: bool = True,
) -> list[Pair]:
    """FEVER's claims as pairs; a claim's sentences of one page form a document under the page's title.

    In training and dev premises are padded and irrelevant ones added.

    Args:
        path: a file, split by `shares` of groups, or the hub id (a folder with its files).
        split: "train", "dev" or "test"; of a file, None = all.
        rows: so many claims, drawn; None = all.
        titles: False = documents without titles, as a retriever's passages often come.
    """
    if is_hub(path):
        pairs = part_of(drawn(_hub_claims(path, split), rows), split, None)
    else:
        pairs = part_of(drawn(_file_claims(path), rows), split, shares)
    if titles:
        return pairs
    return [replace(p, documents=tuple(replace(document, title="") for document in p.documents)) for p in pairs]


def _file_claims(path: str | Path) -> list[Pair]:
    columns = dict.fromkeys(("id", "question", "pars", "evidence", "label"), object)
    rows = [row for row in read_rows(path, columns) if len(row["pars"]) <= _SENTENCES]
    pages = [_pages(row) for row in rows]
    groups = tie([sorted(set(of_row)) for of_row in pages])
    return [
        labelled_pair(
            "fever", row.number, group, row["question"],
            _documents(zip(of_row, row["pars"], strict=True)), row.interval("label", _LABELS),
        )
        for row, of_row, group in zip(rows, pages, groups, strict=True)
    ]  # fmt: skip


def _pages(row: SourceRow) -> list[str]:
    """The page of each evidence sentence in `pars` (distinct sentences, in the order of the annotations)."""
    sentences = dict.fromkeys((page, number) for annotation in row["evidence"] for _, _, page, number in annotation)
    pages = [page for page, _ in sentences]
    if len(pages) == len(row["pars"]):
        return pages
    return [pages[0] if pages else str(row["id"])] * len(row["pars"])


def _hub_claims(path: str | Path, split: str | None) -> list[Pair]:
    pairs = []
    for row in read_rows(path, {"claim": str, "label": str, "evidence": list}, split=split or "train"):
        if row["label"] == "NOT ENOUGH INFO":  # a system chose its evidence
            continue
        label = row.interval("label", _LABELS)
        try:
            evidence = [(page, text) for page, _, text in row["evidence"] if text.strip()]
        except (AttributeError, TypeError, ValueError):
            raise RecordError(
                f"{row.where}: key 'evidence': expected [[page, sentence number, sentence]], "
                f"got {str(row['evidence'])[:60]!r}"
            ) from None
        if 0 < len(evidence) <= _SENTENCES:
            identity, page = f"{split}-{row.number}", evidence[0][0]
            pairs.append(labelled_pair("fever", identity, page, row["claim"], _documents(evidence), label))
    return pairs


def _documents(evidence: Iterable[tuple[str, str]]) -> list[Document]:
    """Evidence, (page, sentence) each, as documents: a page's sentences under its title."""
    texts: dict[str, list[str]] = {}
    for page, sentence in evidence:
        texts.setdefault(page, []).append(detokenised(sentence))
    return [Document(_title(page), " ".join(sentences)) for page, sentences in texts.items()]


def _title(page: str) -> str:
    for code, sign in _BRACKETS.items():
        page = page.replace(code, sign)
    return page.replace("_", " ")
