"""Held: AutoAIS, AttrScore and LQAC by hand, for statements and responses; unread verdicts are unscored."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from by_hand import ByHand
from llm_server import ScriptedServer, says
from rating_cases import TEXTS, holds, response
from scripted_rater import rater as scripted

from citeverifier.llm.client import LLM, LLMOptions
from citeverifier.rating.baselines import AttrScore, AutoAis, Lqac
from citeverifier.rating.responses import RatedResponse, Response, response_rating
from citeverifier.records import Support

HALF = {Support.PARTIAL: 0.5, Support.FULL: 0.5}


HOLDS = ByHand(lambda pair, _: math.nan if pair.lang == "pl" else holds(pair))


def test_auto_ais(tmp_path: Path) -> None:
    responses = [response([0, 1], [0], []), response([0], lang="pl"), response(identity="none")]
    first, polish, none = AutoAis(HOLDS, HALF).rate(responses, tmp_path)
    assert [one.ratings for one in first.statements] == [
        {"recall": 1.0, "precision": 0.5, "f1": pytest.approx(2 / 3)},
        {"recall": 0.0, "precision": 0.0, "f1": 0.0},
        {"recall": 0.0, "precision": 0.0, "f1": 0.0},
    ]
    assert first.overall["full"] == {
        "recall": pytest.approx(1 / 3),
        "precision": pytest.approx(1 / 3),
        "f1": pytest.approx(1 / 3),
    }
    assert first.overall["cited"]["recall"] == 0.5
    dagger, *_ = AutoAis(HOLDS, HALF, dagger=True).rate(responses, tmp_path)
    assert dagger.statements == first.statements
    assert response_rating(dagger, "precision", "full", (0.0, 1.0))[0] == pytest.approx(0.5 / 3)
    assert response_rating(dagger, "f1", "full", (0.0, 1.0))[0] == pytest.approx(2 / 9)
    assert response_rating(first, "f1", "full", (0.0, 1.0)) == (pytest.approx(1 / 3), None)
    assert polish.statements[0].ratings == {"recall": None, "precision": None, "f1": None}
    assert polish.statements[0].reasons["recall"] == "no answer"
    assert none.statements == ()


def test_a_statement_that_cites_no_document_there_is_counts_in_cited(tmp_path: Path) -> None:
    one = response([0], [])
    dangling = replace(one, statements=(one.statements[0], replace(one.statements[1], dangling=(7,))))
    [rated] = AutoAis(HOLDS, HALF).rate([dangling], tmp_path)
    assert response_rating(rated, "recall", "cited", (0.0, 1.0)) == (0.5, None)


def test_auto_ais_of_nothing(tmp_path: Path) -> None:
    assert AutoAis(HOLDS, HALF).rate([response()], tmp_path)[0].statements == ()


def ask(rater: Any, folder: Path, reply: Any, *responses: Response) -> list[RatedResponse]:
    with ScriptedServer(reply) as server:
        llm = LLM(LLMOptions("scripted", base_url=server.url, retries=0))
        rated: list[RatedResponse] = rater(llm, None).rate(responses, folder)
        return rated


def prompts(*verdicts: tuple[str, str]) -> Any:
    """Answers by the document that is asked about."""

    def reply(body: dict[str, Any]) -> Any:
        text = body["messages"][-1]["content"]
        return says(next((said for held, said in verdicts if held in text.rpartition("</source")[0]), "yes"))

    return reply


def test_attr_score(tmp_path: Path) -> None:
    cats, length, rises = (TEXTS["en"][i] for i in (2, 1, 0))
    reply = prompts((cats, "contradictory"), (length, "extrapolatory"), (rises, "attributable"))
    [one] = ask(AttrScore, tmp_path, reply, response([0, 1], [2], []))
    assert [judged.ratings for judged in one.statements] == [
        {"strict": 0.5, "relaxed": 0.75}, {"strict": 0.0, "relaxed": 0.0}, {"strict": 0.0, "relaxed": 0.0},
    ]  # fmt: skip
    assert response_rating(one, "relaxed", "full", (0.0, 1.0))[0] == 0.25


def test_lqac(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Any:
        choices = body["structured_outputs"]["choice"]
        text = body["messages"][-1]["content"]
        if choices == ["full", "partial", "none"]:
            return says("partial")
        return says("no" if TEXTS["en"][2] in text.rpartition("</source")[0] or "cites nothing" in text else "yes")

    [one] = ask(Lqac, tmp_path, reply, response([0, 2], [1], []))
    assert [tuple(judged.ratings.values()) for judged in one.statements] == [  # f1, recall, precision
        (0.5, 0.5, 0.5), (pytest.approx(2 / 3), 0.5, 1.0), (0.0, 1.0, 0.0),
    ]  # fmt: skip
    assert response_rating(one, "recall", "full", (0.0, 1.0))[0] == pytest.approx(2 / 3)
    assert response_rating(one, "precision", "full", (0.0, 1.0))[0] == pytest.approx(2 / 3), "over citations"
    assert response_rating(one, "f1", "full", (0.0, 1.0))[0] == pytest.approx(2 / 3)
    assert response_rating(one, "f1", "cited", (0.0, 1.0))[0] == pytest.approx(2 * 0.5 * (2 / 3) / (0.5 + 2 / 3))
    [dagger] = ask(lambda llm, lang: Lqac(llm, lang, dagger=True), tmp_path, reply, response([0, 2], [1], []))
    values = [response_rating(dagger, name, "full", (0.0, 1.0))[0] for name in Lqac.metrics]
    assert values == pytest.approx([(0.5 + 2 / 3) / 3, 2 / 3, 0.5])


@pytest.mark.parametrize("kind", [AttrScore, Lqac])
@pytest.mark.parametrize("lang", ["en", "pl"])
def test_the_scripted_server_is_understood(kind: Any, lang: str, tmp_path: Path) -> None:
    [one] = ask(kind, tmp_path, scripted, response([0], [2], [], lang=lang))
    assert all(value is not None for judged in one.statements for value in judged.ratings.values())
    first, second, _ = one.statements
    assert next(iter(first.ratings.values())) == 1.0
    assert next(iter(second.ratings.values())) == 0.0


@pytest.mark.parametrize("kind", [AttrScore, Lqac])
def test_verdicts_that_cannot_be_read_are_unscored(kind: Any, tmp_path: Path) -> None:
    [one] = ask(kind, tmp_path, lambda body: says("perhaps"), response([0]))
    assert all(value is None for value in one.statements[0].ratings.values())
    assert "perhaps" in next(iter(one.statements[0].reasons.values()))
    assert response_rating(one, kind.metrics[0], "full", (0.0, 1.0))[1] == "1 of 1 statements are unscored"
