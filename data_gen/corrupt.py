"""Stages `corrupt` and `check`: corrupted twins of statements, by an LLM or by rule, and a verifier's look at them.

The benchmark alters the core information of a statement, training data one detail of it: paper 1 found edits of
details the better training data. The kind of edit asked for goes round in rotation, so that no kind is what the model
happens to like most.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from citeverifier.data.perturb import perturb
from citeverifier.llm.client import Request
from citeverifier.llm.prompts import Prompt
from citeverifier.records import Document, Example, Statement, Support
from citeverifier.text.words import normalise, words
from data_gen.checks import NO_REPLY, failure, in_language, is_refusal, json_object, same_words
from data_gen.stage import Asking, Outcome, Step, asking, drop, in_batches, keep, made, one_by_one
from data_gen.support import judge, premise
from data_gen.tools import Tools

SCHEMA = {
    "type": "object",
    "properties": {
        "corrupted": {"type": "string"},
        "document": {"type": "integer"},
        "before": {"type": "string"},
        "after": {"type": "string"},
    },
    "required": ["corrupted", "document", "before", "after"],
    "additionalProperties": False,
}


def by_llm(
    tools: Tools,
    *,
    prompt: str,
    kinds: Sequence[str],
    prompt_lang: str = "en",
    attempts: int = 2,
    max_tokens: int = 512,
    min_length: float = 0.6,
    max_length: float = 1.6,
    min_kept: float = 0.5,
    require: bool = False,
) -> Step:
    """The LLM rewrites each cited statement so that its documents no longer support it.

    prompt: `corrupt_core` or `corrupt_detail`, or a prompt of your own.
    kinds: kinds of edit, asked for in rotation; a further attempt asks for the next kind.
    min_length, max_length: bounds of the twin's words over the statement's.
    min_kept: the least share of the statement's words that the twin keeps; less is another statement.
    require: drop records in which no twin was made; otherwise they go on without.
    """
    if not kinds or attempts < 1:
        raise ValueError(f"corrupt: expected kinds of edit and at least one attempt, came {list(kinds)}, {attempts}")
    written = Prompt.load(prompt, prompt_lang)
    made_with = tools.made_with(written)

    def ask(example: Example) -> Asking:
        counts: Counter[str] = Counter()
        statements = [replace(s, corrupted=None, altered_in=(), edit=None) for s in example.statements]
        for number, statement in enumerate(statements):
            if not statement.citations:
                continue
            cited = [example.documents[i] for i in statement.citations]
            turn = _turn(f"{example.id}:{number}", len(kinds))
            for attempt in range(attempts):
                kind = kinds[(turn + attempt) % len(kinds)]
                messages = written.render(
                    question=example.question, statement=statement.text, documents=cited, kind=kind
                )
                reply = yield Request(tuple(messages), schema=SCHEMA, max_tokens=max_tokens, sample=attempt)
                twin: Statement | str = failure(reply.error)
                if reply.text is not None:
                    twin = read_twin(example, statement, cited, reply.text)
                if isinstance(twin, str):
                    counts[f"twin: {twin}"] += 1
                    if twin == NO_REPLY:
                        break
                    continue
                statements[number] = replace(twin, edit=kind)
                break
        if require and not any(statement.corrupted for statement in statements):
            return drop("no twin", None, counts)
        meta = made(example, "corrupt", made_with)
        return keep(replace(example, statements=tuple(statements), meta=meta), counts=counts)

    def read_twin(example: Example, statement: Statement, cited: Sequence[Document], text: str) -> Statement | str:
        """The statement with its twin, or what is wrong with the reply."""
        reply = json_object(text)
        if isinstance(reply, str):
            return reply
        if not isinstance(reply.get("corrupted"), str):
            return "no JSON"
        corrupted = " ".join(reply["corrupted"].split())
        wrong = wrong_with_twin(
            statement.text, corrupted, example.lang, min_length=min_length, max_length=max_length, min_kept=min_kept
        )
        if wrong is not None:
            return wrong
        named = reply.get("document")
        if not isinstance(named, int) or isinstance(named, bool) or not 1 <= named <= len(cited):
            return "names no cited document"
        before = reply.get("before")
        span = before if isinstance(before, str) and before and before in statement.text else None
        position = statement.citations[named - 1]
        return replace(statement, corrupted=corrupted, altered_in=(position,), span=span)

    return asking(ask, tools.llm(), made_with)


def wrong_with_twin(
    text: str, corrupted: str, lang: str, *, min_length: float, max_length: float, min_kept: float
) -> str | None:
    """What is wrong with a twin as a text (empty, unchanged, refusal, language, length, another statement), or None."""
    old, new = words(text), words(corrupted)
    if not new:
        return "empty"
    if same_words(text, corrupted):
        return "unchanged"
    if is_refusal(corrupted):
        return "refusal"
    if not in_language(corrupted, lang):
        return "wrong language"
    if not min_length <= len(new) / max(1, len(old)) <= max_length:
        return "length"
    kept = (Counter(old) & Counter(new)).total() / max(1, len(old))
    return "another statement" if kept < min_kept else None


def _turn(key: str, count: int) -> int:
    """Where in a rotation of `count` a key stands: the same in every run, evenly spread."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") % count


