"""From pairs to tensors, for both shapes. The statement is never truncated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from citeverifier.records import Pair
from citeverifier.text.rendering import render_document, render_pair

STRIDE = 32  # tokens that neighbouring windows of a long document share
STRIDE_LONG = 64  # tokens that neighbouring windows of a long premise share

MULTIPLE = 8  # batches are padded to a multiple of it: fewer distinct shapes, less memory lost between them


def width_of(rows: Sequence[Sequence[int]]) -> int:
    """The padded width of a batch: its longest row, rounded up to MULTIPLE."""
    return -(-max(len(row) for row in rows) // MULTIPLE) * MULTIPLE


def pad(rows: Sequence[Sequence[int]], value: int) -> Tensor:
    """Token id lists as one tensor (n, width), padded with `value`."""
    padded = np.full((len(rows), width_of(rows)), value, dtype=np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return torch.from_numpy(padded)


def token_ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """The ids of each text, without special tokens; one call, on all cores."""
    ids: list[list[int]] = tokenizer(list(texts), add_special_tokens=False)["input_ids"] if texts else []
    return ids


class StatementTooLong(ValueError):
    """A statement that leaves no room within the model's limit; it is not truncated but unscored."""


class LateInteractionInputs:
    """Tokenises statements and documents apart.

    Args:
        tokenizer: a fast tokenizer.
        window: tokens a document window may have, special tokens included; longer documents become several windows.
        limit: tokens the encoder takes at once; context is cut to it, a statement never is.
        context: whether a statement is encoded with its context (whose tokens do not count in the matching).
    """

    def __init__(self, tokenizer: Any, window: int, limit: int, context: bool) -> None:
        self.tokenizer, self.window, self.limit, self.context = tokenizer, window, limit, context
        # The special tokens before and after a single text, whatever the tokenizer's template.
        probe = tokenizer("a")
        inside = [i for i, sequence in enumerate(probe.sequence_ids(0)) if sequence is not None]
        self.before: list[int] = probe["input_ids"][: inside[0]]
        self.after: list[int] = probe["input_ids"][inside[-1] + 1 :]

    def statement_key(self, pair: Pair) -> tuple[str, str]:
        """What of a pair decides its statement's encoding: (statement, context or "")."""
        return pair.statement, (pair.context or "") if self.context else ""

    def statement(self, key: tuple[str, str]) -> tuple[list[int], list[bool]]:
        """(token ids, which count). Raises StatementTooLong."""
        text, context = key
        bare = self.tokenizer(text)
        if len(bare["input_ids"]) > self.limit:
            raise StatementTooLong(f"statement of {len(bare['input_ids'])} tokens, the model takes {self.limit}")
        if not context:
            return bare["input_ids"], [s is not None for s in bare.sequence_ids(0)]
        both = self.tokenizer(text, context)
        ids, owners = both["input_ids"], both.sequence_ids(0)
        excess = len(ids) - self.limit
        context_tokens = [i for i, owner in enumerate(owners) if owner == 1]
        if excess >= len(context_tokens):
            return bare["input_ids"], [s is not None for s in bare.sequence_ids(0)]
        cut = set(context_tokens[len(context_tokens) - max(0, excess) :])
        kept = [i for i in range(len(ids)) if i not in cut]
        return [ids[i] for i in kept], [owners[i] == 0 for i in kept]

    def documents(self, texts: Sequence[str]) -> list[list[list[int]]]:
        """The token ids of each window of each document, special tokens included."""
        room = self.window - len(self.before) - len(self.after)
        return [
            [[*self.before, *part, *self.after] for part in overlapping(ids, room, STRIDE)]
            for ids in token_ids(self.tokenizer, texts)
        ]

    def document_mask(self, windows: Sequence[list[int]]) -> Tensor:
        """Which tokens of padded windows count (n, longest): all but special tokens and padding."""
        before, after = len(self.before), len(self.after)
        width = width_of(windows)
        return torch.tensor([[before <= i < len(w) - after for i in range(width)] for w in windows])

    def statements_batch(self, encoded: Sequence[tuple[list[int], list[bool]]]) -> dict[str, Tensor]:
        """Padded ids, attention and counting mask of encoded statements."""
        return {
            "statement_ids": pad([ids for ids, _ in encoded], self.tokenizer.pad_token_id),
            "statement_attention": pad([[1] * len(ids) for ids, _ in encoded], 0),
            "statement_mask": pad([list(map(int, mask)) for _, mask in encoded], 0).bool(),
        }

    def documents_batch(self, windows: Sequence[list[int]]) -> dict[str, Tensor]:
        """Padded ids, attention and counting mask of document windows."""
        return {
            "document_ids": pad(windows, self.tokenizer.pad_token_id),
            "document_attention": pad([[1] * len(window) for window in windows], 0),
            "document_mask": self.document_mask(windows),
        }

    def prepare(self, pair: Pair) -> dict[str, Any]:
        """A pair's token ids: {"statement", "windows" of its documents, their "owners", "length": tokens in all}."""
        documents = self.documents([render_document(document) for document in pair.documents])
        windows = [window for document in documents for window in document]
        owners = [number for number, document in enumerate(documents) for _ in document]
        statement = self.statement(self.statement_key(pair))
        length = len(statement[0]) + sum(map(len, windows))
        return {"statement": statement, "windows": windows, "owners": owners, "length": length}

    def collate(self, prepared: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """A batch as `LateInteraction.forward` takes it; equal statements and windows are encoded once."""
        statements: dict[tuple[tuple[int, ...], tuple[bool, ...]], int] = {}
        windows: dict[tuple[int, ...], int] = {}
        statement_index, document_index = [], []
        for item in prepared:
            ids, mask = item["statement"]
            statement_index.append(statements.setdefault((tuple(ids), tuple(mask)), len(statements)))
            document_index.append([windows.setdefault(tuple(w), len(windows)) for w in item["windows"]])
        most = max(map(len, document_index))
        return {
            **self.statements_batch([(list(ids), list(mask)) for ids, mask in statements]),
            **self.documents_batch([list(window) for window in windows]),
            "statement_index": torch.tensor(statement_index),
            "document_index": torch.tensor([[*row, *[-1] * (most - len(row))] for row in document_index]),
            "document_owner": torch.tensor([[*i["owners"], *[-1] * (most - len(i["owners"]))] for i in prepared]),
        }


class CrossEncoderInputs:
    """Statement and premise as one sequence pair.

    Args:
        tokenizer: a fast tokenizer.
        limit: tokens a pair may have, special tokens included.
        context: whether the statement is followed by its context.
        premise_first: premise before statement, as models trained on NLI read them.
    """

    def __init__(self, tokenizer: Any, limit: int, context: bool, premise_first: bool = False) -> None:
        self.tokenizer, self.limit, self.context, self.premise_first = tokenizer, limit, context, premise_first
        # The special tokens before, between and after the two texts, and the type of each part.
        probe = tokenizer("a", "a")
        owners = [-1 if owner is None else owner for owner in probe.sequence_ids(0)]
        ids, first, second = probe["input_ids"], owners.index(0), owners.index(1)
        end = max(i for i, owner in enumerate(owners) if owner == 0) + 1
        last = max(i for i, owner in enumerate(owners) if owner == 1) + 1
        self._special = ids[:first], ids[end:second], ids[last:]
        types = probe.get("token_type_ids")
        self._types = None if types is None else (types[0], types[first], types[end], types[second], types[-1])

    def prepare(self, pair: Pair) -> dict[str, Any]:
        """A pair's model inputs and their "length"; it may exceed the limit, which the caller checks."""
        return self.prepare_all([pair])[0]

    def prepare_all(self, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
        """`prepare` of many pairs, tokenised together."""
        texts = [render_pair(pair, context=self.context) for pair in pairs]
        statements = token_ids(self.tokenizer, [statement for statement, _ in texts])
        premises = token_ids(self.tokenizer, [premise for _, premise in texts])
        return [self._row(*ids) for ids in zip(statements, premises, strict=True)]

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special ones."""
        return [len(ids) for ids in token_ids(self.tokenizer, texts)]

    def room(self, pair: Pair) -> int:
        """Tokens left for the premise beside the statement."""
        statement, _ = render_pair(pair, context=self.context)
        return self.limit - sum(map(len, self._special)) - self.lengths([statement])[0]

    def windows(self, pair: Pair) -> list[dict[str, Any]]:
        """The inputs of each window of a premise over the limit, the statement whole in each."""
        statement, premise = token_ids(self.tokenizer, render_pair(pair, context=self.context))
        room = self.room(pair)
        return [self._row(statement, window) for window in overlapping(premise, room, min(STRIDE_LONG, room // 2))]

    def collate(self, prepared: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """A padded batch as the classifier takes it."""
        padding = {"input_ids": self.tokenizer.pad_token_id}
        keys = [key for key in prepared[0] if key != "length"]
        return {key: pad([item[key] for item in prepared], padding.get(key, 0)) for key in keys}

    def _row(self, statement: list[int], premise: list[int]) -> dict[str, Any]:
        a, b = (premise, statement) if self.premise_first else (statement, premise)
        before, between, after = self._special
        ids = [*before, *a, *between, *b, *after]
        row: dict[str, Any] = {"input_ids": ids}
        if self._types is not None:
            sizes = (len(before), len(a), len(between), len(b), len(after))
            row["token_type_ids"] = [t for t, size in zip(self._types, sizes, strict=True) for _ in range(size)]
        return {**row, "attention_mask": [1] * len(ids), "length": len(ids)}


def overlapping(ids: list[int], room: int, stride: int) -> list[list[int]]:
    """Windows of at most `room` ids, neighbours sharing `stride`; all ids where they fit."""
    return [ids[start : start + room] for start in range(0, max(1, len(ids) - stride), room - stride)]


class TextToTextInputs(CrossEncoderInputs):
    """Reads "premise: ... hypothesis: ..." as one text, for sequence-to-sequence models; no context."""

    def __init__(self, tokenizer: Any, limit: int) -> None:
        super().__init__(tokenizer, limit, context=False, premise_first=True)
        before, between, word = token_ids(tokenizer, ["premise:", "hypothesis:", "a"])
        end = tokenizer("a")["input_ids"][len(word) :]
        self._special, self._types = (before, between, end), None
