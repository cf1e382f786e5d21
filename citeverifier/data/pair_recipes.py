"""Pairs from examples, without an LLM: premises of one to three documents with support intervals.

Three recipes: `ordinal_pairs`, for the ordinal verifier; `single_document_pairs`, paper 1's own; `nearest_pairs`,
paper 4's, a cited document against one that is only like it. All stream, in the order of the examples, and depend on
nothing but the examples and the seed.

What the labels say (docs/architecture.md, "One score, two questions"):

| premise                                             | support                                     |
|-----------------------------------------------------|---------------------------------------------|
| every cited document                                | full                                        |
| one of two cited documents, facts known to be apart | partial                                     |
| one of two cited documents otherwise (bridge)       | partial to full: it may imply the rest      |
| only documents that are not cited                   | none                                        |
| twin, with a document that contradicts it           | none                                        |
| twin, with all cited documents or another of them   | none to partial                             |

**No shortcuts.** Documents that are not cited pad a premise, so that every level has premises of one, two and three
documents in the same proportions, in shuffled order; where a premise lacks a cited document, one of like length
stands in (in HotpotQA gold paragraphs are a third shorter than the others); each statement comes with about as many
supported as unsupported premises.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from citeverifier.records import Document, Example, Interval, Pair, Statement, Support, statement_id
from citeverifier.text.relative_bm25 import collection, relative_bm25
from citeverifier.text.rendering import render_document
from citeverifier.text.words import words

# Statements that need two documents and whose halves are known to lie apart: one document alone is partial support.
APART = frozenset({"joined", "comparison", "question_comparison"})

NONE = (Support.NONE, Support.NONE)
BELOW_FULL = (Support.NONE, Support.PARTIAL)
PARTIAL = (Support.PARTIAL, Support.PARTIAL)
AT_LEAST_PARTIAL = (Support.PARTIAL, Support.FULL)
FULL = (Support.FULL, Support.FULL)


class _SizeBalance:
    """Chooses how many documents a premise has, so that every level's premises have the sizes of the full ones.

    Full premises are the scarcest in choice (a two-document statement needs two), so they lead: each takes the size
    that is rarest so far among those it can have; the other levels follow their proportions.
    """

    def __init__(self) -> None:
        self._counts: defaultdict[Interval, Counter[int]] = defaultdict(Counter)

    def choose(self, interval: Interval, smallest: int, largest: int, rng: random.Random) -> int:
        counts, full = self._counts[interval], self._counts[FULL]
        options = list(range(smallest, largest + 1))
        rng.shuffle(options)
        if interval == FULL:
            size = min(options, key=lambda n: counts[n])
        else:
            total, own = max(1, full.total()), max(1, counts.total())
            size = max(options, key=lambda n: full[n] / total - counts[n] / own)
        counts[size] += 1
        return size


def ordinal_pairs(
    examples: Iterable[Example],
    *,
    seed: int = 13,
    max_documents: int = 3,
    context_share: float = 0.3,
    far_share: float = 0.3,
    cross_lingual: bool = True,
) -> Iterator[Pair]:
    """Pairs for the ordinal verifier; five a two-document statement with a twin, four a one-document one.

    `context_share` of the pairs carry the question and the preceding statements; irrelevant premises draw on documents
    of another group with probability `far_share`. With `cross_lingual`, each statement of an example that is there in
    two languages also meets the other language's documents, where it cites the same positions in both (examples of one
    id must follow each other).
    """
    recipe = _Recipe(seed, max_documents, context_share, far_share, _SizeBalance(), _FarDocuments())
    for _, versions in groupby(examples, key=lambda example: example.id):
        aligned = list(versions)
        for example in aligned:
            for source in aligned if cross_lingual else [example]:
                for number, (own, other) in enumerate(zip(example.statements, source.statements, strict=False)):
                    if own.citations == other.citations:
                        yield from _Builder(recipe, example, source, number).pairs()
        for example in aligned:
            recipe.far.add(example)


class _FarDocuments:
    """A rolling pool of documents from earlier groups, by language."""

    def __init__(self, size: int = 500) -> None:
        self._size = size
        self._pools: dict[str, deque[tuple[str, Document]]] = {}

    def add(self, example: Example) -> None:
        pool = self._pools.setdefault(example.lang, deque(maxlen=self._size))
        known = {document for _, document in list(pool)[-2 * len(example.documents) :]}
        pool.extend((example.group, document) for document in example.documents if document not in known)

    def draw(self, lengths: Sequence[int], lang: str, group: str, rng: random.Random) -> list[Document]:
        """Documents of other groups about as long as `lengths` say; none where the pool has too few."""
        others = [document for owner, document in self._pools.get(lang, ()) if owner != group]
        if len(others) < len(lengths):
            return []
        candidates = rng.sample(others, min(len(others), 10 * len(lengths)))
        return [candidates[i] for i in nearest_lengths(lengths, [_length(d) for d in candidates])]


def _length(document: Document) -> int:
    return len(document.text.split())


def nearest_lengths(wanted: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """For each wanted length the position of the nearest in `lengths`, each position once, while there are any."""
    free = list(range(len(lengths)))
    found = []
    for length in wanted[: len(lengths)]:
        found.append(min(free, key=lambda i: abs(lengths[i] - length)))
        free.remove(found[-1])
    return found


@dataclass(frozen=True)
class _Recipe:
    """What the pairs of a run of `ordinal_pairs` have in common: its settings, sizes so far, documents seen so far."""

    seed: int
    max_documents: int
    context_share: float
    far_share: float
    sizes: _SizeBalance
    far: _FarDocuments


class _Builder:
    """The pairs of one statement of `example` with the documents of `source`: another language's version, or itself."""

    def __init__(self, recipe: _Recipe, example: Example, source: Example, number: int) -> None:
        self.recipe, self.example, self.source, self.number = recipe, example, source, number
        self.statement: Statement = example.statements[number]
        self.rng = random.Random(f"{recipe.seed}:{example.id}:{example.lang}:{source.lang}:{number}")
        self.cited = list(self.statement.citations)
        self.others = [i for i in range(len(source.documents)) if i not in self.cited]
        self.count = 0

    def pairs(self) -> Iterator[Pair]:
        if not 1 <= len(self.cited) <= self.recipe.max_documents:
            return  # an uncited statement has no premise of its own; one citing more cannot be shown whole
        yield self._premise("gold", FULL, self.cited)
        yield self._premise("gold", FULL, self.cited)
        if len(self.cited) == 2:
            alone = PARTIAL if self.statement.kind in APART else AT_LEAST_PARTIAL
            yield self._premise("half", alone, [self.rng.choice(self.cited)])
        yield from self._irrelevant()
        if self.statement.corrupted is not None:
            yield self._twin()

    def _size(self, interval: Interval, smallest: int, available: int) -> int:
        largest = max(smallest, min(self.recipe.max_documents, available))
        return self.recipe.sizes.choose(interval, smallest, largest, self.rng)

    def _premise(self, how: str, interval: Interval, positions: Sequence[int], *, corrupted: bool = False) -> Pair:
        """A pair whose premise holds `positions`, padded by documents that are not cited."""
        size = self._size(interval, len(positions), len(positions) + len(self.others))
        missing = [i for i in self.cited if i not in positions]
        chosen = [*positions, *self._uncited(missing, size - len(positions))]
        return self._pair(how, interval, [self.source.documents[i] for i in chosen], corrupted=corrupted)

    def _uncited(self, instead_of: Sequence[int], count: int) -> list[int]:
        """`count` documents that are not cited: first, as long as those they stand for, then any."""
        lengths = [_length(document) for document in self.source.documents]
        nearest = nearest_lengths([lengths[i] for i in instead_of][:count], [lengths[i] for i in self.others])
        stand_ins = [self.others[k] for k in nearest]
        rest = [i for i in self.others if i not in stand_ins]
        return [*stand_ins, *self.rng.sample(rest, count - len(stand_ins))]

    def _irrelevant(self) -> Iterator[Pair]:
        documents: list[Document] = []
        if self.rng.random() < self.recipe.far_share:
            size = self._size(NONE, 1, self.recipe.max_documents)
            alike = [*self.cited, *self.rng.sample(self.others, min(len(self.others), size))][:size]
            lengths = [_length(self.source.documents[i]) for i in alike]
            documents = self.recipe.far.draw(lengths, self.source.lang, self.source.group, self.rng)
            how = "irrelevant_far"
        if not documents and self.others:
            size = self._size(NONE, 1, len(self.others))
            cited = self.rng.sample(self.cited, min(size, len(self.cited)))
            documents = [self.source.documents[i] for i in self._uncited(cited, size)]
            how = "irrelevant_near"
        if documents:
            yield self._pair(how, NONE, documents)

    def _twin(self) -> Pair:
        altered = list(self.statement.altered_in)
        choices = [("twin_altered", NONE, [i]) for i in altered]
        if len(self.cited) > 1:
            choices += [("twin_other", BELOW_FULL, [i]) for i in self.cited if i not in altered]
            choices += [("twin_all", BELOW_FULL, self.cited)] * 2
        elif not altered:
            choices = [("twin_all", BELOW_FULL, self.cited)]
        how, interval, positions = self.rng.choice(choices)
        return self._premise(how, interval, positions, corrupted=True)

    def _pair(self, how: str, interval: Interval, documents: list[Document], *, corrupted: bool = False) -> Pair:
        self.rng.shuffle(documents)
        languages = f"{self.example.lang}-{self.source.lang}"
        parts = [how, self.statement.kind, *([self.statement.edit or "edit"] if corrupted else [])]
        if self.source.lang != self.example.lang:
            parts.append(languages)
        context = preceding(self.example, self.number) if self.rng.random() < self.recipe.context_share else None
        self.count += 1
        return statement_pair(
            self.example, self.number, f"{languages}/{self.count}", ":".join(parts), interval, documents,
            corrupted=corrupted, context=context,
        )  # fmt: skip


