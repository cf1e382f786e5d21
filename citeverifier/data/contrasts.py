"""Contrasts without labels: a supported pair with one fact exchanged, in its statement or in its documents.

Word overlap says nothing of such a pair, so a verifier has to read who did what. `altered_statement` exchanges a fact
of the statement by the rules of `perturb`, turns two names round or negates; `altered_document` exchanges a fact in
the documents instead: one that the statement tells, so that it is no longer supported, or, as often, one that it does
not, so that it still is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from citeverifier.data.pair_recipes import BELOW_FULL, FULL
from citeverifier.data.perturb import names, negate, numbers, other_name, other_number, perturb
from citeverifier.records import Document, Interval, Pair, Support
from citeverifier.text.language import language

REFUTED = ":refutes"  # how the kind of a pair ends whose documents say the opposite


def with_contrasts(pairs: Iterable[Pair], share: float, seed: int) -> Iterator[Pair]:
    """The pairs, and after a `share` of the fully supported and the refuted ones a contrast, drawn by `seed`.

    `share` is in [0, 1]. A pair to which no rule applies gets none. Kinds are `contrast:...`, labels full, or none to
    partial.
    """
    for pair in pairs:
        yield pair
        rng = random.Random(f"{seed}:{pair.id}")
        if rng.random() >= share:
            continue
        contrast = None
        if pair.support_min == Support.FULL:
            rules = [altered_statement, altered_document]
            rng.shuffle(rules)
            contrast = rules[0](pair, rng) or rules[1](pair, rng)
        elif pair.kind.endswith(REFUTED):
            contrast = negated_refuted(pair, rng)
        if contrast is not None:
            yield contrast


def altered_statement(pair: Pair, rng: random.Random) -> Pair | None:
    """The pair with a statement that its documents do not support; None where no rule applies."""
    if "?" in pair.statement:  # "question? Yes." as a statement: its facts are asked, not told
        return None
    cited = " ".join(f"{document.title} {document.text}" for document in pair.documents)
    altered = names_turned_round(pair.statement, pair.lang) if rng.random() < 0.4 else None
    rule = "roles"
    if altered is None:
        perturbation = perturb(pair.statement, cited=cited, context=cited, lang=pair.lang, rng=rng)
        if perturbation is None:
            return None
        altered, rule = perturbation.text, perturbation.rule
    return _restated(pair, altered, rule, BELOW_FULL)


def negated_refuted(pair: Pair, rng: random.Random) -> Pair | None:
    """A refuted pair with its statement negated, which its documents then support; None without a verb to negate.

    Without these a "not" would be a mark of false statements.
    """
    perturbation = None if "?" in pair.statement else negate(pair.statement, pair.lang, rng)
    return None if perturbation is None else _restated(pair, perturbation.text, "negated_refuted", FULL)


def _restated(pair: Pair, statement: str, rule: str, interval: Interval) -> Pair:
    return replace(
        pair,
        id=f"{pair.id}:contrast",
        statement_id=f"{pair.statement_id}:contrast",
        statement=statement,
        kind=f"contrast:{rule}",
        support_min=interval[0],
        support_max=interval[1],
    )


def names_turned_round(statement: str, lang: str) -> str | None:
    """The statement with its first and last name in each other's place; None where there are not two, or an "and"
    between them makes their order meaningless."""
    stated = names(statement, lang)
    first_word = statement.split(" ", 1)[0]
    if first_word[:1].isupper() and first_word.lower() not in language(lang).stop_words and len(stated) == 1:
        stated = [first_word, *stated]
    if len(stated) < 2:
        return None
    first, last = stated[0], stated[-1]
    start, end = statement.find(first), statement.rfind(last)
    between = statement[start + len(first) : end]
    linking = {word.lower() for word in language(lang).reply_words["and"] + language(lang).reply_words["or"]}
    if start < 0 or start + len(first) >= end or first in last or last in first:
        return None
    if not between.strip(" ,(") or linking & set(re.findall(r"\w+", between.lower())):
        return None
    return f"{statement[:start]}{last}{between}{first}{statement[end + len(last) :]}"


def altered_document(pair: Pair, rng: random.Random) -> Pair | None:
    """The pair with one fact exchanged in its documents; None where they share no name or number with the statement."""
    text = " ".join(document.text for document in pair.documents)
    stated = set(names(pair.statement, pair.lang)) | set(numbers(pair.statement))
    written = [*names(text, pair.lang), *numbers(text)]
    supported = rng.random() < 0.5
    facts = [fact for fact in written if (fact not in pair.statement if supported else fact in stated)]
    if not facts:
        return None
    before = rng.choice(facts)
    if before[0].isdigit():
        after: str | None = other_number(before, f"{text} {pair.statement}", "", rng)
    else:
        after = other_name(before, (text,), pair.statement, pair.lang, rng)
    if after is None:
        return None
    pattern = re.compile(rf"(?<![\w.,]){re.escape(before)}(?!\w)")
    documents = tuple(
        Document(pattern.sub(after, document.title), pattern.sub(after, document.text), document.score)
        for document in pair.documents
    )
    if documents == tuple(pair.documents):
        return None
    interval = FULL if supported else BELOW_FULL
    return replace(
        pair,
        id=f"{pair.id}:contrast",
        documents=documents,
        kind=f"contrast:document_{'elsewhere' if supported else 'exchanged'}",
        support_min=interval[0],
        support_max=interval[1],
        evidence=(),
    )
