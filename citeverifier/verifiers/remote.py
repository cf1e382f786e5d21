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
from itertools import islice
from typing import Any, Literal

import numpy as np
from scipy.special import logit

from citeverifier.cost import Cost
from citeverifier.llm.connection import Connection, Failure, shorten
from citeverifier.llm.request import LLMOptions
from citeverifier.models.checkpoint import local_folder, read_config
from citeverifier.models.cut_points import probability
from citeverifier.records import Pair, Support
from citeverifier.text.rendering import RENDERING, render_pair
from citeverifier.verifiers.base import Scorer, Scores

Texts = tuple[str, str]
Answer = tuple[float, str | None]  # sigmoid(z), or nan and the reason

PATHS = {"score": "/score", "predict": "/predict"}
KEPT = 100_000  # answers remembered, so that the second level asks nothing


class Remote(Scorer):
    """Scores pairs over HTTP, several requests in flight; what the server does not answer is unscored with the reason.

    Args:
        base_url: the server; several of the same model belong behind a reverse proxy.
        api: "score" (vLLM) or "predict" (text-embeddings-inference).
        path: the served checkpoint's folder or hub id, for its numbers and its tokenizer, which counts lengths.
        delta, thresholds, reads_context: the checkpoint's numbers where there is no `path`; they win over it.
        model: the name it is served under (vLLM takes none, too, and answers with what it has).
        version: which weights are served. With model and version, scores are kept across runs.
        too_long: what becomes of pairs over the limit: "refuse" the scheme at start-up, or leave it to the server,
            which refuses them, so that they stay "unscored".
        batch_size: pairs a request; text-embeddings-inference takes 32 unless started with another
            --max-client-batch-size.
        concurrency, timeout, retries, api_key_env: as in `LLMOptions`.

    Raises:
        ValueError: neither path nor delta, a late-interaction checkpoint, settings that make no sense.
    """

    name = "remote"
    thresholds: Mapping[Support, float] | None = None  # fitted on dev, unless they are known
    fingerprint: str | None = None
    limit: int | None = None

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
            raise ValueError(f"verifier.api: expected score (vLLM) or predict (text-embeddings-inference), got {api!r}")
        if too_long not in ("refuse", "unscored"):
            raise ValueError(f"verifier.too_long: expected refuse or unscored, got {too_long!r}")
        if batch_size < 1:
            raise ValueError(f"verifier.batch_size: expected at least 1, got {batch_size}")
        self.api, self.model, self.too_long, self.batch_size = api, model, too_long, batch_size
        self._options = LLMOptions(
            model or "", base_url=base_url, concurrency=concurrency, timeout=timeout, retries=retries,
            api_key_env=api_key_env,
        )  # fmt: skip
        if path is not None:
            delta, thresholds, reads_context = self._read_checkpoint(path, delta, thresholds, reads_context)
        if delta is None:
            raise ValueError(
                "verifier=remote: expected the checkpoint's config (verifier.path=FOLDER_OR_HUB_ID) or its numbers "
                "(verifier.delta=..., see its model card), got neither"
            )
        self.delta, self.reads_context = float(delta), bool(reads_context)
        if thresholds is not None:
            self.thresholds = {Support.parse(level): float(value) for level, value in thresholds.items()}
        if model is not None and version is not None:
            settings = (self.name, model, version, self.delta, self.reads_context, RENDERING)
            self.fingerprint = hashlib.sha256(repr(settings).encode()).hexdigest()
        self._kept: dict[Texts, Answer] = {}

    def _read_checkpoint(
        self, path: str, delta: float | None, thresholds: Mapping[str, float] | None, reads_context: bool | None
    ) -> tuple[float, Mapping[str, float], bool]:
        """The numbers as given, else as saved with the checkpoint; its limit and tokenizer are kept."""
        from tokenizers import Tokenizer

        folder = local_folder(path)
        config = read_config(folder)
        if config.shape != "cross_encoder":
            raise ValueError(
                f"{path}: expected a cross-encoder, got {config.shape}, which no other program serves; use "
                f"verifier=citeverifier verifier.path={path}"
            )
        self.limit, self._tokenizer = config.max_length, Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        return (
            config.delta if delta is None else delta,
            config.thresholds if thresholds is None else thresholds,
            config.reads_context if reads_context is None else reads_context,
        )

    def refuses(self, pairs: Sequence[Pair], level: Support) -> str | None:
        """How many pairs are over the limit; None where none is, the limit is unknown, or they may stay unscored."""
        if self.limit is None or self.too_long == "unscored":
            return None
        over = sum(len(self._tokenizer.encode(*self._texts(pair)).ids) > self.limit for pair in pairs)
        if not over:
            return None
        return (
            f"{over} of {len(pairs)} premises with their statements have over {self.limit} tokens "
            "(verifier.too_long=unscored leaves them out)"
        )

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """P(support >= level); equal pairs are asked once, for both levels."""
        texts = [self._texts(pair) for pair in pairs]
        new = list(dict.fromkeys(text for text in texts if text not in self._kept))
        cost = _run_to_end(self._ask_all(new)) if new else Cost()
        answers = [self._kept[text] for text in texts]
        for text in list(islice(self._kept, max(0, len(self._kept) - KEPT))):
            del self._kept[text]
        values = probability(logit(np.array([value for value, _ in answers], dtype=np.float64)), level, self.delta)
        return Scores(values, {i: reason for i, (_, reason) in enumerate(answers) if reason is not None}, cost)

    def _texts(self, pair: Pair) -> Texts:
        return render_pair(pair, context=self.reads_context)

    async def _ask_all(self, texts: Sequence[Texts]) -> Cost:
        """Ask the server and keep the answers."""
        connection, free, calls, tokens = Connection(self._options), asyncio.Semaphore(self._options.concurrency), 0, 0

        async def ask(part: Sequence[Texts]) -> None:
            nonlocal calls, tokens
            async with free:
                calls += 1
                answer = await connection.post(PATHS[self.api], self._body(part))
            outcome = answer if isinstance(answer, Failure) else self._read(answer, len(part))
            if not isinstance(outcome, Failure):
                answers, used = outcome
            elif outcome.refused and len(part) > 1:  # refused for one of its pairs, which halving finds
                await asyncio.gather(ask(part[: len(part) // 2]), ask(part[len(part) // 2 :]))
                return
            else:
                answers, used = [(math.nan, outcome.error)] * len(part), 0
            tokens += used
            self._kept |= zip(part, answers, strict=True)

        try:
            async with asyncio.TaskGroup() as group:
                for start in range(0, len(texts), self.batch_size):
                    group.create_task(ask(texts[start : start + self.batch_size]))
        except ExceptionGroup as errors:  # the run cannot go on (LLMError), in every request alike
            raise errors.exceptions[0] from None
        finally:
            await connection.close()
        return Cost(distinct_pairs=len(texts), calls=calls, tokens=tokens)

    def _body(self, texts: Sequence[Texts]) -> dict[str, Any]:
        if self.api == "predict":
            return {"inputs": [list(text) for text in texts], "raw_scores": False, "truncate": False}
        named = {} if self.model is None else {"model": self.model}
        return {**named, "text_1": [first for first, _ in texts], "text_2": [second for _, second in texts]}

    def _read(self, body: Any, count: int) -> tuple[list[Answer], int] | Failure:
        """The scores of an answer's body, in the order of the texts, and the tokens it counted."""
        try:
            if self.api == "predict":
                scores, tokens = [labels[0]["score"] for labels in body if len(labels) == 1], 0
            else:
                scores = [row["score"] for row in sorted(body["data"], key=lambda row: row["index"])]
                tokens = int(body["usage"]["prompt_tokens"])
        except (KeyError, TypeError, IndexError, ValueError):
            scores, tokens = [], 0
        if len(scores) != count:
            expected = f"expected one score for each of {count} pairs, as a one-label classifier gives them"
            return Failure(f"{expected}, got {shorten(str(body))}", refused=True)
        return [_checked(score) for score in scores], tokens


def _checked(score: Any) -> Answer:
    """The score as it is, or nan and what is wrong with it."""
    if isinstance(score, int | float) and 0.0 <= score <= 1.0:
        return float(score), None
    return math.nan, f"expected a probability, as sigmoid gives it, got {score!r}"


def _run_to_end(asking: Coroutine[Any, Any, Cost]) -> Cost:
    """Run to the end, where an event loop runs already (a notebook's) in a thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asking).result()
