"""Stage `answer`: statements with citations for a question, by an LLM from its documents, or the source's own."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from citeverifier.llm.client import Request
from citeverifier.llm.parsing import without_thinking
from citeverifier.llm.prompts import Prompt
from citeverifier.records import Example, Statement
from citeverifier.text.markers import cited_sentences, remove_markers
from citeverifier.text.words import words
from data_gen.checks import failure, in_language, is_refusal
from data_gen.stage import Asking, Outcome, Step, asking, drop, keep, marked, one_by_one
from data_gen.tools import Tools


def by_llm(
    tools: Tools,
    *,
    prompt: str = "answer",
    prompt_lang: str = "en",
    max_tokens: int = 512,
    max_words: int = 400,
    min_statement_words: int = 4,
    max_citations: int = 3,
) -> Step:
    """The LLM answers from the numbered documents, citing them; its text is split into statements.

    An answer is dropped where it is empty, refuses, is over `max_words`, in another language, cites a document that is
    not there, or has no cited statement. Sentences without a citation, and those that cite more than `max_citations`,
    stay as statements that cite nothing; those under `min_statement_words` go.
    """
    template = Prompt.load(prompt, prompt_lang)
    made_with = tools.made_with(template)

    def ask(example: Example) -> Asking:
        messages = template.render(question=example.question, documents=example.documents)
        reply = yield Request(messages, max_tokens=max_tokens)
        if reply.text is None:
            return drop(failure(reply.error), reply.error)
        outcome = read_answer(example, without_thinking(reply.text), max_words, min_statement_words, max_citations)
        meta = {**marked(example, "answer", made_with), "reference": example.answer}
        return replace(outcome, records=tuple(replace(record, meta=meta) for record in outcome.records))

    return asking(ask, tools.llm(), made_with)


def read_answer(
    example: Example, text: str, max_words: int = 400, min_statement_words: int = 4, max_citations: int = 3
) -> Outcome:
    """The example with the statements of an answer with citation markers, or why it has none."""
    unmarked = remove_markers(text.strip(), len(example.documents))
    length = len(words(unmarked.text))
    if not length:
        return drop("empty answer", text)
    if length > max_words:
        return drop("answer too long", f"{length:,} words: {text}")
    if is_refusal(text):
        return drop("refusal", text)
    if not in_language(unmarked.text, example.lang):
        return drop("wrong language", text)
    sentences = cited_sentences(unmarked, example.lang)
    if any(sentence.out_of_range for sentence in sentences):
        return drop("cites a document that is not there", text)
    counts: Counter[str] = Counter()
    statements = []
    for sentence in sentences:
        positions = tuple(sorted(sentence.positions))
        if len(words(sentence.text)) < min_statement_words:
            counts["statement too short"] += 1
            continue
        if len(positions) > max_citations:
            counts["statement cites too many documents"] += 1
            positions = ()
        elif not positions:
            counts["statement without citation"] += 1
        kind = {0: "uncited", 1: "single"}.get(len(positions), "several")
        statements.append(Statement(sentence.text, positions, kind=kind))
    if not any(statement.citations for statement in statements):
        return drop("no cited statement", text, counts)
    return keep(replace(example, statements=tuple(statements), answer=unmarked.text), counts=counts)


def own(tools: Tools) -> Step:
    """The source's own statements, else those of its answer with markers; without any that cites, a record goes."""

    def read(example: Example) -> Outcome:
        if not example.statements:
            return read_answer(example, example.answer or "")
        cites = any(statement.citations for statement in example.statements)
        return keep(example) if cites else drop("no cited statement")

    return one_by_one(read)
