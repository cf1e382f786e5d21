"""A cross-encoder checkpoint that another program serves: vLLM's /score, text-embeddings-inference's /predict.

Needs no torch and no weights here. The served score is sigmoid(z), which answers level partial; level full follows from
it by `delta`. A pair is rendered as for every other verifier, and never cut.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from scipy.special import logit
from tqdm.auto import tqdm

from citeverifier.cost import Cost
from citeverifier.llm.connection import Connection, Failure, shorten
from citeverifier.llm.request import LLMOptions
from citeverifier.models.checkpoint import local_folder, read_config
from citeverifier.models.cut_points import probability
from citeverifier.records import Pair, Support
from citeverifier.text.rendering import RENDERING, render_pair
from citeverifier.verifiers.base import Scorer, Scores

T = TypeVar("T")
Texts = tuple[str, str]
Answer = tuple[float, str | None]  # sigmoid(z), or nan and the reason

PATHS = {"score": "/score", "predict": "/predict"}
_TOKENISED = 256  # pairs at a time


class Remote(Scorer):
    """Scores pairs over HTTP, several requests in flight; what a server does not answer is unscored with the reason.

    Args:
        base_url: the server; several of the same model belong behind a reverse proxy.
        api: "score" (vLLM) or "predict" (text-embeddings-inference).
        path: the served checkpoint's folder or hub id, for its numbers and its tokenizer. Only a local copy tells the
            length limit; without one the server refuses what is too long.
        delta, thresholds, reads_context: the checkpoint's numbers where there is no `path`; they win over it.
        model: the name it is served under (vLLM takes none, too, and answers with what it has).
        version: which weights are served. With model and version, scores are kept across runs.
        too_long: what becomes of pairs over the limit: "refuse" the scheme at start-up, or leave them "unscored".
        batch_size: pairs a request; text-embeddings-inference takes 32 unless started with another
            --max-client-batch-size.
        concurrency, timeout, retries, api_key_env: as in `LLMOptions`.

    Raises:
        ValueError: neither path nor delta, a late-interaction checkpoint, settings that make no sense.
    """

    name = "remote"

    def __init__(
        self,
        base_url: str,
        api: Literal["score", "predict"] = "score",
        path: str | None = None,
        delta: float | None = None,
        thresholds: Mapping[str, float] | None = None,
        reads_context: bool | None = None,
        model: str | None = None,
        version: str | None = None,
        too_long: Literal["refuse", "unscored"] = "refuse",
        batch_size: int = 32,
        concurrency: int = 8,
        timeout: float = 60.0,
        retries: int = 5,
        api_key_env: str | None = None,
    ) -> None:
        if api not in PATHS:
            raise ValueError(
                f"verifier.api: expected score (vLLM) or predict (text-embeddings-inference), came {api!r}"
            )
        if too_long not in ("refuse", "unscored"):
            raise ValueError(f"verifier.too_long: expected refuse or unscored, came {too_long!r}")
        if batch_size < 1:
            raise ValueError(f"verifier.batch_size: expected at least 1, came {batch_size}")
        if path is None and delta is None:
            raise ValueError(
                "verifier=remote: expected the checkpoint's config (verifier.path=FOLDER_OR_HUB_ID) or its numbers "
                "(verifier.delta=..., see its model card), came neither"
            )
        self.api, self.model, self.too_long, self.batch_size = api, model, too_long, batch_size
        self._options = LLMOptions(
            model or "", base_url=base_url, concurrency=concurrency, timeout=timeout, retries=retries,
            api_key_env=api_key_env,
        )  # fmt: skip
        self.limit: int | None = None
        if path is not None:
            folder = local_folder(path)
            config = read_config(folder)
            if config.shape != "cross_encoder":
                raise ValueError(
                    f"{path}: expected a cross-encoder, came {config.shape}, which no other program serves; use "
                    f"verifier=citeverifier verifier.path={path}"
                )
            self.limit, self._tokenizer = config.max_length, _tokenizer(folder)
            delta = config.delta if delta is None else delta
            thresholds = config.thresholds if thresholds is None else thresholds
            reads_context = config.reads_context if reads_context is None else reads_context
        self.delta = float(delta or 0.0)
        self.reads_context = bool(reads_context)
        self._thresholds: dict[Support, float] | None = None
        self._fingerprint: str | None = None
        if thresholds is not None:
            self._thresholds = {Support.parse(level): float(value) for level, value in thresholds.items()}
        if model is not None and version is not None:
            settings = (self.name, model, version, self.delta, self.reads_context, RENDERING)
            self._fingerprint = hashlib.sha256(repr(settings).encode()).hexdigest()
        self._known: dict[Texts, Answer] = {}

    @property
    def thresholds(self) -> Mapping[Support, float] | None:
        """As given, or the checkpoint's; None: fitted on dev."""
        return self._thresholds

    @property
    def fingerprint(self) -> str | None:
        """Of model, version and settings; None without a version."""
        return self._fingerprint

    def refuses(self, pairs: Sequence[Pair], level: Support) -> str | None:
        """How many pairs are over the limit; None where none is, the limit is unknown, or they stay unscored."""
        if self.limit is None or self.too_long == "unscored":
            return None
        over = sum(length > self.limit for length in self._lengths([self._texts(pair) for pair in pairs]))
        if not over:
            return None
        return (
            f"{over} of {len(pairs)} premises with their statements have over {self.limit} tokens "
            "(verifier.too_long=unscored leaves them out)"
        )

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """P(support >= level); equal pairs are asked once, for both levels."""
        texts = [self._texts(pair) for pair in pairs]
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        calls, tokens = self._ask(new)
        answers = [self._known[text] for text in texts]
        values = probability(logit(np.array([value for value, _ in answers], dtype=np.float64)), level, self.delta)
        reasons = {i: reason for i, (_, reason) in enumerate(answers) if reason is not None}
        return Scores(values, reasons, Cost(distinct_pairs=len(new), calls=calls, tokens=tokens))

    def _texts(self, pair: Pair) -> Texts:
        return render_pair(pair, context=self.reads_context)

    def _lengths(self, texts: Sequence[Texts]) -> list[int]:
        """Tokens of each pair, special ones included."""
        parts = [texts[start : start + _TOKENISED] for start in range(0, len(texts), _TOKENISED)]
        return [len(encoded.ids) for part in parts for encoded in self._tokenizer.encode_batch(part)]

    def _ask(self, texts: Sequence[Texts]) -> tuple[int, int]:
        """Ask the servers and keep the answers; returns (requests sent, tokens read)."""
        asked = list(texts)
        if self.limit is not None:
            lengths = dict(zip(texts, self._lengths(texts), strict=True))
            asked = [text for text in texts if lengths[text] <= self.limit]
            for text in lengths.keys() - set(asked):
                self._known[text] = math.nan, f"{lengths[text]} tokens, over the checkpoint's limit of {self.limit}"
        return _run(self._ask_all(asked)) if asked else (0, 0)

    async def _ask_all(self, texts: Sequence[Texts]) -> tuple[int, int]:
        calls, tokens = 0, 0
        connection = Connection(self._options)
        free = asyncio.Semaphore(self._options.concurrency)

        async def ask(part: Sequence[Texts]) -> None:
            nonlocal calls, tokens
            async with free:
                calls += 1
                answer = await connection.post(PATHS[self.api], self._body(part))
            outcome = answer if isinstance(answer, Failure) else self._read(answer, part)
            if not isinstance(outcome, Failure):
                answers, used = outcome
                tokens += used
                self._known |= dict(zip(part, answers, strict=True))
                bar.update(len(part))
            elif outcome.refused and len(part) > 1:  # refused for one of its pairs, which halving finds
                await asyncio.gather(ask(part[: len(part) // 2]), ask(part[len(part) // 2 :]))
            else:
                self._known |= dict.fromkeys(part, (math.nan, outcome.error))
                bar.update(len(part))

        try:
            with tqdm(total=len(texts), desc=self.name, disable=len(texts) < 64 or None, leave=False) as bar:
                starts = range(0, len(texts), self.batch_size)
                async with asyncio.TaskGroup() as group:
                    for start in starts:
                        group.create_task(ask(texts[start : start + self.batch_size]))
        except ExceptionGroup as errors:  # the run cannot go on (LLMError), in every request alike
            raise errors.exceptions[0] from None
        finally:
            await connection.close()
        return calls, tokens

    def _body(self, texts: Sequence[Texts]) -> dict[str, Any]:
        if self.api == "predict":
            return {"inputs": [list(text) for text in texts], "raw_scores": False, "truncate": False}
        named = {} if self.model is None else {"model": self.model}
        return {**named, "text_1": [first for first, _ in texts], "text_2": [second for _, second in texts]}

    def _read(self, answer: Any, texts: Sequence[Texts]) -> tuple[list[Answer], int] | Failure:
        """The scores of an answer's body, in the order of the texts, and the tokens it counted."""
        try:
            if self.api == "predict":
                found, tokens = [labels[0]["score"] for labels in answer if len(labels) == 1], 0
            else:
                rows = sorted(answer["data"], key=lambda row: row["index"])
                found, tokens = [row["score"] for row in rows], int(answer["usage"]["prompt_tokens"])
        except (KeyError, TypeError, IndexError, ValueError):
            found, tokens = [], 0
        if len(found) != len(texts):
            expected = "one score for each of {} pairs, as a one-label classifier gives them"
            return Failure(f"expected {expected.format(len(texts))}, came {shorten(str(answer))}", refused=True)
        return [_checked(value) for value in found], tokens


def _checked(value: Any) -> Answer:
    """The score as it came, or nan and what is wrong with it."""
    if isinstance(value, int | float) and 0.0 <= value <= 1.0:
        return float(value), None
    return math.nan, f"expected a probability, as sigmoid gives it, came {value!r}"


def _tokenizer(folder: Path) -> Any:
    """The checkpoint's tokenizer as it counts a pair: special tokens included, nothing cut, nothing padded."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end, where an event loop runs already (a notebook's) in a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
