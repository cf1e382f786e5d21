"""Stage `pack`: the finished datasets. Pairs and examples by split, as JSONL and parquet, with a dataset card.

Splits go by group. Training data that holds a document or a statement of the dev or test pairs is left out and counted.
The stage's file is read once per split and recipe; besides counts, only hashes of the dev and test texts are held.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from citeverifier.data.load import PairBuilder
from citeverifier.data.pair_recipes import BELOW_FULL, FULL
from citeverifier.data.splits import SHARES
from citeverifier.records import (
    Document,
    Example,
    Pair,
    Support,
    example_to_json,
    pair_to_json,
    statement_id,
    write_jsonl,
)
from citeverifier.text.words import normalise
from data_gen.parquet import write_parquet
from data_gen.splitting import split
from data_gen.stage import read_stage

SPLITS = ("test", "dev", "train")  # train last: it gives way to the other two
ENTRY = ("stage", "model", "fingerprint", "prompt", "version")


@dataclass(frozen=True)
class Recipe:
    """How pairs are built from the examples of a chain of stages, and how many training pairs of each kind are wanted.

    `sizes`: kind pattern ("supported", "*") to number, null for all there are; kinds that fit no pattern are left out.
    Dev and test take the same in proportion to their shares.
    """

    build: PairBuilder
    sizes: Mapping[str, int | None]
    chain: str = "main"


@dataclass
class Packed:
    """What was written: records by (dataset, split, lang, kind); what was left out, by reason; who made it."""

    counts: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    short: dict[str, str] = field(default_factory=dict)
    makers: Counter[tuple[str | None, ...]] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    reviews: Counter[tuple[str, str]] = field(default_factory=Counter)
    files: dict[str, str] = field(default_factory=dict)

    def total(self, dataset: str, split: str | None = None) -> int:
        """How many records of a dataset, in one split or in all."""
        return sum(n for (d, s, _, _), n in self.counts.items() if d == dataset and split in (None, s))


def pack(
    chains: Mapping[str, Path],
    folder: Path,
    *,
    recipes: Mapping[str, Recipe],
    examples: bool,
    max_examples: int | None = None,
    shares: Mapping[str, float] = SHARES,
) -> Packed:
    """Write the records of each chain's last file as datasets into `folder`; returns what was written.

    Pairs go to {train,dev,test}.jsonl, examples (where asked for) to examples_{split}.jsonl, the same to parquet/.
    max_examples: at most so many questions, all of their languages, in the order they come. Splits without a record get
    no file. Raises ValueError where nothing at all is left.
    """
    packed = Packed()
    held_out: set[bytes] = set()
    for name in (name for name in SPLITS if name in shares):
        hashes: set[bytes] | None = None if name == "train" else held_out
        if recipes:
            rows = _pairs(chains, name, recipes, shares, max_examples, held_out, hashes, packed)
            _write(folder, f"{name}.jsonl", rows, packed)
        if examples:
            rows = _examples(chains["main"], name, shares, max_examples, held_out, packed)
            _write(folder, f"examples_{name}.jsonl", rows, packed)
    if not packed.counts:
        raise ValueError("no records left to pack; the table above says where they were dropped")
    for before in chains.values():
        _describe(before, packed)
    write_parquet(folder, list(packed.files))
    for path in sorted((folder / "parquet").glob("*.parquet")):
        packed.files[f"parquet/{path.name}"] = _sha256(path)
    return packed


def _describe(before: Path, packed: Packed) -> None:
    """Count where the questions come from, which models and prompts worked on them, and who reviewed them."""
    for example in read_stage(before):
        meta = tidy_meta(example.meta)
        packed.sources[meta["source"] or "unknown"] += 1
        packed.makers.update(tuple(entry[key] for key in ENTRY) for entry in meta["made"])
        packed.reviews.update((e["decision"], e["reviewer"]) for e in meta["review"] if e["decision"])


def _write(folder: Path, name: str, rows: Iterable[Mapping[str, Any]], packed: Packed) -> None:
    path = folder / name
    if write_jsonl(path, rows):
        packed.files[name] = _sha256(path)
    else:
        path.unlink()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _of_split(before: Path, name: str, shares: Mapping[str, float], limit: int | None) -> Iterator[Example]:
    """The examples of a split, of the first `limit` questions of the whole file."""
    last, taken = None, 0
    for example in read_stage(before):
        if example.id != last:
            taken += 1
            last = example.id
        if limit is not None and taken > limit:
            return
        if split(example, shares) == name:
            yield example


def _hash(text: str) -> bytes:
    return hashlib.sha256(normalise(text).encode()).digest()[:12]


def _leaks(documents: Iterable[Document], statements: Iterable[str], held_out: set[bytes]) -> str | None:
    if any(_hash(document.text) in held_out for document in documents):
        return "document in dev or test"
    if any(_hash(statement) in held_out for statement in statements):
        return "statement in dev or test"
    return None


def _pairs(
    chains: Mapping[str, Path],
    name: str,
    recipes: Mapping[str, Recipe],
    shares: Mapping[str, float],
    limit: int | None,
    held_out: set[bytes],
    hashes: set[bytes] | None,
    packed: Packed,
) -> Iterator[dict[str, Any]]:
    """The pairs of a split as JSON, each recipe in turn; `hashes` collects texts that training must avoid."""
    for recipe_name, recipe in recipes.items():
        if recipe.chain not in chains:
            continue
        share = shares[name] / shares.get("train", sum(shares.values()))
        wanted = {
            kind: None if size is None else size if name == "train" else round(size * share)
            for kind, size in recipe.sizes.items()
        }
        taken: Counter[str] = Counter()
        recent = _Recent(_of_split(chains[recipe.chain], name, shares, limit))
        for pair in recipe.build(recent):
            kind = next((kind for kind in wanted if fnmatch(pair.kind.split(":")[0], kind)), None)
            if kind is None:
                packed.left_out[f"{recipe_name}: kind not asked for"] += 1
                continue
            size = wanted[kind]
            if size is not None and taken[kind] >= size:
                packed.left_out[f"{recipe_name}: more than asked for"] += 1
                if all(w is not None and taken[k] >= w for k, w in wanted.items()):
                    break
                continue
            leak = _leaks(pair.documents, (pair.statement,), held_out) if name == "train" else None
            if leak is not None:
                packed.left_out[f"{recipe_name}: {leak}"] += 1
                continue
            if hashes is not None:
                hashes.update(_hash(document.text) for document in pair.documents)
                hashes.add(_hash(pair.statement))
            taken[kind] += 1
            packed.counts["pairs", name, pair.lang, f"{recipe_name}: {pair.kind.split(':')[0]}"] += 1
            yield pair_to_json(pair) | {"meta": recent.meta(pair)}
        for kind, size in wanted.items():
            if size is not None and taken[kind] < size and name == "train":
                packed.short[f"{recipe_name}: {kind}"] = f"{taken[kind]:,} of {size:,}"


class _Recent:
    """Passes examples on and remembers the meta of the last ones, which pairs are built from."""

    def __init__(self, examples: Iterator[Example]) -> None:
        self._examples = examples
        self._order: deque[tuple[str, str]] = deque()
        self._meta: dict[tuple[str, str], dict[str, Any]] = {}

    def __iter__(self) -> Iterator[Example]:
        for example in self._examples:
            key = (example.id, example.lang)
            self._order.append(key)
            self._meta[key] = tidy_meta(example.meta)
            while len(self._order) > 16:
                self._meta.pop(self._order.popleft(), None)
            yield example

    def meta(self, pair: Pair) -> dict[str, Any]:
        """Source and makers of the example that a pair was built from."""
        found = self._meta[pair.example, pair.lang]
        return {"source": found["source"], "made": found["made"]}


def _examples(
    before: Path, name: str, shares: Mapping[str, float], limit: int | None, held_out: set[bytes], packed: Packed
) -> Iterator[dict[str, Any]]:
    for example in _of_split(before, name, shares, limit):
        texts = [statement.text for statement in example.statements]
        leak = _leaks(example.documents, texts, held_out) if name == "train" else None
        if leak is not None:
            packed.left_out[f"examples: {leak}"] += 1
            continue
        meta = tidy_meta(example.meta)
        cited = [statement for statement in example.statements if statement.citations]
        packed.counts["examples", name, example.lang, "questions"] += 1
        packed.counts["examples", name, example.lang, "statements"] += len(cited)
        packed.counts["examples", name, example.lang, "twins"] += sum(s.corrupted is not None for s in cited)
        yield example_to_json(example) | {"meta": meta}


def tidy_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """A record's meta with the same keys in every record, as parquet needs them."""
    return {
        "source": meta.get("source"),
        "type": meta.get("type"),
        "split": meta.get("split"),
        "reference": meta.get("reference"),
        "hard_negatives": list(meta.get("hard_negatives", ())),
        "made": [{key: entry.get(key) for key in ENTRY} for entry in meta.get("made", ())],
        "review": list(meta.get("review", ())),
    }


