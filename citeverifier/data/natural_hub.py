"""Natural labelled sources on the Hugging Face hub, as pairs: FEVER with gold evidence, LLM-AggreFact, RAGTruth.

`path` is a hub id, or a folder that holds the dataset's own files. Splits are the datasets' own, so nothing is hashed
that they keep apart; `split` is the role that is read ("train", "dev" or "test").
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from citeverifier.data.hub import stream_rows
from citeverifier.data.natural import (
    FEVER_LABELS,
    FEVER_SENTENCES,
    Row,
    fever_documents,
    label_of,
    labelled_pair,
    part_of,
)
from citeverifier.data.pair_recipes import BELOW_FULL, FULL
from citeverifier.records import Document, Pair, RecordError
from citeverifier.text.markers import sentence_spans
from citeverifier.text.sentences import sentences

log = logging.getLogger(__name__)

_AGGREFACT_LABELS = {1: FULL, 0: BELOW_FULL}
_RAGTRUTH_SHARES = {"train": 0.9, "dev": 0.1}
_PASSAGE = re.compile(r"passage \d+:", re.IGNORECASE)

Item = TypeVar("Item")


def _rows(path: str, split: str, revision: str | None, columns: Mapping[str, type]) -> Iterator[Row]:
    """Numbered rows of a hub split; raises RecordError with dataset, split and record where a column is not as told."""
    for number, row in enumerate(stream_rows(path, None, split, revision), 1):
        for name, kind in columns.items():
            if not isinstance(row.get(name), kind):
                came = f"{type(row[name]).__name__} {str(row[name])[:60]!r}" if name in row else "none"
                raise RecordError(
                    f"{path}/{split}, record {number}: expected column {name} of type {kind.__name__}, got {came}"
                )
        yield number, row


def _hub_split(splits: Mapping[str, str], role: str) -> str:
    if role not in splits:
        raise ValueError(f"expected a split of {', '.join(splits)}, got {role!r}")
    return splits[role]


def _drawn(items: Iterable[Item], limit: int | None) -> list[Item]:
    """All of them, or `limit` drawn (the same in every run), in their order."""
    found = list(items)
    if limit is None or limit >= len(found):
        return found
    return [found[i] for i in sorted(random.Random(13).sample(range(len(found)), limit))]


def load_fever_hub(
    path: str,
    split: str = "test",
    hub_revision: str | None = None,
    claims: int | None = None,
    distractors: bool = False,
    seed: int = 13,
) -> list[Pair]:
    """FEVER claims with gold evidence of `copenlu/fever_gold_evidence` (main: JSONL files; its own three splits).

    A row is a claim with one set of evidence: `claim`, `label`, `evidence` [[page, sentence number, sentence]], besides
    `id`, `original_id` and `verifiable`. Labels as in `natural.load_fever`; NOT ENOUGH INFO, whose evidence a system
    chose, and sets of no sentence or more than three are left out. `claims`: so many drawn at random, None = all. The
    group is the first page.
    """
    hub_split = _hub_split({"train": "train", "dev": "validation", "test": "test"}, split)
    where = f"{path}/{hub_split}"
    usable, left_out = [], 0
    for number, row in _rows(path, hub_split, hub_revision, {"claim": str, "label": str, "evidence": list}):
        if row["label"] == "NOT ENOUGH INFO":
            left_out += 1
            continue
        label = label_of(FEVER_LABELS, row["label"], where, number)
        try:
            evidence = [(page, text) for page, _, text in row["evidence"] if text.strip()]
        except (AttributeError, TypeError, ValueError):
            raise RecordError(
                f"{where}, record {number}: expected evidence [[page, sentence number, sentence]], "
                f"got {str(row['evidence'])[:60]!r}"
            ) from None
        if 0 < len(evidence) <= FEVER_SENTENCES:
            usable.append((number, row["claim"], evidence, label))
        else:
            left_out += 1
    log.info("%s: %d claims, %d left out", where, len(usable), left_out)
    pairs = [
        labelled_pair("fever", f"{split}-{number}", evidence[0][0], claim, fever_documents(evidence), label)
        for number, claim, evidence, label in _drawn(usable, claims)
    ]
    return part_of(pairs, None, {}, distractors, seed)


def load_llm_aggrefact(
    path: str, split: str = "test", hub_revision: str | None = None, claims: int | None = None
) -> list[Pair]:
    """LLM-AggreFact (Tang et al. 2024), `lytang/LLM-AggreFact` (main: parquet): 1 = full, 0 = none to partial.

    Gated: its terms are accepted on the hub, then `hf auth login`. They allow evaluation alone: there is dev
    and test. A row has `dataset`, `doc`, `claim`, `label` and `contamination_identifier`; the pair's kind names the
    dataset. `claims`: so many drawn at random, None = all.
    """
    hub_split = _hub_split({"dev": "dev", "test": "test"}, split)
    rows = _rows(path, hub_split, hub_revision, {"dataset": str, "doc": str, "claim": str, "label": int})
    return [
        labelled_pair(
            "llm_aggrefact",
            f"{split}-{number}",
            _digest(row["doc"]),
            row["claim"],
            [Document("", row["doc"].strip())],
            label_of(_AGGREFACT_LABELS, row["label"], f"{path}/{hub_split}", number),
            kind=row["dataset"],
        )
        for number, row in _drawn(rows, claims)
    ]


def load_ragtruth(
    path: str,
    split: str = "test",
    shares: Mapping[str, float] = _RAGTRUTH_SHARES,
    hub_revision: str | None = None,
    answers: int | None = None,
) -> list[Pair]:
    """RAGTruth (Niu et al. 2024), `wandb/RAGTruth-processed` (main: parquet), a pair a sentence of an answer.

    A row is an answer: `output`, `context` (what it was given), `query`, `task_type`, `quality`, and
    `hallucination_labels`, a JSON list of spans of the output ({"start", "end", ...}). A sentence that overlaps a span
    is none to partial, any other full; spans that are true but stand nowhere in the context count as well. The pair's
    kind names the task, answers to one context share a group. Answers of another quality than "good" (refusals, cut
    ones), empty ones and those whose spans lie outside of them are left out, and counted. "train" and "dev" are parts
    of the hub's train split by `shares` of groups; `answers`: so many drawn at random, None = all.
    """
    hub_split = "test" if split == "test" else "train"
    columns = dict.fromkeys(("context", "query", "output", "task_type", "quality", "hallucination_labels"), str)
    pairs: list[Pair] = []
    unused = 0
    for number, row in _drawn(_rows(path, hub_split, hub_revision, columns), answers):
        spans = _spans(row["hallucination_labels"], f"{path}/{hub_split}", number)
        made = _answer_pairs(number, row, spans, hub_split) if row["quality"] == "good" else []
        unused += not made
        pairs += made
    if unused:
        log.warning(
            "%s/%s: %d answers left out (refused, cut, empty, or spans outside of them)", path, hub_split, unused
        )
    return part_of(pairs, None if split == "test" else split, shares, False, 13)


def _spans(labels: Any, where: str | Path, number: int) -> list[tuple[int, int]]:
    try:
        spans = [(label["start"], label["end"]) for label in json.loads(labels)]
        if all(isinstance(start, int) and isinstance(end, int) and 0 <= start < end for start, end in spans):
            return spans
    except (KeyError, TypeError, ValueError):
        pass
    raise RecordError(
        f'{where}, record {number}: expected hallucination_labels as JSON [{{"start": 0, "end": 9, ...}}], '
        f"got {str(labels)[:60]!r}"
    )


def _answer_pairs(number: int, row: Mapping[str, Any], spans: list[tuple[int, int]], hub_split: str) -> list[Pair]:
    """A pair a sentence; none where a span touches no sentence, for the answer's labels cannot be trusted then."""
    text = row["output"]
    where = sentence_spans(text, sentences(text, "en"))
    touched = [{i for i, (start, end) in enumerate(where) if start < b and a < end} for a, b in spans]
    if not all(touched):
        return []
    unsupported = set().union(*touched)
    answer = labelled_pair(
        "ragtruth",
        f"{hub_split}-{number}",
        _digest(row["context"]),
        text,
        [Document("", passage) for passage in _passages(row["context"])],
        FULL,
        kind=f"ragtruth-{row['task_type']}",
        context=row["query"],
    )
    made = []
    for i, (start, end) in enumerate(where):
        low, high = BELOW_FULL if i in unsupported else FULL
        identity = f"{answer.id}/s{i}"
        sentence = replace(answer, id=identity, statement_id=identity, statement=text[start:end])
        made.append(replace(sentence, support_min=low, support_max=high))
    return made


def _passages(context: str) -> list[str]:
    """A question's numbered passages each by itself; any other context whole."""
    if not _PASSAGE.match(context.lstrip()):
        return [context.strip()]
    return [passage.strip() for passage in _PASSAGE.split(context) if passage.strip()] or [context]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
