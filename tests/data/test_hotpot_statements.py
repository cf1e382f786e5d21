"""Held: every rule of the authored HotpotQA statements, and that they meet their documents wherever these come from."""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from citeverifier.data.hotpot_statements import STATEMENTS, load_hotpot_statements
from citeverifier.data.hotpotqa import questions_of
from citeverifier.data.rows import read_rows
from citeverifier.records import RecordError

ROLES = {"dev": "test", "train": None}  # part -> the role that reads it whole
EDITS = {"date", "number", "name", "relation", "comparison", "negation"}
KINDS = {"single", "joined", "comparison", "bridge"}


@cache
def rows(part: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (STATEMENTS / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()]


def tokens(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def written(tmp_path: Path, *, drop_title: bool = False) -> str:
    """A HotpotQA file of made paragraphs under the titles that the statements of the first dev questions cite."""
    made = []
    for row in [row for row in rows("dev") if row["lang"] == "en"][:3]:
        titles = sorted({title for item in row["statements"] for title in item["citations"]})
        titles = [*titles, "Elsewhere"][:2]
        shown = ["Something else", *titles[1:]] if drop_title else titles
        made.append(
            {
                "_id": row["id"], "question": "Who?", "answer": "They", "type": "bridge", "level": "hard",
                "supporting_facts": [[title, 0] for title in shown],
                "context": [[title, [f"{title} is there."]] for title in shown],
            }
        )  # fmt: skip
    path = tmp_path / "hotpot.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("part", ROLES)
def test_each_statement_is_well_formed(part: str) -> None:
    for row in rows(part):
        assert 1 <= len(row["statements"]) <= 3, row["id"]
        for item in row["statements"]:
            where = f"{row['id']}: {item['text']}"
            assert item["kind"] in KINDS, where
            assert item["edit"] in EDITS, where
            assert item["span"] in item["text"], where
            assert (len(item["citations"]) == 1) == (item["kind"] == "single"), where
            assert set(item["altered_in"]) <= set(item["citations"]), where
            assert item["altered_in"] or item["kind"] == "comparison", where
            assert 0.75 <= len(item["corrupted"]) / len(item["text"]) <= 1.33, where
            assert SequenceMatcher(None, tokens(item["text"]), tokens(item["corrupted"])).ratio() >= 0.5, where
            assert item["corrupted"] != item["text"], where


def test_the_parts_hold_what_the_card_says() -> None:
    assert [(part, len({row["id"] for row in rows(part)})) for part in ROLES] == [("dev", 100), ("train", 200)]
    assert {row["lang"] for row in rows("train")} == {"en"}
    assert not {row["id"] for row in rows("dev")} & {row["id"] for row in rows("train")}
    for english, polish in zip(rows("dev")[::2], rows("dev")[1::2], strict=True):
        assert (english["id"], english["lang"], polish["lang"]) == (polish["id"], "en", "pl")
        for key in ("citations", "kind", "edit", "altered_in"):
            assert [s[key] for s in english["statements"]] == [s[key] for s in polish["statements"]], english["id"]


def test_statements_meet_their_documents(tmp_path: Path) -> None:
    examples = load_hotpot_statements(written(tmp_path), "test")
    assert [example.lang for example in examples] == ["en", "pl"] * 3
    for example, row in zip(examples, rows("dev"), strict=False):
        assert example.id == row["id"]
        for statement, item in zip(example.statements, row["statements"], strict=True):
            titles = [example.documents[i].title for i in statement.citations]
            assert sorted(titles) == sorted(item["citations"])


def test_a_file_without_the_questions_or_of_other_documents_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected HotpotQA's train questions, got none of the 200"):
        load_hotpot_statements(written(tmp_path), "train")
    with pytest.raises(RecordError, match=r"question \w+: expected titles of the question"):
        load_hotpot_statements(written(tmp_path, drop_title=True), "test")


@pytest.mark.parametrize("part", ROLES)
def test_all_questions_are_in_hotpotqa_and_no_statement_copies_a_document(part: str, real_data: Path) -> None:
    file = real_data / "hotpotqa" / f"hotpot_distractor_{part}_sample.json.gz"
    examples = load_hotpot_statements(str(file), ROLES[part])
    assert len(examples) == len(rows(part))
    for example in examples:
        for statement in example.statements if example.lang == "en" else ():
            said = tokens(statement.text)
            for position in statement.citations:
                read = tokens(example.documents[position].text)
                copied = SequenceMatcher(None, said, read, autojunk=False).find_longest_match().size
                assert copied < 9, statement.text


def test_no_train_question_shares_a_gold_document_with_dev(real_data: Path) -> None:
    train, dev = (str(real_data / "hotpotqa" / f"hotpot_distractor_{part}_sample.json.gz") for part in ("train", "dev"))
    shown = {title for question in questions_of(read_rows(dev)) for title, _ in question.paragraphs}
    for example in load_hotpot_statements(train, None):
        cited = {example.documents[i].title for statement in example.statements for i in statement.citations}
        assert not cited & shown, example.id
