"""From pairs to tensors, for both shapes. The statement is never truncated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from citeverifier.records import Pair
from citeverifier.text.rendering import render_document, render_pair

STRIDE = 32  # tokens that neighbouring windows of a long document share
STRIDE_LONG = 64  # tokens that neighbouring windows of a long premise share

MULTIPLE = 16  # batches are padded to a multiple of it: fewer distinct shapes, less memory lost between them


def width_of(rows: Sequence[Sequence[int]]) -> int:
    """The padded width of a batch: its longest row, rounded up to MULTIPLE."""
    return -(-max(len(row) for row in rows) // MULTIPLE) * MULTIPLE


def pad(rows: Sequence[Sequence[int]], value: int) -> Tensor:
    """Token id lists as one tensor (n, width), padded with `value`."""
    width = width_of(rows)
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows])


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
        over = len(ids) - self.limit
        of_context = [i for i, owner in enumerate(owners) if owner == 1]
        if over >= len(of_context):
            return bare["input_ids"], [s is not None for s in bare.sequence_ids(0)]
        cut = set(of_context[len(of_context) - max(0, over) :])
        kept = [i for i in range(len(ids)) if i not in cut]
        return [ids[i] for i in kept], [owners[i] == 0 for i in kept]

    def document(self, text: str) -> list[list[int]]:
        """The token ids of each window of a document, special tokens included."""
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        room = self.window - len(self.before) - len(self.after)
        starts = [0] if len(ids) <= room else range(0, len(ids) - STRIDE, room - STRIDE)
        return [[*self.before, *ids[start : start + room], *self.after] for start in starts]

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
        documents = [self.document(render_document(document)) for document in pair.documents]
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
    """Tokenises statement and premise as one sequence pair.

    Args:
        tokenizer: a fast tokenizer.
        limit: tokens a pair may have, special tokens included.
        context: whether the statement is followed by its context.
    """

    def __init__(self, tokenizer: Any, limit: int, context: bool) -> None:
        self.tokenizer, self.limit, self.context = tokenizer, limit, context

    def prepare(self, pair: Pair) -> dict[str, Any]:
        """A pair's model inputs and their "length"; it may exceed the limit, which the caller checks."""
        first, second = render_pair(pair, context=self.context)
        encoded = dict(self.tokenizer(first, second))
        return {**encoded, "length": len(encoded["input_ids"])}

    def room(self, pair: Pair) -> int:
        """Tokens left for the premise beside the statement."""
        first, _ = render_pair(pair, context=self.context)
        return self.limit - len(self.tokenizer(first, "")["input_ids"])

    def windows(self, pair: Pair) -> list[dict[str, Any]]:
        """The inputs of each window of a premise over the limit, the statement whole in each."""
        first, second = render_pair(pair, context=self.context)
        return overflowing(
            self.tokenizer, first, second, "only_second", self.limit, min(STRIDE_LONG, self.room(pair) // 2)
        )

    def collate(self, prepared: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """A padded batch as the classifier takes it."""
        padding = {"input_ids": self.tokenizer.pad_token_id}
        keys = [key for key in prepared[0] if key != "length"]
        return {key: pad([item[key] for item in prepared], padding.get(key, 0)) for key in keys}


def overflowing(tokenizer: Any, first: str, second: str, cut: str, limit: int, stride: int) -> list[dict[str, Any]]:
    """The inputs of each window of the text that `cut` ("only_first", "only_second") names, the other whole in each."""
    encoded = tokenizer(first, second, truncation=cut, max_length=limit, stride=stride, return_overflowing_tokens=True)
    tokenizer.backend_tokenizer.no_truncation()
    names = [name for name in encoded if name != "overflow_to_sample_mapping"]
    return [{name: encoded[name][k] for name in names} for k in range(len(encoded["input_ids"]))]


class NliInputs(CrossEncoderInputs):
    """Tokenises premise and hypothesis, in that order, as models trained on NLI read them; no context.

    The premise is rendered as for every other verifier; the statement is the hypothesis.
    """

    def __init__(self, tokenizer: Any, limit: int) -> None:
        super().__init__(tokenizer, limit, context=False)

    def prepare(self, pair: Pair) -> dict[str, Any]:
        """A pair's model inputs and their "length"; it may exceed the limit, which the caller checks."""
        hypothesis, premise = render_pair(pair, context=False)
        encoded = dict(self.tokenizer(premise, hypothesis))
        return {**encoded, "length": len(encoded["input_ids"])}

    def room(self, pair: Pair) -> int:
        """Tokens left for the premise beside the hypothesis."""
        return self.limit - len(self.tokenizer("", pair.statement)["input_ids"])

    def windows(self, pair: Pair) -> list[dict[str, Any]]:
        """The inputs of each window of a premise over the limit, the hypothesis whole in each."""
        hypothesis, premise = render_pair(pair, context=False)
        return overflowing(
            self.tokenizer, premise, hypothesis, "only_first", self.limit, min(STRIDE_LONG, self.room(pair) // 2)
        )


class TextToTextInputs(CrossEncoderInputs):
    """Tokenises "premise: ... hypothesis: ..." as one text, for sequence-to-sequence models; no context."""

    def __init__(self, tokenizer: Any, limit: int) -> None:
        super().__init__(tokenizer, limit, context=False)

    def prepare(self, pair: Pair) -> dict[str, Any]:
        """A pair's encoder inputs and their "length"; it may exceed the limit, which the caller checks."""
        hypothesis, premise = render_pair(pair, context=False)
        return self._row(self.tokenizer(f"premise: {premise} hypothesis: {hypothesis}")["input_ids"])

    def room(self, pair: Pair) -> int:
        """Tokens left for the premise beside the hypothesis."""
        return self.limit - len(self._before()) - len(self._after(pair))

    def windows(self, pair: Pair) -> list[dict[str, Any]]:
        """The inputs of each window of a premise over the limit, the hypothesis whole in each."""
        _, premise = render_pair(pair, context=False)
        ids = self.tokenizer(premise, add_special_tokens=False)["input_ids"]
        room = self.room(pair)
        stride = min(STRIDE_LONG, room // 2)
        starts = range(0, max(1, len(ids) - stride), room - stride)
        before, after = self._before(), self._after(pair)
        return [self._row([*before, *ids[start : start + room], *after]) for start in starts]

    def _before(self) -> list[int]:
        ids: list[int] = self.tokenizer("premise:", add_special_tokens=False)["input_ids"]
        return ids

    def _after(self, pair: Pair) -> list[int]:
        ids: list[int] = self.tokenizer(f"hypothesis: {pair.statement}")["input_ids"]
        return ids

    @staticmethod
    def _row(ids: list[int]) -> dict[str, Any]:
        return {"input_ids": ids, "attention_mask": [1] * len(ids), "length": len(ids)}
