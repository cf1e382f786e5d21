"""Held: every rule of the bundled set, topic by topic; a broken one is named by topic, example and statement."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import product
from typing import Any

import pytest

from citeverifier.data.mini import MINI, SPLITS, load_mini
from citeverifier.records import LANGUAGES, Example
from citeverifier.text.sentences import sentences

TOPICS = sorted(path.stem for path in MINI.glob("*.json"))
EDITS = {"date", "number", "name", "relation", "comparison", "negation"}
KINDS = {"single", "joined", "comparison", "bridge"}
NEGATION = re.compile(r"\b(not|never|no|n't|nie|nigdy|bez|without|neither|ani)\b")


def tokens(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


# Little words that an altered name or relation may bring along.
LITTLE = set(
    tokens(
        """the and but for not was were are his her its their who which that than then had has have with from
        this into over also both while when where been never did does no nor of in on at by to as is it he
        she a an or be oraz ale dla nie był była było były jest są jego jej ich który która które tego tej
        ten ta to niż też także się nad pod przed przez przy bez albo lub czy jako już nigdy ani zaś lecz"""
    )
)


@cache
def read(name: str) -> dict[str, Any]:
    """A topic's file."""
    topic: dict[str, Any] = json.loads((MINI / f"{name}.json").read_text(encoding="utf-8"))
    return topic


@dataclass(frozen=True)
class Stated:
    """A statement in one language, and where it stands."""

    where: str
    lang: str
    row: dict[str, Any]  # citations, kind, edit, altered_in
    form: dict[str, Any]  # text, span, evidence, corrupted
    documents: dict[str, dict[str, str]]  # title and text by id

    def cited_words(self) -> set[str]:
        """The words of the cited documents, titles included."""
        cited = [self.documents[identity] for identity in self.row["citations"]]
        return {word for document in cited for word in tokens(f"{document['title']} {document['text']}")}

    def new_words(self) -> list[str]:
        """The twin's words that the statement lacks."""
        return [word for word in tokens(self.form["corrupted"]) if word not in tokens(self.form["text"])]