def packed_rows(packed: Packed) -> tuple[list[str], list[list[str]]]:
    """(header, rows): one row a dataset, language and kind, a column a split."""
    splits = [name for name in reversed(SPLITS) if any(split == name for _, split, _, _ in packed.counts)]
    keys = sorted({(dataset, lang, kind) for dataset, _, lang, kind in packed.counts})
    rows = [[*key, *(f"{packed.counts[key[0], name, key[1], key[2]]:,}" for name in splits)] for key in keys]
    return ["dataset", "language", "kind", *splits], rows


# --- pairs of pipeline=citefix -------------------------------------------------------------------------------------


def point_pairs(examples: Iterable[Example]) -> Iterator[Pair]:
    """Two pairs a factual point: with the document that states it (full), with the like one (none to partial)."""
    for example in examples:
        for number, statement in enumerate(example.statements):
            nearest = example.meta.get("nearest")
            for how, document, (low, high) in (("point", 0, FULL), ("point_nearest", 1, BELOW_FULL)):
                yield _pair(example, number, how, f"{statement.kind}:{nearest}", document, low, high)


def judged_pairs(examples: Iterable[Example]) -> Iterator[Pair]:
    """A pair for each verdict in meta's `judged`: the statement, the document, the level that the LLM proved."""
    for example in examples:
        for number, position, support in example.meta.get("judged", ()):
            level = Support.parse(support)
            yield _pair(example, number, "judged", example.statements[number].kind, position, level, level)


def _pair(example: Example, number: int, how: str, kind: str, position: int, low: Support, high: Support) -> Pair:
    identity = statement_id(example, number)
    return Pair(
        id=f"{identity}/{example.lang}/{how}/{position}",
        example=example.id,
        statement_id=identity,
        lang=example.lang,
        group=example.group,
        statement=example.statements[number].text,
        documents=(example.documents[position],),
        kind=f"{how}:{kind}",
        context=example.question or None,
        support_min=low,
        support_max=high,
    )
