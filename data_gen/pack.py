"""The finished datasets: pairs and examples by split, as JSONL and parquet.

Splits go by group. Training data that holds a document or a statement of the dev or test pairs is left out and counted.
The stage's file is read once per split and recipe; besides counts, only hashes of the dev and test texts are held.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from citeverifier.data.load import PairBuilder
from citeverifier.data.splits import SHARES
from citeverifier.records import Document, Example, example_to_json, pair_to_json, write_jsonl
from citeverifier.text.words import normalise
from data_gen.stage import file_hash, read_stage
from data_gen.step import split

SPLITS = ("test", "dev", "train")  # train last: it gives way to the other two
ENTRY = ("stage", "model", "fingerprint", "prompt", "version")

# The columns of the parquet files, so that no type is guessed.
TEXT, NUMBER = "string", "int64"
_MADE = [dict.fromkeys(ENTRY, TEXT)]
_PAIR = {
    **dict.fromkeys(("id", "example", "statement_id", "lang", "group", "statement"), TEXT),
    "documents": [{"title": TEXT, "text": TEXT}],
    **dict.fromkeys(("context", "support_min", "support_max", "kind"), TEXT),
    "meta": {"source": TEXT, "made": _MADE},
}
_STATEMENT = {
    "text": TEXT, "citations": [NUMBER], "kind": TEXT, "span": TEXT, "evidence": [{"document": NUMBER, "text": TEXT}],
    "corrupted": TEXT, "altered_in": [NUMBER], "edit": TEXT,
}  # fmt: skip
_EXAMPLE = {
    **dict.fromkeys(("id", "lang", "group", "question", "answer"), TEXT),
    "documents": [{"title": TEXT, "text": TEXT, "score": "float64"}],
    "statements": [_STATEMENT],
    "meta": {
        **dict.fromkeys(("source", "type", "split", "reference"), TEXT),
        "hard_negatives": [NUMBER],
        "made": _MADE,
        "review": [dict.fromkeys(("decision", "reviewer", "time"), TEXT)],
    },
}


@dataclass(frozen=True)
class PairRecipe:
    """How pairs are built from the examples of a chain of stages, and how many training pairs of each kind are wanted.

    `sizes`: kind pattern ("supported", "*") to number, null for all there are; kinds that fit no pattern are left out.
    Dev and test take the same in proportion to their shares. `lang`: of the pairs; None = any.
    """

    build: PairBuilder
    sizes: Mapping[str, int | None]
    chain: str = "main"
    lang: str | None = None


@dataclass
class Packed:
    """What was written: records by (dataset, split, lang, kind); what was left out, by reason; who made it."""

    counts: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    short: dict[str, str] = field(default_factory=dict)
    makers: Counter[tuple[str | None, ...]] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    reviews: Counter[tuple[str, str]] = field(default_factory=Counter)
    files: dict[str, str | None] = field(default_factory=dict)  # sha256 by name


def pack(
    chains: Mapping[str, Path],
    folder: Path,
    *,
    recipes: Mapping[str, PairRecipe],
    examples: bool,
    max_examples: int | None = None,
    shares: Mapping[str, float] = SHARES,
) -> Packed:
    """Write the records of each chain's last file as datasets into `folder`; returns what was written.

    Pairs go to {train,dev,test}.jsonl, examples (where asked for) to examples_{split}.jsonl, the same to parquet/.
    max_examples: at most so many questions, all of their languages, in the order they come. Splits without a record get
    no file. Raises ValueError where nothing at all is left.
    """
    packing = _Packing(chains, recipes, shares, max_examples)
    packed, names = packing.packed, []
    for name in (name for name in SPLITS if name in shares):
        if recipes and write_jsonl(folder / f"{name}.jsonl", packing.pairs(name)):
            names.append(f"{name}.jsonl")
        if examples and write_jsonl(folder / f"examples_{name}.jsonl", packing.examples(name)):
            names.append(f"examples_{name}.jsonl")
    if not packed.counts:
        raise ValueError("no records left to pack; the table above says where they were dropped")
    for name in (f"{beginning}{part}.jsonl" for beginning in ("", "examples_") for part in SPLITS):
        if name not in names:
            (folder / name).unlink(missing_ok=True)  # empty, or left by an earlier run
    for example in (example for file in chains.values() for example in read_stage(file)):
        meta = tidy_meta(example.meta)
        packed.sources[meta["source"] or "unknown"] += 1
        packed.makers.update(tuple(entry[key] for key in ENTRY) for entry in meta["made"])
        packed.reviews.update((e["decision"], e["reviewer"]) for e in meta["review"] if e["decision"])
    packed.files |= {name: file_hash(folder / name) for name in [*names, *_write_parquet(folder, names)]}
    return packed


class _Packing:
    """The rows of every split, test and dev before train; `packed` counts them."""

    def __init__(
        self,
        chains: Mapping[str, Path],
        recipes: Mapping[str, PairRecipe],
        shares: Mapping[str, float],
        max_examples: int | None,
    ) -> None:
        self.packed = Packed()
        self._chains, self._recipes, self._shares, self._limit = chains, recipes, shares, max_examples
        self._held_out: set[bytes] = set()  # hashes of the dev and test pairs' texts

    def pairs(self, name: str) -> Iterator[dict[str, Any]]:
        """The pairs of a split as JSON, each recipe in turn."""
        for recipe_name, recipe in self._recipes.items():
            if recipe.chain in self._chains:
                yield from self._recipe_pairs(name, recipe_name, recipe)

    def _recipe_pairs(self, name: str, recipe_name: str, recipe: PairRecipe) -> Iterator[dict[str, Any]]:
        share = 1.0 if name == "train" else self._shares[name] / self._shares.get("train", sum(self._shares.values()))
        wanted = {kind: None if size is None else round(size * share) for kind, size in recipe.sizes.items()}
        taken: Counter[str] = Counter()
        recent: deque[Example] = deque(maxlen=16)  # a pair is built soon after its example is read
        for pair in recipe.build(_remembered(self._of_split(recipe.chain, name, recipe.lang), recent)):
            kind = next((kind for kind in wanted if fnmatch(pair.kind.split(":")[0], kind)), None)
            size = None if kind is None else wanted[kind]
            if kind is None:
                self.packed.left_out[f"{recipe_name}: kind not asked for"] += 1
            elif size is not None and taken[kind] >= size:
                self.packed.left_out[f"{recipe_name}: more than asked for"] += 1
                if all(size is not None and taken[kind] >= size for kind, size in wanted.items()):
                    break
            elif leak := self._leak(name, pair.documents, [pair.statement]):
                self.packed.left_out[f"{recipe_name}: {leak}"] += 1
            else:
                if name != "train":
                    self._held_out.update(_hash(text) for text in (pair.statement, *(d.text for d in pair.documents)))
                taken[kind] += 1
                self.packed.counts["pairs", name, pair.lang, f"{recipe_name}: {pair.kind.split(':')[0]}"] += 1
                own = (example for example in recent if (example.id, example.lang) == (pair.example, pair.lang))
                meta = tidy_meta(next(own).meta)
                yield pair_to_json(pair) | {"meta": {"source": meta["source"], "made": meta["made"]}}
        for kind, size in wanted.items():
            if size is not None and taken[kind] < size and name == "train":
                self.packed.short[f"{recipe_name}: {kind}"] = f"{taken[kind]:,} of {size:,}"

    def examples(self, name: str) -> Iterator[dict[str, Any]]:
        """The examples of a split as JSON."""
        for example in self._of_split("main", name):
            if leak := self._leak(name, example.documents, [statement.text for statement in example.statements]):
                self.packed.left_out[f"examples: {leak}"] += 1
                continue
            cited = [statement for statement in example.statements if statement.citations]
            counts = {"questions": 1, "statements": len(cited), "twins": sum(s.corrupted is not None for s in cited)}
            for what, count in counts.items():
                self.packed.counts["examples", name, example.lang, what] += count
            yield example_to_json(example) | {"meta": tidy_meta(example.meta)}

    def _of_split(self, chain: str, name: str, lang: str | None = None) -> Iterator[Example]:
        """The examples of a split (and language), of the first questions of the whole file."""
        last, taken = None, 0
        for example in read_stage(self._chains[chain]):
            taken += example.id != last
            last = example.id
            if self._limit is not None and taken > self._limit:
                return
            if split(example, self._shares) == name and lang in (None, example.lang):
                yield example

    def _leak(self, name: str, documents: Iterable[Document], statements: Iterable[str]) -> str | None:
        """What of training data stands in dev or test."""
        if name != "train":
            return None
        if any(_hash(document.text) in self._held_out for document in documents):
            return "document in dev or test"
        return "statement in dev or test" if any(_hash(text) in self._held_out for text in statements) else None


def _hash(text: str) -> bytes:
    return hashlib.sha256(normalise(text).encode()).digest()[:12]


def _remembered(examples: Iterator[Example], recent: deque[Example]) -> Iterator[Example]:
    for example in examples:
        recent.append(example)
        yield example


def tidy_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """A record's meta with the same keys in every record, as parquet needs them."""
    return {
        **{key: meta.get(key) for key in ("source", "type", "split", "reference")},
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


def _write_parquet(folder: Path, names: Iterable[str]) -> list[str]:
    """The JSONL files as `parquet/pairs_SPLIT.parquet` and `parquet/examples_SPLIT.parquet`; returns their names."""
    from datasets import Dataset, Features
    from datasets.utils import disable_progress_bars

    disable_progress_bars()
    (folder / "parquet").mkdir(exist_ok=True)
    written = []
    for name in names:
        is_examples = name.startswith("examples_")
        columns = Features(_features(_EXAMPLE if is_examples else _PAIR))
        written.append(f"parquet/{'' if is_examples else 'pairs_'}{Path(name).stem}.parquet")
        with tempfile.TemporaryDirectory() as cache:
            rows = Dataset.from_json(str(folder / name), features=columns, cache_dir=cache)
            rows.to_parquet(folder / written[-1])
    return written


def _features(kinds: Any) -> Any:
    from datasets import List, Value

    if isinstance(kinds, str):
        return Value(kinds)
    if isinstance(kinds, list):
        return List(_features(kinds[0]))
    return {name: _features(kind) for name, kind in kinds.items()}
