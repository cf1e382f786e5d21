"""Held: whatever a server does wrong comes out as counted drops, never as data, and never as a crash."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llm_server import (
    CUT,
    EMPTY,
    HALF_BODY,
    HALF_JSON,
    LONG,
    WRONG_LANGUAGE,
    Misbehaviour,
    ScriptedServer,
    says,
    status,
)
from scripted_model import EN, TRANSLATIONS, asked, competent, examples, tools

from data_gen import answer, corrupt, grounded, point, translate
from data_gen.stage import Step, Tally, read_stage, run_stage

POLISH = "Wisła jest najdłuższą rzeką w Polsce i płynie przez Warszawę do morza [1]."
SLOW = Misbehaviour(delay=3.0)
SERVERS: dict[str, Any] = {
    "slow": SLOW, "429": status(429), "500": status(500), "cut": CUT, "half body": HALF_BODY, "half JSON": HALF_JSON,
    "empty": EMPTY, "long": LONG, "wrong language": WRONG_LANGUAGE, "nothing": says(None),
    "no choices": {"choices": []}, "refusal": says("I'm sorry, but I cannot help with that."),
    "duplicate choices": {**says("{"), "choices": [says("{")["choices"][0], says("}")["choices"][0]]},
    "random": says("\ufffd\x00 qp zzx [[[ 9 9 }} tt kk"), "array": says("[1, 2, 3]"),
}  # fmt: skip


def with_statements() -> list[Any]:
    return examples(3)


def steps(folder: Path, url: str) -> dict[str, Step]:
    kit = tools(folder, url, timeout=1.0, retries=0)
    return {
        "answer": answer.by_llm(kit),
        "corrupt": corrupt.by_llm(kit, prompt="corrupt_core", kinds=["name", "date"], require=True),
        "translate": translate.by_llm(kit, lang="all", source_lang="en", attempts=2),
        "point": point.by_llm(kit),
        "grounded": grounded.by_llm(kit),
    }


def run_all(folder: Path, reply: Callable[[dict[str, Any]], Any]) -> dict[str, Tally]:
    with ScriptedServer(reply) as server:
        return {
            name: run_stage(name, folder / f"{name}.jsonl", with_statements(), step)
            for name, step in steps(folder, server.url).items()
        }


@pytest.mark.parametrize("name", SERVERS)
def test_nothing_of_it_becomes_data(name: str, tmp_path: Path) -> None:
    for stage, tally in run_all(tmp_path, lambda body: SERVERS[name]).items():
        assert (tally.asked, tally.kept) == (3, 0), stage
        assert sum(tally.dropped.values()) == 3, stage
        assert list(read_stage(tmp_path / f"{stage}.jsonl")) == [], stage


def test_a_competent_server_is_believed(tmp_path: Path) -> None:
    tallies = run_all(tmp_path, competent)
    whole = {stage for stage, tally in tallies.items() if tally.kept == 3}
    assert whole >= {"answer", "corrupt", "translate", "grounded"}
    assert tallies["point"].kept >= 2


# --- answers that are wrong in ways of their own -------------------------------------------------------------------

ANSWERS = {
    "no cited statement": "The Vistula is the longest river in the country of Poland.",
    "cites a document that is not there": "The Vistula is the longest river in Poland [14].",
    "wrong language": POLISH,
    "answer too long": "The river is long and it is wide [1]. " * 100,
    "refusal": "I cannot answer this from the documents [1].",
    "empty answer": "[1][2]",
}


@pytest.mark.parametrize("reason", ANSWERS)
def test_answers(reason: str) -> None:
    assert answer.read_answer(examples(1)[0], ANSWERS[reason]).dropped == reason


def test_an_answer_keeps_what_can_be_asked_about() -> None:
    text = "So. The Vistula is in Poland. It is the longest of all rivers there [2][1]. All of it is so [1-5]."
    outcome = answer.read_answer(examples(1)[0], text)
    [example] = outcome.records
    assert [(s.text, s.citations, s.kind) for s in example.statements] == [
        ("The Vistula is in Poland.", (), "uncited"),
        ("It is the longest of all rivers there.", (0, 1), "several"),
        ("All of it is so.", (), "uncited"),
    ]
    assert outcome.counts == {
        "statement too short": 1, "statement without citation": 1, "statement cites too many documents": 1,
    }  # fmt: skip


# --- twins ---------------------------------------------------------------------------------------------------------

TEXT = "The Vistula is the longest river in Poland and flows through Warsaw."
TWINS = {
    "unchanged": "The Vistula is the longest river in Poland, and flows through Warsaw!",
    "empty": " .",
    "wrong language": "Wisła jest najdłuższą rzeką w Polsce i płynie przez miasto Warszawa, jak jest tu.",
    "length": "The Vistula.",
    "another statement": "Dogs are mammals that people have kept at home for thousands of years.",
    "refusal": "I cannot change the statement that the Vistula is the longest river.",
}


@pytest.mark.parametrize("reason", TWINS)
def test_twins(reason: str) -> None:
    found = corrupt.wrong_with_twin(TEXT, TWINS[reason], "en")
    assert found == reason


def test_a_good_twin() -> None:
    twin = "The Vistula is the longest river in Poland and flows through Gdynia."
    assert corrupt.wrong_with_twin(TEXT, twin, "en") is None


def twin_reply(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    def reply(body: dict[str, Any]) -> Any:
        found = json.loads(competent(body)["choices"][0]["message"]["content"]) | changes
        return says(json.dumps(found))

    return reply


@pytest.mark.parametrize("document", [0, 9, "1", True, None])
def test_a_twin_names_a_cited_document(document: Any, tmp_path: Path) -> None:
    with ScriptedServer(twin_reply(document=document)) as server:
        tally = run_stage("s", tmp_path / "s.jsonl", examples(2), steps(tmp_path, server.url)["corrupt"])
    assert tally.dropped == {"no twin": 2}
    assert set(tally.counts) == {"twin: names no cited document"}


def test_the_kinds_of_edit_go_round(tmp_path: Path) -> None:
    with ScriptedServer(competent) as server:
        kinds = ["name", "date", "number"]
        step = corrupt.by_llm(tools(tmp_path, server.url), prompt="corrupt_detail", kinds=kinds)
        run_stage("s", tmp_path / "s.jsonl", examples(30), step)
    edits = [s.edit for e in read_stage(tmp_path / "s.jsonl") for s in e.statements if s.citations]
    assert set(edits) == set(kinds)
    assert min(edits.count(kind) for kind in kinds) > len(edits) / 6


def test_a_failed_attempt_asks_for_the_next_kind(tmp_path: Path) -> None:
    with ScriptedServer(lambda body: says('{"corrupted": ""}')) as server:
        step = corrupt.by_llm(tools(tmp_path, server.url), prompt="corrupt_detail", kinds=["name", "date"], attempts=2)
        run_stage("s", tmp_path / "s.jsonl", examples(1), step)
    cited = sum(bool(s.citations) for s in examples(1)[0].statements)
    assert len(server.bodies) == 2 * cited
    for first, second in zip(*[iter(json.dumps(body["messages"]) for body in server.bodies)] * 2, strict=True):
        assert ("date or year" in first) != ("date or year" in second) or first != second


# --- translations --------------------------------------------------------------------------------------------------


def translation(change: Callable[[dict[str, str]], None], times: int = 99) -> Callable[[dict[str, Any]], Any]:
    """The right translation, changed in the first so many replies."""
    left = times

    def reply(body: dict[str, Any]) -> Any:
        nonlocal left
        found = json.loads(competent(body)["choices"][0]["message"]["content"])
        if left > 0:
            left -= 1
            change(found)
        return says(json.dumps(found, ensure_ascii=False))

    return reply


def _untranslated(texts: dict[str, str]) -> None:
    texts["document 1"] = next(en for en, pl in TRANSLATIONS.items() if pl == texts["document 1"])


def _lose_numbers(texts: dict[str, str]) -> None:
    name = next(n for n, text in texts.items() if n.startswith("document") and any(c.isdigit() for c in text))
    texts[name] = "".join("x" if c.isdigit() else c for c in texts[name])


def _lose_names(texts: dict[str, str]) -> None:
    for name in (n for n in texts if n.startswith("document")):
        texts[name] = " ".join(w for w in texts[name].split() if not w[0].isupper()) + " to jest w tym"


def _twin_lost(texts: dict[str, str]) -> None:
    name = next(n for n in texts if n.endswith("corrupted"))
    texts[name] = texts[name.removesuffix(" corrupted")]


def _missing(texts: dict[str, str]) -> None:
    del texts["question"]


BAD = {
    "untranslated": _untranslated, "lost numbers": _lose_numbers, "lost names": _lose_names, "twin lost": _twin_lost,
    "texts missing": _missing,
}  # fmt: skip


@pytest.mark.parametrize("reason", BAD)
def test_bad_translations(reason: str, tmp_path: Path) -> None:
    with ScriptedServer(translation(BAD[reason])) as server:
        tally = run_stage("s", tmp_path / "s.jsonl", examples(1), steps(tmp_path, server.url)["translate"])
    assert tally.dropped == {reason: 1}
    assert tally.cost.calls == 2


@pytest.mark.parametrize("reason", BAD)
def test_a_second_attempt_is_told_what_was_wrong(reason: str, tmp_path: Path) -> None:
    with ScriptedServer(translation(BAD[reason], times=1)) as server:
        tally = run_stage("s", tmp_path / "s.jsonl", examples(1), steps(tmp_path, server.url)["translate"])
    assert tally.kept == 1
    assert tally.counts == {f"attempt: {reason}": 1}
    roles = [message["role"] for message in server.bodies[1]["messages"]]
    assert roles == ["system", "user"] + ["assistant", "user"] * (reason != "texts missing")


def test_the_bundled_translations_pass(tmp_path: Path) -> None:
    failed = {}
    for example in examples(100):
        texts = {name: TRANSLATIONS[text] for name, text in translate.texts_of(example).items()}
        if problems := translate.problems_of(example, texts, "en", "pl"):
            failed[example.id] = problems
    assert not failed


def test_only_what_asks_is_asked(tmp_path: Path) -> None:
    kit = tools(tmp_path)
    step = translate.by_llm(kit, lang="en", source_lang="en")
    assert not step.asks
    assert run_stage("s", tmp_path / "s.jsonl", examples(2), step).kept == 2


def test_a_quote_must_stand_in_the_document() -> None:
    document = "The Vistula is 1,047 km long."
    said = '{"quote": "1,047 km long", "support": "partial"}'
    assert grounded.read_verdict(said, document) == 1
    assert grounded.read_verdict(said.replace("1,047", "900"), document) == "quote not in the document"
    assert grounded.read_verdict('{"quote": "", "support": "full"}', document) == "quote not in the document"
    assert grounded.read_verdict('{"quote": "", "support": "none"}', document) == 0
    assert grounded.read_verdict('{"quote": "x", "support": "maybe"}', document) == "unknown level"


def test_the_scripted_model_knows_its_stages() -> None:
    assert asked({"messages": []}) == "answer"
    assert len(EN) == 100