def rows(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The statements of a topic, each with its place."""
    for example in read(name)["examples"]:
        for number, row in enumerate(example["statements"]):
            yield f"{name}: {example['id']}, statement {number}", row


def stated(name: str) -> Iterator[Stated]:
    """The statements of a topic in each language."""
    for where, row in rows(name):
        for lang in LANGUAGES:
            documents = {document["id"]: document[lang] for document in read(name)["documents"]}
            yield Stated(f"{where} ({lang})", lang, row, row[lang], documents)


def length(text: str) -> int:
    return len(text.split())


def held(word: str, among: set[str]) -> bool:
    """Whether a word, or for a word without digits another form of it, is among these."""
    if word in among or re.search(r"\d", word):
        return word in among
    return any(other.startswith(word[:4]) for other in among)


def longest_run(first: list[str], second: list[str]) -> int:
    """How many words in a row two texts share."""
    return SequenceMatcher(None, first, second, autojunk=False).find_longest_match().size


# --- the whole set ---------------------------------------------------------------------------------------------------


def test_what_is_in_the_set() -> None:
    assert len(TOPICS) == 20
    assert {lang: len(load_mini(None, lang)) for lang in LANGUAGES} == {"en": 100, "pl": 100}
    assert {split: len(load_mini(split, "en")) for split in SPLITS} == {"train": 60, "dev": 15, "test": 25}
    groups = [{example.group for example in load_mini(split)} for split in SPLITS]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 20
    ids = Counter(example["id"] for name in TOPICS for example in read(name)["examples"])
    texts = Counter(d[lang]["text"] for name in TOPICS for d in read(name)["documents"] for lang in LANGUAGES)
    assert (max(ids.values()), max(texts.values()), len(texts)) == (1, 1, 20 * 10 * len(LANGUAGES))
    kinds, edits = zip(*[(row["kind"], row["edit"]) for name in TOPICS for _, row in rows(name)], strict=True)
    assert (set(kinds), set(edits)) == (KINDS, EDITS)


@pytest.mark.parametrize("split", SPLITS)
def test_languages_are_aligned_by_id(split: str) -> None:
    english, polish = load_mini(split, "en"), load_mini(split, "pl")
    both = [example for aligned in zip(english, polish, strict=True) for example in aligned]
    assert load_mini(split) == both
    titles = {
        (name, document["en"]["title"]): document["pl"]["title"]
        for name in TOPICS
        for document in read(name)["documents"]
    }

    def shape(example: Example) -> list[Any]:
        return [
            (s.citations, s.altered_in, s.edit, s.kind, sorted({e.document for e in s.evidence}))
            for s in example.statements
        ]

    for one, other in zip(english, polish, strict=True):
        assert (one.id, one.group, shape(one)) == (other.id, other.group, shape(other))
        assert [titles[one.group, d.title] for d in one.documents] == [d.title for d in other.documents]


def test_documents_stand_in_an_order_of_their_example() -> None:
    examples = load_mini(None, "en")
    first = Counter(statement.citations[0] for example in examples for statement in example.statements)
    assert len(first) == 10  # a cited document may stand anywhere
    orders = {tuple(document.title for document in example.documents) for example in examples}
    assert len(orders) == len(examples)
    assert load_mini(None, "en") == examples


def test_examples_hold_what_the_file_says() -> None:
    for example in load_mini():
        row = next(row for row in read(example.group)["examples"] if row["id"] == example.id)
        assert (example.question, example.answer) == (row["question"][example.lang], row["answer"][example.lang])
        titles = {document["id"]: document[example.lang]["title"] for document in read(example.group)["documents"]}
        for statement, item in zip(example.statements, row["statements"], strict=True):
            form = item[example.lang]
            assert (statement.text, statement.corrupted, statement.span) == (
                form["text"],
                form["corrupted"],
                form["span"],
            )
            for positions, named in ((statement.citations, "citations"), (statement.altered_in, "altered_in")):
                assert [example.documents[i].title for i in positions] == [titles[i] for i in item[named]]
            for evidence in statement.evidence:
                assert evidence.text in example.documents[evidence.document].text


@pytest.mark.parametrize(
    ("split", "lang", "message"),
    [("trian", "all", "split of train, dev, test .*'trian'"), ("train", "de", "lang to be one of en, pl or all.*'de'")],
)
def test_unknown_split_or_language_is_refused(split: str, lang: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_mini(split, lang)


# --- topic by topic: each rule yields what breaks it -----------------------------------------------------------------

Faults = Iterator[str]


def has_ten_documents_of_40_to_120_words(name: str) -> Faults:
    topic = read(name)
    if (topic["topic"], len({d["id"] for d in topic["documents"]}), len(topic["documents"])) != (name, 10, 10):
        yield f"{name}: expected its own name and ten documents"
    if topic["split"] not in SPLITS or not all(topic["title"][lang].strip() for lang in LANGUAGES):
        yield f"{name}: no split or no title"
    for document in topic["documents"]:
        for lang in LANGUAGES:
            where, form = f"{name}: document {document['id']} ({lang})", document[lang]
            if set(form) != {"title", "text"} or not form["title"].strip():
                yield f"{where}: expected a title and a text, got {sorted(form)}"
            if not 40 <= length(form["text"]) <= 120:
                yield f"{where}: expected 40-120 words, got {length(form['text'])}"
            if re.search(r"\[\d", form["text"]):
                yield f"{where}: holds a citation marker"


def has_five_examples_of_one_to_three_statements(name: str) -> Faults:
    examples = read(name)["examples"]
    if [example["id"] for example in examples] != [f"{name}-{i}" for i in range(1, 6)]:
        yield f"{name}: expected five examples in order"
    if not 9 <= sum(len(example["statements"]) for example in examples) <= 12:
        yield f"{name}: expected 9-12 statements in all"
    for example in examples:
        if not 1 <= len(example["statements"]) <= 3:
            yield f"{name}: {example['id']}: expected 1-3 statements, got {len(example['statements'])}"
        for key, lang in product(("question", "answer"), LANGUAGES):
            if not example[key][lang].strip():
                yield f"{name}: {example['id']}: empty {key} ({lang})"


def cites_well(name: str) -> Faults:
    known = {document["id"] for document in read(name)["documents"]}
    citing = [row["citations"] for _, row in rows(name)]
    for where, row in rows(name):
        citations = row["citations"]
        if not (len(citations) in (1, 2) and len(set(citations)) == len(citations) and set(citations) <= known):
            yield f"{where}: expected one or two documents of the topic, got {citations}"
        if row["kind"] not in KINDS or (row["kind"] == "single") != (len(citations) == 1):
            yield f"{where}: kind {row['kind']} with {len(citations)} citations"
        if not set(row["altered_in"]) <= set(citations):
            yield f"{where}: altered_in {row['altered_in']} is not among {citations}"
        if not row["altered_in"] and row["kind"] != "comparison":
            yield f"{where}: no document contradicts the twin of a {row['kind']} statement"
    two, cited = sum(len(citations) == 2 for citations in citing), {d for citations in citing for d in citations}
    if 2 * two < len(citing):
        yield f"{name}: only {two} of {len(citing)} statements cite two documents; expected at least half"
    if len(cited) < 7:
        yield f"{name}: only {len(cited)} documents are ever cited; expected at least 7"


def says_sentences_of_6_to_40_words(name: str) -> Faults:
    for item in stated(name):
        for what in ("text", "corrupted"):
            text = item.form[what]
            if not (text[0].isupper() or text[0].isdigit()) or not text.endswith("."):
                yield f"{item.where}: {what} is no sentence: {text!r}"
            if re.search(r"\[\d", text):
                yield f"{item.where}: {what} holds a citation marker"
        if not 6 <= length(item.form["text"]) <= 40:
            yield f"{item.where}: expected 6-40 words, got {length(item.form['text'])}"


def copies_no_document(name: str) -> Faults:
    for item in stated(name):
        own = tokens(item.form["text"])
        for identity, document in item.documents.items():
            for sentence in sentences(document["text"], item.lang):
                run = longest_run(own, tokens(sentence))
                if run > max(5, 0.45 * len(own)):
                    yield f"{item.where}: {run} words in a row copied from {identity}: {sentence!r}"


def holds_span_and_evidence_verbatim(name: str) -> Faults:
    for item in stated(name):
        span, text = item.form["span"], item.form["text"]
        if not span or span not in text or span == text:
            yield f"{item.where}: span {span!r} is not a part of the statement"
        proven = {entry["document"] for entry in item.form["evidence"]}
        if proven != set(item.row["citations"]):
            yield f"{item.where}: evidence of {sorted(proven)}, citations {item.row['citations']}"
        for entry in item.form["evidence"]:
            if not entry["text"].strip() or entry["text"] not in item.documents[entry["document"]]["text"]:
                yield f"{item.where}: evidence not verbatim in {entry['document']}: {entry['text']!r}"


def has_twins_that_differ_and_keep_their_length(name: str) -> Faults:
    for item in stated(name):
        text, twin = item.form["text"], item.form["corrupted"]
        if tokens(text) == tokens(twin):
            yield f"{item.where}: the twin is the statement"
        if abs(length(text) - length(twin)) > max(2, round(0.15 * length(text))):
            yield f"{item.where}: lengths {length(text)} and {length(twin)} words"


def has_twins_wrong_by_words_of_the_right_kind(name: str) -> Faults:
    for item in stated(name):
        cited, edit = item.cited_words(), item.row["edit"]
        if edit in ("date", "number"):
            if not item.new_words():
                yield f"{item.where}: a {edit} altered without a new word"
            for word in item.new_words():
                if word in cited and (re.search(r"\d", word) or (word not in LITTLE and len(word) > 2)):
                    yield f"{item.where}: altered value {word!r} occurs in the cited documents"
        elif edit in ("name", "relation", "comparison"):
            for word in item.new_words():
                if word not in LITTLE and len(word) > 3 and not held(word, cited):
                    yield f"{item.where}: new word {word!r} of a {edit} edit is not in the cited documents"
        elif edit != "negation":
            yield f"{item.where}: expected an edit of {sorted(EDITS)}, got {edit!r}"


def mixes_edits(name: str) -> Faults:
    edits = Counter(row["edit"] for _, row in rows(name))
    if len(edits) < 5 or max(edits.values()) > 0.4 * edits.total():
        yield f"{name}: {dict(edits)}: expected at least 5 of the 6 edits, none of them over 40 %"


def negates_both_ways(name: str) -> Faults:
    ways: Counter[tuple[str, bool]] = Counter()
    for item in stated(name):
        if item.row["edit"] == "negation":
            before, after = (len(NEGATION.findall(item.form[key].lower())) for key in ("text", "corrupted"))
            ways[item.lang, after > before] += 1
            if before == after:
                yield f"{item.where}: a negation altered, but both hold {before}: {item.form['corrupted']!r}"
    for lang in LANGUAGES:
        added, removed = ways[lang, True], ways[lang, False]
        if added + removed >= 2 and min(added, removed) == 0:
            yield f"{name} ({lang}): {added} added, {removed} removed"


RULES: list[Callable[[str], Faults]] = [
    has_ten_documents_of_40_to_120_words, has_five_examples_of_one_to_three_statements, cites_well,
    says_sentences_of_6_to_40_words, copies_no_document, holds_span_and_evidence_verbatim,
    has_twins_that_differ_and_keep_their_length, has_twins_wrong_by_words_of_the_right_kind, mixes_edits,
    negates_both_ways,
]  # fmt: skip


@pytest.mark.parametrize("name", TOPICS)
@pytest.mark.parametrize("rule", RULES)
def test_a_topic(rule: Callable[[str], Faults], name: str) -> None:
    faults = list(rule(name))
    assert not faults, "\n".join(faults)
