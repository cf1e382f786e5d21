"""Stage `point`: a factual point that the first of two like documents states and the second does not."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from citeverifier.data.hotpotqa import resolve_subject
from citeverifier.data.perturb import names, numbers
from citeverifier.llm.client import Request
from citeverifier.llm.prompts import Prompt
from citeverifier.records import Evidence, Example, Statement, Support
from citeverifier.text.sentences import sentences
from citeverifier.text.words import normalise, words
from data_gen.checks import NO_REPLY, failure, in_language, is_refusal, json_object, same_words
from data_gen.stage import Asking, Outcome, Step, asking, drop, in_batches, keep, made, one_by_one
from data_gen.support import judge, premise
from data_gen.tools import Tools

KIND = "factual_point"
SCHEMA = {
    "type": "object",
    "properties": {"point": {"type": "string"}, "quote": {"type": "string"}},
    "required": ["point", "quote"],
    "additionalProperties": False,
}


def by_llm(
    tools: Tools,
    *,
    prompt: str = "factual_point",
    prompt_lang: str = "en",
    attempts: int = 2,
    max_tokens: int = 256,
    min_words: int = 5,
    max_words: int = 40,
) -> Step:
    """The LLM states the point in a sentence of its own and quotes the words that say it.

    The quote must stand in the first document and not in the second; the point must be no copy of a sentence.
    """
    written = Prompt.load(prompt, prompt_lang)
    made_with = tools.made_with(written)

    def ask(example: Example) -> Asking:
        counts: Counter[str] = Counter()
        reason, detail = NO_REPLY, None
        for attempt in range(attempts):
            messages = written.render(first=example.documents[0], second=example.documents[1])
            reply = yield Request(tuple(messages), schema=SCHEMA, max_tokens=max_tokens, sample=attempt)
            found = failure(reply.error) if reply.text is None else read_point(example, reply.text)
            if isinstance(found, Statement):
                return keep(
                    replace(example, statements=(found,), meta=made(example, "point", made_with)), counts=counts
                )
            reason, detail = found, reply.text or reply.error
            if found == NO_REPLY:
                break
            counts[f"attempt: {found}"] += 1
        return drop(reason, detail, counts)

    def read_point(example: Example, text: str) -> Statement | str:
        reply = json_object(text)
        if isinstance(reply, str):
            return reply
        if not all(isinstance(reply.get(key), str) for key in ("point", "quote")):
            return "no JSON"
        point, quote = " ".join(reply["point"].split()), reply["quote"].strip()
        if is_refusal(point):
            return "refusal"
        if not min_words <= len(words(point)) <= max_words:
            return "length"
        if not in_language(point, example.lang):
            return "wrong language"
        held = [f" {normalise(document.text)} " for document in example.documents]
        if not words(quote) or f" {normalise(quote)} " not in held[0]:
            return "quote not in the first document"
        if f" {normalise(quote)} " in held[1] or f" {normalise(point)} " in held[1]:
            return "quote in the second document too"
        if any(same_words(point, sentence) for sentence in sentences(example.documents[0].text, example.lang)):
            return "copy of a sentence"
        evidence = (Evidence(0, quote),) if quote in example.documents[0].text else ()
        return Statement(point, (0,), kind=KIND, evidence=evidence)

    return asking(ask, tools.llm(), made_with)


def by_rules(tools: Tools, *, min_words: int = 6, max_words: int = 40) -> Step:
    """A sentence of the first document with a number or name that the second lacks, its subject named."""

    def change(example: Example) -> Outcome:
        rng = random.Random(f"{tools.seed}:{example.id}")
        first, second = example.documents
        lacking = set(words(f"{second.title} {second.text}"))
        options = []
        for sentence in sentences(first.text, example.lang):
            point = resolve_subject(sentence, first.title) if first.title and example.lang == "en" else sentence
            facts = [*numbers(sentence), *names(sentence, example.lang)]
            alone = [fact for fact in facts if not set(words(fact)) & (lacking | set(words(first.title)))]
            if point is not None and alone and min_words <= len(words(point)) <= max_words:
                options.append(Statement(point, (0,), kind=KIND, span=alone[0], evidence=(Evidence(0, sentence),)))
        if not options:
            return drop("no sentence with a fact of its own")
        return keep(
            replace(example, statements=(rng.choice(options),), meta=made(example, "point", {"model": "rules"}))
        )

    return one_by_one(change)


def only_in_first(tools: Tools, *, level: str = "full", threshold: float | None = None, batch: int = 128) -> Step:
    """Keeps points that the verifier sees supported by the first document and not by the second."""
    asked = Support.parse(level)

    def run(records: Iterator[Example]) -> Iterator[Outcome]:
        verifier = tools.verifier()
        for examples in in_batches(records, batch):
            pairs = [premise(example, 0, (position,)) for example in examples for position in (0, 1)]
            verdicts = judge(verifier, pairs, asked, threshold)
            for i, example in enumerate(examples):
                first, second = verdicts.supported[2 * i : 2 * i + 2]
                if first is None or second is None:
                    outcome = drop("point unscored")
                elif not first:
                    outcome = drop("first document does not support it", example.statements[0].text)
                elif second:
                    outcome = drop("second document supports it too", example.statements[0].text)
                else:
                    outcome = keep(example)
                if i == 0:
                    outcome = replace(outcome, calls=verdicts.calls, prompt_tokens=verdicts.tokens)
                yield outcome

    return Step(run, judges=True)