def statement_pair(
    example: Example, number: int, ending: str, kind: str, interval: Interval | None, documents: Iterable[Document], *,
    corrupted: bool = False, context: str | None = None,
) -> Pair:  # fmt: skip
    """A pair of an example's statement or of its twin; `ending` makes its id one of its own."""
    statement, identity = example.statements[number], statement_id(example, number, corrupted=corrupted)
    return Pair.of(
        (statement.corrupted or "") if corrupted else statement.text, documents, example.lang,
        id=f"{identity}/{ending}", example=example.id, statement_id=identity, group=example.group, kind=kind,
        context=context, support=interval,
    )  # fmt: skip


def preceding(example: Example, number: int) -> str:
    """The context of a statement: the question and the statements before it."""
    return " ".join([example.question, *(statement.text for statement in example.statements[:number])]).strip()


def single_document_pairs(examples: Iterable[Example], *, seed: int = 13, size: int | None = None) -> Iterator[Pair]:
    """The paper's training pairs (paper 1, section on data): single-document premises in three equal kinds.

    Each statement gives one supported pair (one of its documents), one irrelevant (a document that is not cited) and
    one perturbed (its twin, with an altered document); statements that cannot give all three are left out. Labels are
    binary: supported means at least partial. `size`: at most so many of each kind; None = all.
    """
    given = 0
    for example in examples:
        rng = random.Random(f"{seed}:{example.id}:{example.lang}")
        for number, statement in enumerate(example.statements):
            others = [i for i in range(len(example.documents)) if i not in statement.citations]
            if not (statement.citations and others and statement.corrupted and statement.altered_in):
                continue
            if given == size:
                return
            given += 1
            supported, altered = rng.choice(statement.citations), rng.choice(statement.altered_in)
            kinds = (
                ("supported", AT_LEAST_PARTIAL, supported, False),
                ("irrelevant", NONE, rng.choice(others), False),
                ("perturbed", NONE, altered, True),
            )
            for how, interval, position, corrupted in kinds:
                kind, documents = f"{how}:{statement.kind}", [example.documents[position]]
                ending = f"{example.lang}/{how}"
                yield statement_pair(example, number, ending, kind, interval, documents, corrupted=corrupted)


