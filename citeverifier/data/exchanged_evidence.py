"""Documents in which what a statement and its false twin tell otherwise is exchanged: there the twin is the true one.

A verifier that meets a statement more than once comes to know it by heart, whatever the documents say. "Ola paid Jan"
is true of one document, and false of the same one with both names exchanged: so only reading tells.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from citeverifier.records import Document, Pair
from citeverifier.text.changed_words import changed_words
from citeverifier.text.language import Language, guess_language, language

_TOKEN = re.compile(r"\w+(?:[.,:]\w+)*|[^\w\s]")
_STEM = 4  # letters that the forms of a word have in common
_SHORTEST = 3  # letters of a word that may be exchanged


def exchange_evidence(pairs: Iterable[Pair], share: float, seed: int) -> Iterator[Pair]:
    """The pairs, in a share of which the documents have exchanged what a statement and its twin tell otherwise.

    There the twin's text is the supported one, and takes the statement's place. A twin follows its statement, over the
    same documents; its statement id ends in "/corrupted". Where `exchanged` finds nothing, a pair stays as it is.
    """
    before: Pair | None = None
    for pair in pairs:
        if before is not None:
            if pair.statement_id == f"{before.statement_id}/corrupted" and pair.documents == before.documents:
                drawn = random.Random(f"{seed}:exchange:{before.id}").random() < share
                documents = exchanged(before, pair.statement) if drawn else None
                if documents is not None:
                    true, false = pair.statement, before.statement
                    before = replace(before, statement=true, documents=documents)
                    pair = replace(pair, statement=false, documents=documents, unsupported=changed_words(true, false))
            yield before
        before = pair
    if before is not None:
        yield before


def exchanged(pair: Pair, twin: str) -> tuple[Document, ...] | None:
    """The pair's documents with the words exchanged that its twin has in another place, or others in the place of.

    None where they are not two names, numbers or words of three letters and more; where they stand in the statement
    elsewhere, in the documents in another form, or not at all; or where names could be meant by a pronoun.
    """
    differ = _difference(pair.statement, twin)
    text = "\n".join(f"{document.title}\n{document.text}" for document in pair.documents)
    words = language(guess_language(text))
    if differ is None or not all(_exchangeable(one, text, words) for one in differ) or not _places(differ[0], text):
        return None
    if _is_name(differ[0]) != _is_name(differ[1]) or (_is_name(differ[0]) and _has_pronoun(text, words)):
        return None
    either = re.compile("|".join(_whole(one) for one in sorted(differ, key=len, reverse=True)))
    other = dict(zip(differ, reversed(differ), strict=True))
    return tuple(
        Document(either.sub(lambda m: other[m[0]], document.title), either.sub(lambda m: other[m[0]], document.text))
        for document in pair.documents
    )


def _difference(true: str, false: str) -> tuple[str, str] | None:
    """What the first text has and the second instead, or two runs of words that change places.

    None where either stands in the rest, too.
    """
    old, new = list(_TOKEN.finditer(true)), list(_TOKEN.finditer(false))
    start, end = _common(old, new), _common(old[::-1], new[::-1])
    end = min(end, len(old) - start, len(new) - start)
    rest = true[: old[start].start()] if start < len(old) else true
    rest += true[old[len(old) - end].start() :] if end else ""
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if not old or not new:
        return None
    one, other = _said(true, old), _said(false, new)
    for first in range(1, len(old) - 1):
        for second in range(1, len(old) - first):
            between = old[first : len(old) - second]
            turned = [*old[len(old) - second :], *between, *old[:first]]
            if [token[0] for token in turned] == [token[0] for token in new]:
                one, other = _said(true, old[:first]), _said(true, old[len(old) - second :])
                rest += " " + _said(true, between)
    return None if _places(one, rest) or _places(other, rest) else (one, other)


def _common(old: Sequence[re.Match[str]], new: Sequence[re.Match[str]]) -> int:
    """How many tokens both begin with."""
    return next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a[0] != b[0]), min(len(old), len(new)))


def _said(text: str, tokens: Sequence[re.Match[str]]) -> str:
    return text[tokens[0].start() : tokens[-1].end()]


def _exchangeable(one: str, text: str, words: Language) -> bool:
    """Whether a run of words is a name, a number or one content word, which the text has in no other form."""
    tokens = _TOKEN.findall(one)
    if one[0].isdigit():
        return len(tokens) == 1
    if not _is_name(one) and not (len(tokens) == 1 and _is_word(one, words)):
        return False
    rest = re.sub(_whole(one), " ", text).lower()
    stems = "|".join(re.escape(token.lower()[: max(_STEM, len(token) - 2)]) for token in tokens)
    return not re.search(rf"(?<!\w)(?:{stems})", rest)


def _is_name(one: str) -> bool:
    return all(token[:1].isupper() for token in _TOKEN.findall(one))


def _is_word(one: str, words: Language) -> bool:
    return one.isalpha() and len(one) >= _SHORTEST and one not in words.stop_words


def _has_pronoun(text: str, words: Language) -> bool:
    return not words.gendered.isdisjoint(re.findall(r"\w+", text.lower()))


def _places(one: str, text: str) -> list[str]:
    return re.findall(_whole(one), text)


def _whole(one: str) -> str:
    """A pattern of these words where they stand by themselves, no number inside a longer one."""
    return rf"(?<!\w)(?<!\d[.,:]){re.escape(one)}(?!\w|[.,:]\d)"
