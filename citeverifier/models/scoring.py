"""Scoring with a loaded checkpoint: pairs in, folded logits out. One engine a shape.

Equal work is done once, texts are sorted by length and batched under a token budget, and a pair's score does not depend
on what it is scored with.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize
from tqdm.auto import tqdm

from citeverifier.models.inputs import (
    STRIDE_LONG,
    CrossEncoderInputs,
    LateInteractionInputs,
    StatementTooLong,
    pad,
)
from citeverifier.models.late_interaction import LateInteraction
from citeverifier.records import Document, Pair, Support
from citeverifier.text.rendering import render_document
from citeverifier.text.sentences import sentences

TOKEN_BUDGET = 4096  # padded tokens a forward pass may have
CHUNK = 512  # pairs whose texts are held at a time


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


def batches_by_length(lengths: Sequence[int], budget: int = TOKEN_BUDGET) -> Iterator[list[int]]:
    """Positions, longest first, in batches of at most `budget` padded tokens (one text at least)."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


class LateInteractionEngine:
    """Encodes each distinct statement and document once; a premise's match is the maximum over its documents' matches,
    a document's that of its best window.

    Document vectors stay in a bounded cache across calls (`cache_tokens` token vectors). No length limit for premises.
    """

    def __init__(self, model: LateInteraction, inputs: LateInteractionInputs, cache_tokens: int = 400_000) -> None:
        self.model, self.inputs, self.cache_tokens = model, inputs, cache_tokens
        self.device = next(model.parameters()).device
        self._documents: OrderedDict[str, list[Tensor]] = OrderedDict()  # vectors of each window
        self._cached = 0

    @torch.inference_mode()
    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs; the same for both levels."""
        result = Logits(np.full(len(pairs), np.nan))
        starts = range(0, len(pairs), CHUNK)
        for start in tqdm(starts, desc="scoring", unit_scale=CHUNK, disable=len(starts) < 2 or None, leave=False):
            self._chunk(pairs[start : start + CHUNK], start, result)
        return result

    def _chunk(self, pairs: Sequence[Pair], start: int, result: Logits) -> None:
        encoded: dict[tuple[str, str], tuple[list[int], list[bool]]] = {}
        kept = []
        for i, pair in enumerate(pairs):
            key = self.inputs.statement_key(pair)
            try:
                if key not in encoded:
                    encoded[key] = self.inputs.statement(key)
                kept.append(i)
            except StatementTooLong as error:
                result.reasons[start + i] = str(error)
        statements = self._statements(encoded, result)
        texts = {i: [render_document(document) for document in pairs[i].documents] for i in kept}
        documents = self._encode_documents(list(dict.fromkeys(t for ts in texts.values() for t in ts)), result)
        asked: dict[tuple[str, str], dict[str, None]] = {}
        for i in kept:
            asked.setdefault(self.inputs.statement_key(pairs[i]), {}).update(dict.fromkeys(texts[i]))
        matches: dict[tuple[str, str], dict[str, Tensor]] = {}
        for key, wanted in asked.items():
            vectors = [window for text in wanted for window in documents[text]]
            similarity = normalize(statements[key], dim=-1) @ torch.cat(vectors).T
            windows = iter([part.amax(dim=1) for part in torch.split(similarity, [len(v) for v in vectors], dim=1)])
            matches[key] = {
                text: self._best([next(windows) for _ in documents[text]], statements[key]) for text in wanted
            }
        for begin in range(0, len(kept), CHUNK):
            chosen = kept[begin : begin + CHUNK]
            keys = [self.inputs.statement_key(pairs[i]) for i in chosen]
            rows = [
                torch.stack([matches[key][t] for t in texts[i]]).amax(dim=0)
                for i, key in zip(chosen, keys, strict=True)
            ]
            values = self._head([statements[key] for key in keys], rows)
            result.values[[start + i for i in chosen]] = values

    def _best(self, windows: list[Tensor], statement: Tensor) -> Tensor:
        """Of a document's matches (s,) with each window, those with the best."""
        if len(windows) == 1:
            return windows[0]
        every = torch.ones(1, len(statement), dtype=torch.bool, device=self.device)
        weight = self.model.head.log_weights(statement.unsqueeze(0), every).exp().squeeze(0)
        return max(windows, key=lambda matches: float(weight @ matches))

    def _head(self, tokens: Sequence[Tensor], matches: Sequence[Tensor]) -> NDArray[np.float64]:
        stacked = torch.nn.utils.rnn.pad_sequence(list(tokens), batch_first=True)
        best = torch.nn.utils.rnn.pad_sequence(list(matches), batch_first=True)
        lengths = torch.tensor([len(m) for m in matches], device=self.device)
        mask = torch.arange(best.shape[1], device=self.device) < lengths.unsqueeze(1)
        return self.model.head(stacked, mask, best).squeeze(1).double().cpu().numpy()  # type: ignore[no-any-return]

    def _encode(self, ids: Sequence[list[int]]) -> dict[int, Tensor]:
        """Token vectors in float32, (tokens, h), by position."""
        found: dict[int, Tensor] = {}
        for batch in batches_by_length([len(row) for row in ids]):
            rows = [ids[i] for i in batch]
            tokens = self.model.encode(
                pad(rows, self.inputs.tokenizer.pad_token_id).to(self.device),
                pad([[1] * len(row) for row in rows], 0).to(self.device),
            ).float()
            found |= {i: tokens[at, : len(ids[i])] for at, i in enumerate(batch)}
        return found

    def _statements(
        self, encoded: dict[tuple[str, str], tuple[list[int], list[bool]]], result: Logits
    ) -> dict[tuple[str, str], Tensor]:
        ids = [row for row, _ in encoded.values()]
        result.tokens += sum(map(len, ids))
        tokens = self._encode(ids)
        return {
            key: tokens[i][torch.tensor(mask, device=self.device)] for i, (key, (_, mask)) in enumerate(encoded.items())
        }

    def _encode_documents(self, texts: Sequence[str], result: Logits) -> dict[str, list[Tensor]]:
        found = {}
        for text in texts:
            if text in self._documents:
                self._documents.move_to_end(text)
                found[text] = self._documents[text]
        missing = [text for text in texts if text not in found]
        windows = {text: self.inputs.document(text) for text in missing}
        flat = [window for text in missing for window in windows[text]]
        result.tokens += sum(map(len, flat))
        result.windowed += sum(len(w) > 1 for w in windows.values())
        tokens = self._encode(flat)
        before, after = len(self.inputs.before), len(self.inputs.after)
        position = 0
        for text in missing:
            found[text] = [
                normalize(tokens[position + k][before : len(w) - after], dim=-1) for k, w in enumerate(windows[text])
            ]
            position += len(windows[text])
            self._keep(text, found[text])
        return found

    def _keep(self, text: str, windows: list[Tensor]) -> None:
        self._documents[text] = windows
        self._cached += sum(map(len, windows))
        while self._cached > self.cache_tokens and len(self._documents) > 1:
            self._cached -= sum(map(len, self._documents.popitem(last=False)[1]))


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

    @torch.inference_mode()
    def logits(self, pairs: Sequence[Pair], level: Support) -> Logits:
        """Logits of pairs at a level."""
        result = Logits(np.full(len(pairs), np.nan))
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
            packed = self._packed([pairs[i] for i in long], result)
            result.values[long] = self._forward([self.inputs.prepare(pair) for pair in packed], result)
            result.packed += len(long)
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
        scores = dict(
            zip(probes, self._forward([self._short(probe) for probe in probes.values()], result), strict=True)
        )
        packed = []
        for pair, own in zip(pairs, pieces, strict=True):
            values = [scores[self._sentence_key(pair, pair.documents[d].title, text)] for _, d, text in own]
            chosen: list[int] = []
            for k in sorted(range(len(own)), key=lambda k: -values[k]):
                candidate = self._with_sentences(pair, [own[j] for j in sorted([*chosen, k])])
                if self.inputs.prepare(candidate)["length"] <= self.inputs.limit:
                    chosen.append(k)
            packed.append(self._with_sentences(pair, [own[j] for j in sorted(chosen)]))
        return packed

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
        with tqdm(total=len(rows), desc="scoring", disable=len(rows) < 64 or None, leave=False) as bar:
            for batch in batches_by_length(lengths):
                inputs = self.inputs.collate([rows[i] for i in batch])
                found = self.values(self.model, {key: value.to(self.device) for key, value in inputs.items()})
                values[batch] = found.double().cpu().numpy()
                bar.update(len(batch))
        return values