def by_rules(tools: Tools, *, require: bool = False) -> Step:
    """Twins by rule (citeverifier/data/perturb.py) for statements whose source brings none."""

    def change(example: Example) -> Outcome:
        counts: Counter[str] = Counter()
        statements = []
        for number, statement in enumerate(example.statements):
            if statement.citations and statement.corrupted is None:
                statement = _perturbed(example, number, random.Random(f"{tools.seed}:{example.id}:{number}"))
                counts["twin: no rule applies"] += statement.corrupted is None
            statements.append(statement)
        if require and not any(statement.corrupted for statement in statements):
            return drop("no twin", None, +counts)
        if tuple(statements) == example.statements:  # its twins are the source's own
            return keep(example, counts=+counts)
        meta = made(example, "corrupt", {"model": "rules"})
        return keep(replace(example, statements=tuple(statements), meta=meta), counts=+counts)

    return one_by_one(change)


def _perturbed(example: Example, number: int, rng: random.Random) -> Statement:
    statement = example.statements[number]
    texts = {i: f"{example.documents[i].title}. {example.documents[i].text}" for i in range(len(example.documents))}
    found = perturb(
        statement.text,
        cited="\n".join(texts[i] for i in statement.citations),
        context="\n".join(texts.values()),
        lang=example.lang,
        rng=rng,
    )
    if found is None:
        return statement
    holding = [i for i in statement.citations if f" {normalise(found.before)} " in f" {normalise(texts[i])} "]
    if len(statement.citations) == 1:
        holding = list(statement.citations)
    return replace(
        statement,
        corrupted=found.text,
        edit=found.rule,
        span=found.before,
        # held by several documents, each of them may contradict the twin: not known which does by itself
        altered_in=tuple(holding) if len(holding) == 1 else (),
    )


def still_supported(
    tools: Tools, *, level: str = "full", threshold: float | None = None, batch: int = 128, require: bool = False
) -> Step:
    """Takes out twins that the verifier still sees supported, by the altered document or by all cited ones together.

    The threshold is that of the filter: null takes the verifier's own of the level, else 0.5. A twin that the verifier
    cannot score goes too, counted apart. `require` drops records without any twin left.
    """
    asked = Support.parse(level)

    def run(records: Iterator[Example]) -> Iterator[Outcome]:
        verifier = tools.verifier()
        for examples in in_batches(records, batch):
            places = [
                (i, number, premise_of)
                for i, example in enumerate(examples)
                for number, statement in enumerate(example.statements)
                if statement.corrupted is not None
                for premise_of in dict.fromkeys([statement.altered_in or statement.citations, statement.citations])
            ]
            pairs = [premise(examples[i], number, positions, corrupted=True) for i, number, positions in places]
            verdicts = judge(verifier, pairs, asked, threshold)
            failed: dict[tuple[int, int], str] = {}
            for (i, number, _), supported in zip(places, verdicts.supported, strict=True):
                if supported is not False:
                    failed[i, number] = "twin: still supported" if supported else "twin: unscored"
            for i, example in enumerate(examples):
                outcome = _without_twins(example, {n: why for (k, n), why in failed.items() if k == i}, require)
                if i == 0:
                    outcome = replace(outcome, calls=verdicts.calls, prompt_tokens=verdicts.tokens)
                yield outcome

    return Step(run, judges=True)


def _without_twins(example: Example, failed: Mapping[int, str], require: bool) -> Outcome:
    statements = tuple(
        replace(statement, corrupted=None, altered_in=(), edit=None) if n in failed else statement
        for n, statement in enumerate(example.statements)
    )
    counts: dict[str, Any] = dict(Counter(failed.values()))
    if require and not any(statement.corrupted for statement in statements):
        return drop("no twin", None, counts)
    return keep(replace(example, statements=statements), counts=counts)
