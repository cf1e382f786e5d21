"""Held: every rule of the bundled set, topic by topic; a broken one is named by topic, example and statement."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
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

per_topic = pytest.mark.parametrize("name", TOPICS)


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


def none_of(faults: list[str]) -> None:
    assert not faults, "\n".join(faults)


# --- the whole set ---------------------------------------------------------------------------------------------------


def test_twenty_topics_and_a_hundred_examples() -> None:
    assert len(TOPICS) == 20
    assert {lang: len(load_mini(None, lang)) for lang in LANGUAGES} == {"en": 100, "pl": 100}


def test_splits_are_whole_topics() -> None:
    assert {split: len(load_mini(split, "en")) for split in SPLITS} == {"train": 60, "dev": 15, "test": 25}
    groups = [{example.group for example in load_mini(split)} for split in SPLITS]
    assert sum(len(group) for group in groups) == len(set.union(*groups)) == 20
    assert {example.id for example in load_mini()} == {e.id for split in SPLITS for e in load_mini(split)}


def test_ids_and_documents_come_once() -> None:
    ids = Counter(example["id"] for name in TOPICS for example in read(name)["examples"])
    texts = Counter(d[lang]["text"] for name in TOPICS for d in read(name)["documents"] for lang in LANGUAGES)
    assert (max(ids.values()), max(texts.values())) == (1, 1)
    assert len(texts) == 20 * 10 * len(LANGUAGES)


def test_the_set_uses_every_kind_and_edit() -> None:
    counted = [(row["kind"], row["edit"]) for name in TOPICS for _, row in rows(name)]
    assert {kind for kind, _ in counted} == KINDS
    assert {edit for _, edit in counted} == EDITS


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


# --- topic by topic --------------------------------------------------------------------------------------------------


@per_topic
def test_topic_has_ten_documents_of_40_to_120_words(name: str) -> None:
    topic = read(name)
    assert topic["topic"] == name
    assert topic["split"] in SPLITS
    assert all(topic["title"][lang].strip() for lang in LANGUAGES)
    assert len({document["id"] for document in topic["documents"]}) == len(topic["documents"]) == 10
    faults = []
    for document in topic["documents"]:
        for lang in LANGUAGES:
            where, form = f"{name}: document {document['id']} ({lang})", document[lang]
            if set(form) != {"title", "text"} or not form["title"].strip():
                faults.append(f"{where}: expected a title and a text, got {sorted(form)}")
            if not 40 <= length(form["text"]) <= 120:
                faults.append(f"{where}: expected 40-120 words, got {length(form['text'])}")
            if re.search(r"\[\d", form["text"]):
                faults.append(f"{where}: holds a citation marker")
    none_of(faults)


@per_topic
def test_topic_has_five_examples_of_one_to_three_statements(name: str) -> None:
    examples = read(name)["examples"]
    assert [example["id"] for example in examples] == [f"{name}-{i}" for i in range(1, 6)]
    faults = []
    for example in examples:
        if not 1 <= len(example["statements"]) <= 3:
            faults.append(f"{name}: {example['id']}: expected 1-3 statements, got {len(example['statements'])}")
        faults += [
            f"{name}: {example['id']}: empty {key} ({lang})"
            for key in ("question", "answer")
            for lang in LANGUAGES
            if not example[key][lang].strip()
        ]
    none_of(faults)
    assert 9 <= sum(len(example["statements"]) for example in examples) <= 12


@per_topic
def test_citations(name: str) -> None:
    known = {document["id"] for document in read(name)["documents"]}
    faults, cited, two, total = [], set(), 0, 0
    for where, row in rows(name):
        citations = row["citations"]
        cited.update(citations)
        total, two = total + 1, two + (len(citations) == 2)
        if not (len(citations) in (1, 2) and len(set(citations)) == len(citations) and set(citations) <= known):
            faults.append(f"{where}: expected one or two documents of the topic, got {citations}")
        if row["kind"] not in KINDS or (row["kind"] == "single") != (len(citations) == 1):
            faults.append(f"{where}: kind {row['kind']} with {len(citations)} citations")
    none_of(faults)
    assert 2 * two >= total, f"{name}: only {two} of {total} statements cite two documents; expected at least half"
    assert len(cited) >= 7, f"{name}: only {len(cited)} documents are ever cited; expected at least 7"


@per_topic
def test_statements_are_sentences_of_6_to_40_words(name: str) -> None:
    faults = []
    for item in stated(name):
        for what in ("text", "corrupted"):
            text = item.form[what]
            if not (text[0].isupper() or text[0].isdigit()) or not text.endswith("."):
                faults.append(f"{item.where}: {what} is no sentence: {text!r}")
            if re.search(r"\[\d", text):
                faults.append(f"{item.where}: {what} holds a citation marker")
        if not 6 <= length(item.form["text"]) <= 40:
            faults.append(f"{item.where}: expected 6-40 words, got {length(item.form['text'])}")
    none_of(faults)


@per_topic
def test_no_statement_copies_a_document(name: str) -> None:
    faults = []
    for item in stated(name):
        own = tokens(item.form["text"])
        for identity, document in item.documents.items():
            for sentence in sentences(document["text"], item.lang):
                run = longest_run(own, tokens(sentence))
                if run > max(5, 0.45 * len(own)):
                    faults.append(f"{item.where}: {run} words in a row copied from {identity}: {sentence!r}")
    none_of(faults)


@per_topic
def test_span_and_evidence_are_verbatim(name: str) -> None:
    faults = []
    for item in stated(name):
        if not item.form["span"] or item.form["span"] not in item.form["text"]:
            faults.append(f"{item.where}: span {item.form['span']!r} is not in the statement")
        if item.form["span"] and item.form["span"] == item.form["text"]:
            faults.append(f"{item.where}: span is the whole statement")
        proven = {entry["document"] for entry in item.form["evidence"]}
        if proven != set(item.row["citations"]):
            faults.append(f"{item.where}: evidence of {sorted(proven)}, citations {item.row['citations']}")
        faults += [
            f"{item.where}: evidence not verbatim in {entry['document']}: {entry['text']!r}"
            for entry in item.form["evidence"]
            if not entry["text"].strip() or entry["text"] not in item.documents[entry["document"]]["text"]
        ]
    none_of(faults)


@per_topic
def test_twins_differ_and_keep_their_length(name: str) -> None:
    faults = []
    for item in stated(name):
        text, twin = item.form["text"], item.form["corrupted"]
        if tokens(text) == tokens(twin):
            faults.append(f"{item.where}: the twin is the statement")
        if abs(length(text) - length(twin)) > max(2, round(0.15 * length(text))):
            faults.append(f"{item.where}: lengths {length(text)} and {length(twin)} words")
    none_of(faults)


@per_topic
def test_twins_are_wrong_by_words_of_the_right_kind(name: str) -> None:
    faults = []
    for item in stated(name):
        cited, edit = item.cited_words(), item.row["edit"]
        if edit in ("date", "number"):
            if not item.new_words():
                faults.append(f"{item.where}: a {edit} altered without a new word")
            faults += [
                f"{item.where}: altered value {word!r} occurs in the cited documents"
                for word in item.new_words()
                if word in cited and (re.search(r"\d", word) or (word not in LITTLE and len(word) > 2))
            ]
        elif edit in ("name", "relation", "comparison"):
            faults += [
                f"{item.where}: new word {word!r} of a {edit} edit is not in the cited documents"
                for word in item.new_words()
                if word not in LITTLE and len(word) > 3 and not held(word, cited)
            ]
        elif edit != "negation":
            faults.append(f"{item.where}: expected an edit of {sorted(EDITS)}, got {edit!r}")
    none_of(faults)


@per_topic
def test_altered_documents_are_cited(name: str) -> None:
    faults = []
    for where, row in rows(name):
        if not set(row["altered_in"]) <= set(row["citations"]):
            faults.append(f"{where}: altered_in {row['altered_in']} is not among {row['citations']}")
        if not row["altered_in"] and row["kind"] != "comparison":
            faults.append(f"{where}: no document contradicts the twin of a {row['kind']} statement")
    none_of(faults)


@per_topic
def test_edits_are_mixed(name: str) -> None:
    edits = Counter(row["edit"] for _, row in rows(name))
    assert len(edits) >= 5, f"{name}: {dict(edits)}: expected at least 5 of the 6 edits"
    assert max(edits.values()) <= 0.4 * edits.total(), f"{name}: {dict(edits)}: one edit is over 40 %"


@per_topic
def test_negation_goes_both_ways(name: str) -> None:
    ways: Counter[tuple[str, int]] = Counter()
    faults = []
    for item in stated(name):
        if item.row["edit"] == "negation":
            before, after = (len(NEGATION.findall(item.form[key].lower())) for key in ("text", "corrupted"))
            ways[item.lang, after - before] += 1
            if before == after:
                faults.append(f"{item.where}: a negation altered, but both hold {before}: {item.form['corrupted']!r}")
    none_of(faults)
    for lang in LANGUAGES:
        added = sum(n for (code, way), n in ways.items() if code == lang and way > 0)
        removed = sum(n for (code, way), n in ways.items() if code == lang and way < 0)
        assert added + removed < 2 or min(added, removed) > 0, f"{name} ({lang}): {added} added, {removed} removed"
