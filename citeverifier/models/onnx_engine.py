"""Scoring by late interaction with onnxruntime, where torch is not installed; the same scores as in float32."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from citeverifier.extras import brought_by
from citeverifier.models.checkpoint import CheckpointConfig, position_limit
from citeverifier.models.inputs import LateInteractionInputs
from citeverifier.models.late_interaction_scoring import CACHE_BYTES, LateInteractionScoring
from citeverifier.models.late_interaction_tokens import padded
from citeverifier.models.logits import under_budget
from citeverifier.models.onnx_files import ENCODER, HEAD_GRAPH

TOKEN_BUDGET = 1024  # padded tokens a batch
WORKERS = 4  # batches side by side, at most

Floats = NDArray[np.float32]


class OnnxEngine(LateInteractionScoring):
    """Runs the graphs of a checkpoint folder; FileNotFoundError where it has none, with the command that makes them."""

    def __init__(self, folder: Path, config: CheckpointConfig, cache_bytes: int = CACHE_BYTES) -> None:
        with brought_by("onnx"):
            from onnxruntime import InferenceSession, SessionOptions
            from tokenizers import Tokenizer
        missing = [name for name in (ENCODER, HEAD_GRAPH) if not (folder / name).is_file()]
        if missing:
            raise FileNotFoundError(
                f"{folder}: expected {' and '.join(missing)} for onnxruntime, found none; where torch is installed, "
                f"`citeverifier export {folder} NEW_FOLDER` writes them beside a copy of the checkpoint"
            )
        encoder = SimpleNamespace(**json.loads((folder / "config.json").read_text(encoding="utf-8")))
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        limit = position_limit(encoder)
        pad_id = encoder.pad_token_id
        super().__init__(
            LateInteractionInputs(tokenizer, pad_id, config.max_length, limit, config.reads_context), cache_bytes
        )
        options = SessionOptions()
        options.intra_op_num_threads = 1  # batches run side by side instead
        self.encoder, self.head = (
            InferenceSession(folder / name, options, providers=["CPUExecutionProvider"])
            for name in (ENCODER, HEAD_GRAPH)
        )
        self.workers = min(WORKERS, os.cpu_count() or 1)

    def encode(self, ids: Sequence[list[int]], keep: Callable[[Floats], Floats]) -> list[Floats]:
        """What `keep` makes of the token vectors (tokens, h) of each row."""
        lengths = [len(row) for row in ids]
        order = sorted(range(len(ids)), key=lambda i: -lengths[i])
        kept: dict[int, Floats] = {}

        def forward(batch: list[int]) -> None:
            inputs = {
                "input_ids": padded([ids[i] for i in batch], self.inputs.pad_id),
                "attention_mask": padded([[1] * lengths[i] for i in batch], 0),
            }
            (vectors,) = self.encoder.run(None, inputs)
            kept.update({i: keep(vectors[at, : lengths[i]]).copy() for at, i in enumerate(batch)})

        batches = under_budget(order, lengths, TOKEN_BUDGET)
        with ThreadPoolExecutor(self.workers) as pool:
            for _ in tqdm(
                pool.map(forward, batches),
                desc="scoring",
                total=len(batches),
                disable=len(ids) < 64 or None,
                leave=False,
            ):
                pass
        return [kept[i] for i in range(len(ids))]

    def as_premise(self, tokens: Floats) -> Floats:
        """What is kept of a document window."""
        return _normalised(tokens)

    def compare(
        self, statement: Floats, documents: Sequence[Sequence[Floats]], premises: Sequence[Sequence[int]]
    ) -> Floats:
        """Logits (n,) of a statement with n premises."""
        compared = _normalised(statement).T
        by_document = []
        for parts in documents:
            matches = np.stack([(part @ compared).max(axis=0, initial=-1.0) for part in parts])  # (windows, s)
            best = 0
            if len(parts) > 1:
                weights, _ = self.head.run(None, {"tokens": statement, "matches": matches})
                best = int((matches @ weights).argmax())
            by_document.append(matches[best])
        matches = np.stack([np.max([by_document[i] for i in premise], axis=0) for premise in premises])
        _, logits = self.head.run(None, {"tokens": statement, "matches": matches})
        found: Floats = logits
        return found

    def joined(self, logits: list[Floats]) -> NDArray[np.float64]:
        """The logits of all statements."""
        return np.concatenate(logits).astype(np.float64)


def _normalised(tokens: Floats) -> Floats:
    """Rows of length 1."""
    rows: Floats = tokens / np.maximum(np.linalg.norm(tokens, axis=-1, keepdims=True), 1e-12)
    return rows
