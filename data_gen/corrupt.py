"""Stage `corrupt`: corrupted twins of statements, by an LLM or by rule.

The benchmark alters the core information of a statement, training data one detail of it: paper 1 found edits of
details the better training data. The kind of edit asked for goes round in rotation, so that no kind is what the model
happens to like most.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from citeverifier.data.perturb import perturb
from citeverifier.llm.client import Request
from citeverifier.llm.prompts import Prompt
from citeverifier.records import Example, Statement
from citeverifier.text.words import normalise, words
from data_gen.checks import NO_REPLY, failure, in_language, is_refusal, json_object, object_schema, same_words
from data_gen.stage import Asking, Outcome, Step, asking, drop, keep, marked, one_by_one
from data_gen.tools import Tools

SCHEMA = object_schema(corrupted="string", document="integer", before="string", after="string")


LENGTH = (0.6, 1.6)  # bounds of a twin's words over its statement's
MIN_KEPT = 0.5  # the least share of the statement's words that its twin keeps; less is another statement


def by_llm(
    tools: Tools,
    *,
    prompt: str,
    kinds: Sequence[str],
    prompt_lang: str = "en",
    attempts: int = 2,
    max_tokens: int = 512,
    require: bool = False,
) -> Step:
    """The LLM rewrites each cited statement so that its documents no longer support it.

    prompt: `corrupt_core` or `corrupt_detail`, or a prompt of your own.
    kinds: kinds of edit, asked for in rotation; a further attempt asks for the next kind.
    require: drop records in which no twin was made; otherwise they go on without.
    """
    if not kinds or attempts < 1:
        raise ValueError(f"corrupt: expected kinds of edit and at least one attempt, got {list(kinds)}, {attempts}")
    template = Prompt.load(prompt, prompt_lang)
    made_with = tools.made_with(template)

    def ask(example: Example) -> Asking:
        counts: Counter[str] = Counter()
        statements = [replace(s, corrupted=None, altered_in=(), edit=None) for s in example.statements]
        cited = [(number, statement) for number, statement in enumerate(statements) if statement.citations]
        for number, statement in cited:
            turn = _turn(f"{example.id}:{number}", len(kinds))
            documents = [example.documents[i] for i in statement.citations]
            for attempt in range(attempts):
                kind = kinds[(turn + attempt) % len(kinds)]
                messages = template.render(
                    question=example.question, statement=statement.text, documents=documents, kind=kind
                )
                reply = yield Request(messages, schema=SCHEMA, max_tokens=max_tokens, sample=attempt)
                twin = failure(reply.error) if reply.text is None else read_twin(example, statement, reply.text)
                if isinstance(twin, Statement):
                    statements[number] = replace(twin, edit=kind)
                    break
                counts[f"twin: {twin}"] += 1
                if twin == NO_REPLY:
                    break
        if require and not any(statement.corrupted for statement in statements):
            return drop("no twin", None, counts)
        meta = marked(example, "corrupt", made_with)
        return keep(replace(example, statements=tuple(statements), meta=meta), counts=counts)

    return asking(ask, tools.llm(), made_with)


def read_twin(example: Example, statement: Statement, text: str) -> Statement | str:
    """The statement with its twin, or what is wrong with the reply."""
    reply = json_object(text)
    if isinstance(reply, str):
        return reply
    if not isinstance(reply.get("corrupted"), str):
        return "no JSON"
    corrupted = " ".join(reply["corrupted"].split())
    problem = wrong_with_twin(statement.text, corrupted, example.lang)
    if problem is not None:
        return problem
    named, before = reply.get("document"), reply.get("before")
    if not isinstance(named, int) or isinstance(named, bool) or not 1 <= named <= len(statement.citations):
        return "names no cited document"
    span = before if isinstance(before, str) and before and before in statement.text else None
    return replace(statement, corrupted=corrupted, altered_in=(statement.citations[named - 1],), span=span)


def wrong_with_twin(text: str, corrupted: str, lang: str) -> str | None:
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
    if not LENGTH[0] <= len(new) / max(1, len(old)) <= LENGTH[1]:
        return "length"
    kept = (Counter(old) & Counter(new)).total() / max(1, len(old))
    return "another statement" if kept < MIN_KEPT else None


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
        meta = marked(example, "corrupt", {"model": "rules"})
        return keep(replace(example, statements=tuple(statements), meta=meta), counts=+counts)

    return one_by_one(change)


def _perturbed(example: Example, number: int, rng: random.Random) -> Statement:
    statement = example.statements[number]
    texts = [f"{document.title}. {document.text}" for document in example.documents]
    cited = "\n".join(texts[i] for i in statement.citations)
    change = perturb(statement.text, cited=cited, context="\n".join(texts), lang=example.lang, rng=rng)
    if change is None:
        return statement
    holding = [i for i in statement.citations if f" {normalise(change.before)} " in f" {normalise(texts[i])} "]
    if len(statement.citations) == 1:
        holding = list(statement.citations)
    return replace(
        statement,
        corrupted=change.text,
        edit=change.rule,
        span=change.before,
        # held by several documents, each of them may contradict the twin: not known which does by itself
        altered_in=tuple(holding) if len(holding) == 1 else (),
    )
