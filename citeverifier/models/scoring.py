"""Scoring with a loaded checkpoint: pairs in, folded logits out. One engine a shape.

Equal work is done once, texts are sorted by length and batched under a token budget, and a pair's score does not depend
on what it is scored with.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize
from tqdm.auto import tqdm

from citeverifier.models.attention import attend_by_products
from citeverifier.models.first_token import compute_first_token_only
from citeverifier.models.inputs import STRIDE_LONG, CrossEncoderInputs, LateInteractionInputs, StatementTooLong, pad
from citeverifier.models.late_interaction import LateInteraction
from citeverifier.records import Document, Pair, Support
from citeverifier.text.rendering import DOCUMENT_SEPARATOR, render_document
from citeverifier.text.sentences import sentences

if TYPE_CHECKING:
    from citeverifier.models.encodings import StoredEncodings

log = logging.getLogger(__name__)

# Padded tokens a forward pass may have: a CPU is busy with few, and small batches pad less; a GPU wants many.
TOKEN_BUDGET = {"cpu": 1024, "cuda": 32768}
WORKERS = 4  # batches that run side by side on a CPU, at most: more would wait for Python's lock
ROUND = 64  # batches a worker between two looks at what did not fit
CHUNK = 512  # documents whose vectors are held at a time
CACHE_BYTES = 512 * 2**20  # of vectors kept across calls


@dataclass
class Logits:
    """Folded logits (n,), nan where unscored, with reasons; tokens read; how many premises were windowed or packed.

    `apart` holds the positions whose logit belongs to the level asked; all others hold at both levels.
    """

    values: NDArray[np.float64]
    reasons: dict[int, str] = field(default_factory=dict)
    tokens: int = 0
    windowed: int = 0
    packed: int = 0
    apart: set[int] = field(default_factory=set)


class Batches:
    """Runs a model over rows of tokens, longest first, in batches under a budget of padded tokens (one row at least).

    On a CPU several batches run side by side, each on its part of the threads: threads that share small products spend
    a sixth of their time waiting for each other. Where memory runs out the budget is halved, for good, and the batches
    that did not fit are taken again in parts.
    """

    def __init__(self, device: torch.device) -> None:
        self.budget = TOKEN_BUDGET.get(device.type, TOKEN_BUDGET["cpu"])
        self.workers = min(WORKERS, torch.get_num_threads()) if device.type == "cpu" else 1

    def run(self, lengths: Sequence[int], forward: Callable[[list[int]], None]) -> None:
        """`forward` on the positions of each batch; raises torch.OutOfMemoryError where one row alone is too much."""
        order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
        with tqdm(total=len(order), desc="scoring", disable=len(order) < 64 or None, leave=False) as bar:
            self._rounds(order, lengths, forward, bar)

    def _rounds(
        self, order: Sequence[int], lengths: Sequence[int], forward: Callable[[list[int]], None], bar: Any
    ) -> None:
        done = 0
        while done < len(order):
            batches = self._cut(order, done, lengths)
            done += sum(map(len, batches))
            fitted = self._side_by_side(batches, forward)
            bar.update(sum(len(batch) for batch, fits in zip(batches, fitted, strict=True) if fits))
            failed = [batch for batch, fits in zip(batches, fitted, strict=True) if not fits]
            if failed:
                self.budget = min(lengths[batch[0]] * len(batch) for batch in failed) // 2
                log.warning("out of memory: going on with batches of %d tokens", self.budget)
                if torch.cuda.is_available():
                    torch.cuda.empty_cache()
                self._rounds([i for batch in failed for i in batch], lengths, forward, bar)

    def _cut(self, order: Sequence[int], done: int, lengths: Sequence[int]) -> list[list[int]]:
        """The batches of the next round: one, or several a worker, so that they wait for each other seldom."""
        batches: list[list[int]] = []
        while done < len(order) and len(batches) < (1 if self.workers == 1 else ROUND * self.workers):
            batches.append(list(order[done : done + max(1, self.budget // max(1, lengths[order[done]]))]))
            done += len(batches[-1])
        return batches

    def _side_by_side(self, batches: Sequence[list[int]], forward: Callable[[list[int]], None]) -> list[bool]:
        """Whether each batch fitted into memory; all were run."""
        if self.workers == 1 or len(batches) == 1:
            return [_fits(batch, forward) for batch in batches]
        threads = torch.get_num_threads()

        def alone(batch: list[int]) -> bool:
            torch.set_num_threads(max(1, threads // self.workers))
            with torch.inference_mode():  # a thread's own
                return _fits(batch, forward)

        try:
            with ThreadPoolExecutor(self.workers) as pool:
                return list(pool.map(alone, batches))
        finally:
            torch.set_num_threads(threads)  # threads to come begin with the number set last


def _fits(batch: list[int], forward: Callable[[list[int]], None]) -> bool:
    """Run a batch; False where memory ran out, torch.OutOfMemoryError where it has one row only."""
    try:
        forward(batch)
    except torch.OutOfMemoryError:
        if len(batch) == 1:
            raise
        return False
    return True


class Vectors:
    """Token vectors by key, the least recently used dropped first once they take more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit, self.held = limit, 0
        self._known: OrderedDict[Any, list[Tensor]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Any) -> list[Tensor] | None:
        """The vectors of a key, None where they are not known."""
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        return found

    def put(self, key: Any, vectors: list[Tensor]) -> None:
        """Keep the vectors of a new key."""
        self._known[key] = vectors
        self.held += sum(v.nbytes for v in vectors)
        while self.held > self.limit and len(self._known) > 1:
            self.held -= sum(v.nbytes for v in self._known.popitem(last=False)[1])


