"""Responses to rate: an LLM answers questions from their documents, citing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from citeverifier.cost import Cost
from citeverifier.llm.client import LLM, Request
from citeverifier.llm.parsing import without_thinking
from citeverifier.llm.prompts import Prompt
from citeverifier.rating.llm_stages import ask_stage
from citeverifier.records import Example


def generate_responses(
    llm: LLM,
    examples: Sequence[Example],
    folder: Path,
    *,
    system: str,
    oracle: bool = False,
    prompt: str = "answer",
    prompt_lang: str | None = None,
    max_tokens: int = 512,
) -> tuple[list[Example], dict[str, str], Cost]:
    """Examples whose `answer` is the LLM's, with markers; by "ID/LANG" why others have none; what it took.

    `oracle` hands over only the documents that the example's own statements cite, else all of them: rated side by side,
    the two runs tell what retrieval costs. Replies are kept in `folder/answers.jsonl`.
    """
    given = {f"{e.id}/{e.lang}": _only_cited(e) if oracle else e for e in examples}
    requests = {
        key: Request(
            Prompt.load(prompt, prompt_lang or e.lang).render(question=e.question, documents=e.documents),
            max_tokens=max_tokens,
        )
        for key, e in given.items()
    }
    replies, cost = ask_stage(folder / "answers.jsonl", llm, requests)
    answered = [
        replace(example, answer=without_thinking(text).strip(), statements=(), meta={**example.meta, "system": system})
        for key, example in given.items()
        if (text := replies[key].text) is not None
    ]
    failed = {key: reply.error or "no reply" for key, reply in replies.items() if reply.text is None}
    return answered, failed, cost


def _only_cited(example: Example) -> Example:
    cited = {i for statement in example.statements for i in statement.citations}
    if not cited:
        raise ValueError(f"example {example.id!r}: expected statements with citations for documents=oracle, got none")
    return replace(example, documents=tuple(d for i, d in enumerate(example.documents) if i in cited), statements=())