def with_distractors(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Pairs of a natural source (claims with their evidence), padded, and irrelevant ones made from them.

    Premises grow to one, two or three documents by documents of other groups; every second supported pair, drawn, is
    followed by the same claim with documents of other groups only (support none).
    """
    rolling: deque[tuple[str, Document]] = deque(maxlen=300)
    for pair in pairs:
        rng = random.Random(f"13:{pair.id}")
        others = [document for group, document in rolling if group != pair.group]
        missing = rng.randint(1, 3) - len(pair.documents)
        documents = [*pair.documents, *rng.sample(others, max(0, min(len(others), missing)))]
        rng.shuffle(documents)
        yield replace(pair, documents=tuple(documents))
        if pair.reaches(Support.PARTIAL) and len(others) >= 3 and rng.random() < 0.5:
            kind = f"irrelevant_far:{pair.kind.split(':', 1)[-1]}"
            yield irrelevant(pair, f"{pair.id}/irrelevant", rng.sample(others, rng.randint(1, 3)), kind)
        rolling.extend((pair.group, document) for document in pair.documents)


def irrelevant(pair: Pair, identity: str, documents: Iterable[Document], kind: str) -> Pair:
    """The pair with documents that do not support it."""
    low, high = NONE
    return replace(pair, id=identity, documents=tuple(documents), kind=kind, support_min=low, support_max=high)


def nearest_pairs(examples: Iterable[Example], *, ns: Sequence[int] = (5, 3, 1)) -> Iterator[Pair]:
    """For each citation a positive pair, and for each n a negative one: the n-th nearest document that is not cited.

    Nearness is BM25 of the cited document among the example's own; where fewer are left than n, the last one counts.
    The smaller n, the harder. `statement_id` ends in the cited document's position: what is contrasted shares it.
    Raises ValueError for an n below 1.
    """
    if not ns or min(ns) < 1:
        raise ValueError(f"pairs.build.ns: expected numbers from 1, got {list(ns)}")
    for example in examples:
        for number, statement in enumerate(example.statements):
            others = [d for i, d in enumerate(example.documents) if i not in statement.citations]
            for position in statement.citations if others else ():
                cited, ending = example.documents[position], f"d{position}/{example.lang}"
                pair = statement_pair(
                    example, number, f"{ending}/cited", f"cited:{statement.kind}", AT_LEAST_PARTIAL, [cited]
                )
                positive = replace(pair, statement_id=f"{pair.statement_id}/d{position}")
                yield positive
                near = _by_nearness(cited, others)
                for n in dict.fromkeys(min(n, len(near)) for n in ns):
                    name = f"{pair.statement_id}/{ending}/nearest{n}"
                    yield irrelevant(positive, name, [near[n - 1]], f"nearest_{n}:{statement.kind}")


def _by_nearness(document: Document, others: Sequence[Document]) -> list[Document]:
    query, *texts = (words(render_document(each)) for each in (document, *others))
    if not query:
        return list(others)
    known = collection(texts)
    values = [relative_bm25(query, [text], known) for text in texts]
    return [others[i] for i in sorted(range(len(others)), key=lambda i: -values[i])]