Key = tuple[str, str]  # a statement and the context that it is read with


class LateInteractionEngine:
    """Encodes each distinct statement and document once; a premise's match is the maximum over its documents' matches,
    a document's that of its best window.

    Vectors are kept across calls, up to `cache_bytes` of them, in float16 where the model runs in bfloat16; those of
    documents also in `stored`, where given. No length limit for premises.
    """

    def __init__(
        self,
        model: LateInteraction,
        inputs: LateInteractionInputs,
        stored: StoredEncodings | None = None,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self.model, self.inputs, self.stored = model, inputs, stored
        parameter = next(model.parameters())
        self.device = parameter.device
        self.dtype = torch.float32 if parameter.dtype == torch.float32 else torch.float16
        self.batches = Batches(self.device)
        self.cache = Vectors(cache_bytes)
        attend_by_products(model.encoder)

    @torch.inference_mode()
    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs; the same for both levels."""
        result = Logits(np.full(len(pairs), np.nan))
        groups: dict[Key, list[int]] = {}
        for i, pair in enumerate(pairs):
            groups.setdefault(self.inputs.statement_key(pair), []).append(i)
        texts = [[render_document(document) for document in pair.documents] for pair in pairs]
        chunks = list(_chunks([i for group in groups.values() for i in group], texts))
        for chunk in tqdm(chunks, desc="scoring", disable=len(chunks) < 2 or None, leave=False):
            self._chunk(chunk, pairs, texts, result)
        return result

    def _chunk(
        self, positions: Sequence[int], pairs: Sequence[Pair], texts: Sequence[Sequence[str]], result: Logits
    ) -> None:
        asked: dict[Key, list[int]] = {}
        for i in positions:
            asked.setdefault(self.inputs.statement_key(pairs[i]), []).append(i)
        statements, too_long = self._statements(list(asked), result)
        for key, reason in too_long.items():
            result.reasons |= dict.fromkeys(asked.pop(key), reason)
        kept = [i for group in asked.values() for i in group]
        documents = self._documents(list(dict.fromkeys(text for i in kept for text in texts[i])), result)
        logits: list[Tensor] = []
        for key, group in asked.items():
            statement = statements[key].float()
            wanted = list(dict.fromkeys(text for i in group for text in texts[i]))
            best = dict(zip(wanted, self._matches(statement, [documents[text] for text in wanted]), strict=True))
            matches = torch.stack([torch.stack([best[text] for text in texts[i]]).amax(dim=0) for i in group])
            every = torch.ones(1, len(statement), dtype=torch.bool, device=self.device)
            logits.append(self.model.head(statement.unsqueeze(0), every, matches).squeeze(1))
        if kept:
            result.values[kept] = torch.cat(logits).double().cpu().numpy()

    def _matches(self, statement: Tensor, documents: Sequence[list[Tensor]]) -> Tensor:
        """The match of each statement token (s) with the best window of each document, (documents, s)."""
        windows = [window for document in documents for window in document]
        similarity = torch.cat(windows).float() @ normalize(statement, dim=-1).T
        lengths = torch.tensor([len(window) for window in windows], device=self.device)
        by_window = torch.segment_reduce(similarity, "max", lengths=lengths, axis=0, initial=-1.0)
        if len(windows) == len(documents):
            return by_window
        every = torch.ones(1, len(statement), dtype=torch.bool, device=self.device)
        weight = self.model.head.log_weights(statement.unsqueeze(0), every).exp().squeeze(0)
        mean = (by_window @ weight).tolist()
        chosen, start = [], 0
        for document in documents:
            end = start + len(document)
            chosen.append(max(range(start, end), key=mean.__getitem__))
            start = end
        return by_window[chosen]

    def _encode(self, ids: Sequence[list[int]], keep: Callable[[int, Tensor], Tensor]) -> list[Tensor]:
        """What `keep` makes of the position and the token vectors (tokens, h), in float32, of each row."""
        found: dict[int, Tensor] = {}

        def forward(batch: list[int]) -> None:
            rows = [ids[i] for i in batch]
            tokens = self.model.encode(
                pad(rows, self.inputs.tokenizer.pad_token_id).to(self.device),
                pad([[1] * len(row) for row in rows], 0).to(self.device),
            ).float()
            for at, i in enumerate(batch):
                found[i] = keep(i, tokens[at, : len(ids[i])]).to(self.dtype)

        self.batches.run([len(row) for row in ids], forward)
        return [found[i] for i in range(len(ids))]

    def _statements(self, keys: Sequence[Key], result: Logits) -> tuple[dict[Key, Tensor], dict[Key, str]]:
        """The vectors of the tokens that count, of each statement; and why some have none."""
        found = {key: known[0] for key in keys if (known := self.cache.get(key)) is not None}
        reasons: dict[Key, str] = {}
        new: dict[Key, tuple[list[int], list[bool]]] = {}
        for key in keys:
            if key not in found:
                try:
                    new[key] = self.inputs.statement(key)
                except StatementTooLong as error:
                    reasons[key] = str(error)
        ids, masks = [row for row, _ in new.values()], [torch.tensor(mask) for _, mask in new.values()]
        result.tokens += sum(map(len, ids))
        for key, vectors in zip(new, self._encode(ids, lambda i, t: t[masks[i].to(self.device)]), strict=True):
            found[key] = vectors
            self.cache.put(key, [vectors])
        return found, reasons

    def _documents(self, texts: Sequence[str], result: Logits) -> dict[str, list[Tensor]]:
        """The normalised token vectors of each window of each document."""
        found = {text: known for text in texts if (known := self.cache.get(text)) is not None}
        if self.stored is not None:
            for text in texts:
                if text not in found and (kept := self.stored.get(text)) is not None:
                    found[text] = [window.to(self.device) for window in kept]
                    self.cache.put(text, found[text])
        missing = [text for text in texts if text not in found]
        self.inputs.ids.read(missing)
        windows = {text: self.inputs.document(text) for text in missing}
        flat = [window for text in missing for window in windows[text]]
        result.tokens += sum(map(len, flat))
        before, after = len(self.inputs.before), len(self.inputs.after)
        encoded = iter(self._encode(flat, lambda _, t: normalize(t[before : len(t) - after], dim=-1)))
        new = {text: [next(encoded) for _ in windows[text]] for text in missing}
        if self.stored is not None and new:
            self.stored.put(new)
        for text, vectors in new.items():
            self.cache.put(text, vectors)
        result.windowed += sum(len(parts) > 1 for parts in new.values())
        return found | new


def _chunks(order: Sequence[int], texts: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """Positions in runs that ask about CHUNK distinct documents, or a few more."""
    chunk: list[int] = []
    documents: set[str] = set()
    for i in order:
        chunk.append(i)
        documents.update(texts[i])
        if len(documents) >= CHUNK:
            yield chunk
            chunk, documents = [], set()
    if chunk:
        yield chunk


def one_logit(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """The logit of a one-label classifier, (n,)."""
    logits: Tensor = model(**batch).logits.reshape(-1)
    return logits


class CrossEncoderEngine:
    """Scores statement and premise together; `values` makes one number a row of a model and its batch.

    A premise over the limit is windowed at level partial (greatest value of overlapping windows) and packed at level
    full (its sentences are scored, the best that fit are scored once, together, in their order).
    """

    def __init__(
        self, model: Any, inputs: CrossEncoderInputs, values: Callable[[Any, dict[str, Tensor]], Tensor] = one_logit
    ) -> None:
        self.model, self.inputs, self.values = model, inputs, values
        self.device = next(model.parameters()).device
        self.batches = Batches(self.device)
        attend_by_products(model)
        compute_first_token_only(model)

    @torch.inference_mode()
    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs at a level."""
        result = Logits(np.full(len(pairs), np.nan))
        self.inputs.read(pairs)
        rows: list[dict[str, Any]] = []
        owners: list[int] = []
        long: list[int] = []
        for i, pair in enumerate(pairs):
            row = self.inputs.prepare(pair)
            if row["length"] <= self.inputs.limit:
                rows.append(row)
                owners.append(i)
            elif self.inputs.room(pair) < STRIDE_LONG:
                result.reasons[i] = f"the statement leaves no room for documents within {self.inputs.limit} tokens"
            elif level == Support.FULL:
                long.append(i)
                result.apart.add(i)
            else:
                result.apart.add(i)
                windows = self.inputs.windows(pair)
                rows += windows
                owners += [i] * len(windows)
                result.windowed += 1
        for owner, value in zip(owners, self._forward(rows, result), strict=True):
            result.values[owner] = np.nanmax([result.values[owner], value])
        if long:
            packed = dict(zip(long, self._packed([pairs[i] for i in long], result), strict=True))
            empty = [i for i in long if not packed[i].documents]
            result.reasons |= dict.fromkeys(empty, f"no sentence of the documents fits {self.inputs.limit} tokens")
            kept = [i for i in long if packed[i].documents]
            result.values[kept] = self._forward([self.inputs.prepare(packed[i]) for i in kept], result)
            result.packed += len(kept)
        return result

    def _packed(self, pairs: Sequence[Pair], result: Logits) -> list[Pair]:
        """Each pair with the best sentences of its documents, as many as fit, in their order."""
        pieces: list[list[tuple[int, int, str]]] = []
        probes: dict[tuple[str, ...], Pair] = {}  # pairs that share statement and documents share their sentences
        for p, pair in enumerate(pairs):
            pieces.append([])
            for d, document in enumerate(pair.documents):
                for sentence in sentences(document.text, pair.lang):
                    pieces[p].append((p, d, sentence))
                    key = self._sentence_key(pair, document.title, sentence)
                    probes.setdefault(key, replace(pair, documents=(Document(document.title, sentence),)))
        self.inputs.read(probes.values())
        self.inputs.ids.read(text for _, _, title, sentence in probes for text in (f"{title}:", sentence))
        scores = dict(
            zip(probes, self._forward([self._short(probe) for probe in probes.values()], result), strict=True)
        )
        packed = []
        for pair, own in zip(pairs, pieces, strict=True):
            values = [scores[self._sentence_key(pair, pair.documents[d].title, text)] for _, d, text in own]
            packed.append(self._best_that_fit(pair, own, sorted(range(len(own)), key=lambda k: -values[k])))
        return packed

    def _best_that_fit(self, pair: Pair, pieces: Sequence[tuple[int, int, str]], order: Sequence[int]) -> Pair:
        """The pair with as many of the pieces as fit, taken in that order."""
        ids = self.inputs.ids
        separator = len(ids.of(DOCUMENT_SEPARATOR))
        room, taken = self.inputs.room(pair), 0
        chosen: list[int] = []
        titled: set[int] = set()
        for k in order:
            _, d, sentence = pieces[k]
            title = pair.documents[d].title
            heading = 0 if d in titled else separator + (len(ids.of(f"{title}:")) if title else 0)
            if taken + heading + len(ids.of(sentence)) <= room:
                taken += heading + len(ids.of(sentence))
                titled.add(d)
                chosen.append(k)
        # A text may have more tokens than its parts: what counts is how many it has.
        while True:
            packed = self._with_sentences(pair, [pieces[k] for k in sorted(chosen)])
            if not chosen or self.inputs.prepare(packed)["length"] <= self.inputs.limit:
                return packed
            chosen.pop()

    @staticmethod
    def _sentence_key(pair: Pair, title: str, sentence: str) -> tuple[str, ...]:
        return pair.statement, pair.context or "", title, sentence

    def _short(self, probe: Pair) -> dict[str, Any]:
        """The inputs of a single sentence; of one over the limit those of its first window: it only ranks."""
        row = self.inputs.prepare(probe)
        return row if row["length"] <= self.inputs.limit else self.inputs.windows(probe)[0]

    @staticmethod
    def _with_sentences(pair: Pair, pieces: Sequence[tuple[int, int, str]]) -> Pair:
        texts: dict[int, list[str]] = {}
        for _, d, sentence in pieces:
            texts.setdefault(d, []).append(sentence)
        return replace(
            pair, documents=tuple(Document(pair.documents[d].title, " ".join(parts)) for d, parts in texts.items())
        )

    @torch.inference_mode()
    def _forward(self, rows: Sequence[dict[str, Any]], result: Logits) -> NDArray[np.float64]:
        lengths = [len(row["input_ids"]) for row in rows]
        result.tokens += sum(lengths)
        values = np.empty(len(rows))

        def forward(batch: list[int]) -> None:
            inputs = self.inputs.collate([rows[i] for i in batch])
            found = self.values(self.model, {key: value.to(self.device) for key, value in inputs.items()})
            values[batch] = found.double().cpu().numpy()

        self.batches.run(lengths, forward)
        return values
