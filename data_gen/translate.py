"""Stage `translate`: an example into another language, whole: documents, question, answer, statements and twins.

One call holds everything, so that a name is written alike in a document, a statement and its twin. What comes back is
checked text by text, and asked for again with what was wrong. With `documents` off these stay as they are: Polish
statements over English documents, for a tenth of the tokens.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from citeverifier.llm.prompts import Prompt
from citeverifier.llm.request import Request
from citeverifier.records import LANGUAGES, Document, Example, Statement
from citeverifier.text.language import language
from citeverifier.text.words import words
from data_gen.checks import (
    first_usable,
    foreign_letters,
    in_language,
    is_refusal,
    lost_numbers,
    names_kept,
    same_words,
    strings_schema,
)
from data_gen.step import Asking, Outcome, Step, Tools, asking, keep, marked, one_by_one

# The least share of the documents' names that their translations keep (.48 to .8 in the bundled set's own translations,
# .26 at most in translations of other documents), and of a translated statement's names that the translated documents
# hold where the originals agree.
MIN_NAMES = 0.35
MAX_GROWTH = 3.0  # the most words a translation has, over its original's, and the other way round
_SHORT = 4  # a text of fewer words may be a name, the same in every language
Texts = dict[str, str]
Problem = tuple[str, str]  # a reason to count, and a sentence about it
TOKENS_A_WORD = 4  # bound of a translation's tokens: Polish runs to two or three, JSON and growth come on top


def by_llm(
    tools: Tools,
    *,
    lang: str,
    source_lang: str,
    prompt: str = "translate",
    prompt_lang: str = "en",
    attempts: int = 3,
    max_tokens: int = 8192,
    require: bool = True,
    documents: bool = True,
) -> Step:
    """Records of `lang`: the translation alone ("pl"), both languages next to each other ("all"), or as they came.

    documents: whether these are translated, too.
    require: with lang=all, drop a record whose translation failed; otherwise it goes on in one language.
    """
    targets = [code for code in LANGUAGES if code != source_lang and lang in (code, "all")]
    if not targets:
        return one_by_one(lambda example: keep(example))
    if len(targets) > 1:
        raise ValueError(f"translate: expected one language to translate into, got {', '.join(targets)}; name one")
    target = targets[0]
    template = Prompt.load(prompt, prompt_lang)
    made_with = tools.made_with(template)

    def ask(example: Example) -> Asking:
        texts = texts_of(example, documents=documents)
        messages = template.render(
            source=language(source_lang).name,
            target=language(target).name,
            texts=json.dumps(texts, ensure_ascii=False, indent=1),
        )
        counts: Counter[str] = Counter()
        again: list[tuple[str, str]] = []  # what was wrong goes back to the model, with its own text
        schema = strings_schema(**dict.fromkeys(texts))
        enough = min(max_tokens, TOKENS_A_WORD * sum(len(words(f"{key} {text}")) for key, text in texts.items()) + 200)

        def read(translated: Mapping[str, str], attempt: int) -> Mapping[str, str] | str:
            problems = problems_of(example, translated, source_lang, target)
            complaints = "\n".join(sentence for _, sentence in problems[:20])
            again[:] = [("assistant", json.dumps(translated, ensure_ascii=False)), ("user", complaints)]
            return problems[0][0] if problems else translated

        requests = (
            Request((*messages, *again), schema=schema, max_tokens=enough, sample=attempt)
            for attempt in range(attempts)
        )
        translated = yield from first_usable(requests, read, "attempt", counts)
        if not isinstance(translated, Outcome):
            result = rebuild(example, translated, target)
            result = replace(result, meta=marked(result, "translate", made_with))
            return keep(*((example, result) if lang == "all" else (result,)), counts=counts)
        if lang == "all" and not require:
            return keep(example, counts={**counts, f"left untranslated: {translated.dropped}": 1})
        return translated

    return asking(ask, tools.llm(), made_with)


def texts_of(example: Example, *, documents: bool = True) -> Texts:
    """Every text of an example by a name that says where it belongs ("document 1 title", "statement 2 corrupted").

    Not an answer that is its statements in a row.
    """
    texts = {"question": example.question}
    own = {"answer": example.answer, "reference": example.meta.get("reference")}
    if example.answer == said(example.statements):
        del own["answer"]  # comes of the statements again
    texts |= {key: text for key, text in own.items() if isinstance(text, str) and text.strip()}
    for i, document in enumerate(example.documents if documents else (), 1):
        if document.title:
            texts[f"document {i} title"] = document.title
        texts[f"document {i}"] = document.text
    for i, statement in enumerate(example.statements, 1):
        texts[f"statement {i}"] = statement.text
        if statement.corrupted is not None:
            texts[f"statement {i} corrupted"] = statement.corrupted
    return texts


def problems_of(example: Example, translated: Mapping[str, str], source: str, target: str) -> list[Problem]:
    """What is wrong with a translation, as (reason, a sentence for the model naming the text); empty when nothing."""
    problems: list[Problem] = []
    for name, text in texts_of(example, documents=_with_documents(example, translated)).items():
        new = translated[name]
        long = len(words(text)) >= _SHORT
        if not words(new) and words(text):
            problems.append(("text missing", f"{name}: expected a translation, got nothing."))
        elif is_refusal(new) and not is_refusal(text):
            problems.append(("refusal", f"{name}: expected a translation of the text."))
        elif long and (same_words(text, new) or not in_language(new, target)):
            problems.append(("untranslated", f"{name}: this is not {language(target).name}."))
        elif letters := foreign_letters(text, new):
            problems.append(("foreign letters", f"{name}: expected Latin letters, got {letters}."))
        elif lost := lost_numbers(text, new):
            problems.append(("lost numbers", f"{name}: these numbers are missing: {', '.join(lost)}."))
        elif len(words(new)) > MAX_GROWTH * len(words(text)) + 10:
            problems.append(("length", f"{name}: this is far longer than the text."))
        elif len(words(text)) > MAX_GROWTH * len(words(new)) + 3:  # a small model sends a complaint back, translated
            problems.append(("length", f"{name}: this is far shorter than the text."))
    if problems:
        return problems
    documents = [name for name in translated if name.startswith("document")]
    before, after = (". ".join(texts[name] for name in documents) for texts in (texts_of(example), translated))
    if names_kept(before, after, source) < MIN_NAMES:
        return [("lost names", "Keep the names of people, places and works in the documents.")]
    return _disagreements(example, translated, source, target)


def _disagreements(example: Example, translated: Mapping[str, str], source: str, target: str) -> list[Problem]:
    """Twins that came out like their statements, and statements whose names their documents write in another way.

    Names are not held against documents of another language: of people's translations one in ten would fail.
    """
    problems: list[Problem] = []
    for i, statement in enumerate(example.statements, 1):
        new = translated[f"statement {i}"]
        if statement.corrupted is not None and same_words(new, translated[f"statement {i} corrupted"]):
            problems.append(
                ("twin lost", f"statement {i} corrupted: it must differ from statement {i} as in the source.")
            )
        if not _with_documents(example, translated):
            continue
        before = " ".join(f"{example.documents[p].title} {example.documents[p].text}" for p in statement.citations)
        after = " ".join(
            f"{translated.get(f'document {p + 1} title', '')} {translated[f'document {p + 1}']}"
            for p in statement.citations
        )
        agreed = names_kept(statement.text, before, source)
        if statement.citations and names_kept(new, after, target) < MIN_NAMES * agreed:
            problems.append(("names disagree", f"statement {i}: write names as its documents do."))
    return problems


def rebuild(example: Example, translated: Mapping[str, str], target: str) -> Example:
    """The example in its new language; citations, kinds and altered documents stay, verbatim spans go."""
    documents = example.documents
    if _with_documents(example, translated):
        documents = tuple(
            Document(translated.get(f"document {i} title", ""), translated[f"document {i}"], document.score)
            for i, document in enumerate(documents, 1)
        )
    statements = tuple(
        replace(
            statement,
            text=translated[f"statement {i}"],
            corrupted=translated.get(f"statement {i} corrupted"),
            span=None,
            evidence=(),
        )
        for i, statement in enumerate(example.statements, 1)
    )
    answer = (
        said(statements) if example.answer == said(example.statements) else translated.get("answer", example.answer)
    )
    meta = dict(example.meta)
    if "reference" in translated:
        meta["reference"] = translated["reference"]
    return replace(
        example, lang=target, question=translated["question"], answer=answer,
        documents=documents, statements=statements, meta=meta,
    )  # fmt: skip


def said(statements: Sequence[Statement]) -> str:
    """The statements in a row."""
    return " ".join(statement.text for statement in statements)


def _with_documents(example: Example, translated: Mapping[str, str]) -> bool:
    """Whether the documents were translated, too."""
    return f"document {len(example.documents)}" in translated
