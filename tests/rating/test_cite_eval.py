"""Held: CiteEval-Auto against a scripted server, every variant, both languages, and against one that misbehaves."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llm_server import CUT, EMPTY, HALF_JSON, ScriptedServer, says, status
from rating_cases import response
from scripted_rater import rater as scripted

from citeverifier.llm.client import LLM, LLMOptions
from citeverifier.rating.cite_eval import CiteEvalAuto
from citeverifier.rating.rating_from_edits import FEATURES, EditDist
from citeverifier.rating.responses import Edit, RatedResponse, Response, improve

WAYS = ("vanilla", "cot", "iter_cot", "iter_coe")


def auto(url: str, way: str = "iter_coe", *, coefficients: Path | None = None, **more: Any) -> CiteEvalAuto:
    llm = LLM(LLMOptions("scripted", base_url=url, retries=0, timeout=5.0))
    return CiteEvalAuto(llm, way, None if coefficients is None else str(coefficients), **more)


def coefficients(path: Path) -> Path:
    EditDist(dict(zip(FEATURES, (1.0, 2.0, 3.0, 2.0, 3.0, 4.0, 5.0), strict=True)), {"source": "made"}).save(path)
    return path


def rate(
    folder: Path, reply: Callable[[dict[str, Any]], Any], *responses: Response, **more: Any
) -> list[RatedResponse]:
    with ScriptedServer(reply) as server:
        return auto(server.url, **more).rate(responses, folder)


def dangling(one: Response) -> Response:
    """Each statement cites [14], too."""
    return dataclasses.replace(one, statements=tuple(dataclasses.replace(s, dangling=(14,)) for s in one.statements))


def kind_of(body: dict[str, Any]) -> str:
    """Which stage asks."""
    properties = body["structured_outputs"]["json"]["properties"]["statements"]["items"]["properties"]
    return "rating" if "rating" in properties else "context"


@pytest.mark.parametrize("lang", ["en", "pl"])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_rates(way: str, lang: str, tmp_path: Path) -> None:
    with ScriptedServer(scripted) as server:
        [one, none] = auto(server.url, way).rate(
            [response([0], [0], lang=lang), response(identity="none", lang=lang)], tmp_path
        )
    assert none.statements == ()
    good, bad = one.statements
    assert (good.ratings[way], bad.ratings[way]) == (5.0, 1.0)
    assert {good.context, bad.context} == {"retrieval"}
    if way == "iter_coe":
        assert (good.edits, bad.edits) == ((), (Edit("misleading", 0), Edit("evidence", 1)))
    else:
        assert good.edits is None
    assert {path.name for path in tmp_path.iterdir()} == {"context_attribution.jsonl", "citation_rating.jsonl"}
    rating = server.bodies[-1]["structured_outputs"]["json"]["properties"]
    order = {"iter_cot": ["id", "reasoning", "rating"], "iter_coe": ["id", "reasoning", "edits", "rating"]}
    assert list(rating["statements"]["items"]["properties"]) == order.get(way, ["id", "rating"])
    assert ("reasoning" in rating) == (way == "cot")
    context = server.bodies[0]["structured_outputs"]["json"]["properties"]["statements"]["items"]["properties"]
    assert list(context) == ["id", "reasoning", "context"]
    assert all(("Zdanie 1" in body["messages"][-1]["content"]) == (lang == "pl") for body in server.bodies)


def test_documents_come_before_statements_and_attribution_sees_no_citations(tmp_path: Path) -> None:
    with ScriptedServer(scripted) as server:
        auto(server.url).rate([response([0], [0])], tmp_path)
    texts = {kind_of(body): body["messages"][-1]["content"] for body in server.bodies}
    for text in texts.values():
        assert text.rindex("</document ") < text.index("Statement 1") < text.rindex('{"statements"')
    assert "citing" not in texts["context"]


def test_the_ensemble_of_rating_and_edit_dist(tmp_path: Path) -> None:
    file = coefficients(tmp_path / "c.json")
    [one] = rate(tmp_path / "a", scripted, response([0], [0]), coefficients=file)
    assert list(one.statements[1].ratings.items()) == [("ensemble", 1.25), ("iter_coe", 1.0), ("edit_dist", 1.5)]
    [one] = rate(tmp_path / "a", scripted, response([0], [0]), coefficients=file, weight=0.8)
    assert one.statements[1].ratings["ensemble"] == pytest.approx(1.1)
    [one] = rate(tmp_path / "b", scripted, dangling(response([0], [0])), coefficients=file)
    assert one.statements[1].ratings["edit_dist"] == pytest.approx((1 + 2 + 5) / 3), "[14] stays, as in fitting"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"way": "interleaved"}, r"rater\.way: expected one of vanilla, cot, iter_cot, iter_coe, got interleaved"),
        ({"way": "cot", "coefficients": Path("c.json")}, "expected rater.way=iter_coe, which makes edits, got cot"),
        ({"weight": 1.5}, r"from 0 to 1, got 1\.5"),
        ({"weight": "abc"}, "from 0 to 1, got 'abc'"),
    ],
)
def test_settings_that_cannot_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        auto("http://127.0.0.1:1/v1", **given)


def test_a_statement_that_rests_on_documents_and_cites_nothing_has_the_lowest_rating(tmp_path: Path) -> None:
    [one] = rate(tmp_path, twisted("rating", lambda rows: [{**row, "rating": 5} for row in rows]), response([], [1]))
    assert [judged.ratings["iter_coe"] for judged in one.statements] == [1.0, 5.0]
    assert one.statements[0].edits == (Edit("evidence", 0),)


def test_what_rests_on_no_document_is_masked_and_not_asked_about(tmp_path: Path) -> None:
    def by_model(body: dict[str, Any]) -> Any:
        if kind_of(body) == "context":
            return says(json.dumps({"statements": [{"id": 1, "context": "model"}, {"id": 2, "context": "model"}]}))
        assert body["structured_outputs"]["json"]["properties"]["statements"]["items"]["properties"]["id"]["enum"] == [
            2
        ]
        return scripted(body)

    [one] = rate(tmp_path, by_model, response([], [1]))
    assert [judged.applicable for judged in one.statements] == [False, True]
    assert one.statements[0].ratings == {"iter_coe": None}
    assert one.statements[0].reasons == {}


def test_the_ablation_asks_for_no_attribution_and_rates_all(tmp_path: Path) -> None:
    with ScriptedServer(scripted) as server:
        [one] = auto(server.url, attribution=False).rate([response([], [1])], tmp_path)
    assert {kind_of(body) for body in server.bodies} == {"rating"}
    assert [judged.ratings["iter_coe"] for judged in one.statements] == [3.0, 5.0]


# --- a server that misbehaves --------------------------------------------------------------------------------------


def twisted(kind: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Callable[..., Any]:
    """The scripted rater, with the entries of one stage changed."""

    def reply(body: dict[str, Any]) -> Any:
        answer = scripted(body)
        if kind_of(body) == kind:
            said = json.loads(answer["choices"][0]["message"]["content"])
            said["statements"] = change(said["statements"])
            return says(json.dumps(said))
        return answer

    return reply


@pytest.mark.parametrize("fitted", [True, False])
@pytest.mark.parametrize("lang", ["en", "pl"])
def test_edits_that_cannot_be_made_leave_their_statement_unscored(lang: str, fitted: bool, tmp_path: Path) -> None:
    bad = {"kind": "misleading", "citation": 9, "why": ""}
    reply = twisted("rating", lambda rows: [{**rows[0], "edits": [bad]}, {**rows[1], "rating": 6}, *rows[2:]])
    file = coefficients(tmp_path / "c.json") if fitted else None
    metrics = ("ensemble", "iter_coe", "edit_dist") if fitted else ("iter_coe",)
    [one] = rate(tmp_path, reply, response([0], [1], [2], lang=lang), coefficients=file)
    assert one.statements[0].ratings == dict.fromkeys(metrics)
    reason = "edits: expected a citation of 1 to 3, got misleading 9"
    assert one.statements[0].reasons == dict.fromkeys(metrics, reason)
    assert one.statements[0].edits is None
    off = "expected a rating from 1 to 5, got 6"
    assert one.statements[1].reasons == {metric: off for metric in metrics if metric != "edit_dist"}
    assert one.statements[2].ratings == dict.fromkeys(metrics, 5.0)


def test_a_context_that_cannot_be_read_matters_where_nothing_is_cited(tmp_path: Path) -> None:
    reply = twisted("context", lambda rows: [{**row, "context": "books"} for row in rows])
    [one] = rate(tmp_path, reply, response([], [1]))
    assert [judged.applicable for judged in one.statements] == [None, True]
    assert one.statements[0].reasons["iter_coe"].startswith("attribution: expected a context of query")
    assert one.statements[1].ratings == {"iter_coe": 5.0}


SERVERS = {
    "too long": status(400, "This model's maximum context length is 2048 tokens"), "500": status(500), "cut": CUT,
    "half": HALF_JSON, "empty": EMPTY, "prose": says("I would rate it 5."), "array": says("[5, 5]"),
    "cut off": says('{"statements"', finish_reason="length"),
}  # fmt: skip


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("way", ["vanilla", "iter_cot", "iter_coe"])
def test_nothing_of_it_becomes_a_rating(name: str, way: str, tmp_path: Path) -> None:
    [one] = rate(tmp_path, lambda body: SERVERS[name], response([0], [1]), way=way)
    for judged in one.statements:
        assert judged.ratings == {way: None}
        assert judged.reasons[way]
    if name == "too long":
        assert "maximum context length" in one.statements[0].reasons[way]


def test_one_response_too_long_leaves_the_others(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Any:
        return SERVERS["too long"] if "Wisła" in body["messages"][-1]["content"] else scripted(body)

    first, second = rate(tmp_path, reply, response([0], lang="pl"), response([0]))
    assert first.statements[0].ratings == {"iter_coe": None}
    assert second.statements[0].ratings == {"iter_coe": 5.0}


# --- resuming ------------------------------------------------------------------------------------------------------


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    responses = [response([0], [0], identity=f"q{i}") for i in range(4)]
    with ScriptedServer(scripted) as server:
        whole = auto(server.url).rate(responses, tmp_path / "whole")
        assert len(server.bodies) == 8
        path = tmp_path / "whole" / "citation_rating.jsonl"
        path.write_bytes(path.read_bytes()[:-30])  # a kill in the middle of the last line
        again = auto(server.url)
        assert again.rate(responses, tmp_path / "whole") == whole
        assert len(server.bodies) == 9
        assert again.cost.calls == 1


def test_what_failed_is_asked_again_and_what_changed_too(tmp_path: Path) -> None:
    [one] = rate(tmp_path, lambda body: status(500) if kind_of(body) == "rating" else scripted(body), response([0]))
    assert one.statements[0].ratings == {"iter_coe": None}
    with ScriptedServer(scripted) as server:
        [one] = auto(server.url).rate([response([0])], tmp_path)
        assert one.statements[0].ratings == {"iter_coe": 5.0}
        assert len(server.bodies) == 1
        auto(server.url).rate([response([1])], tmp_path)
        assert len(server.bodies) == 2, "attribution does not hang on citations, ratings do"


# --- improvement ---------------------------------------------------------------------------------------------------


def test_edits_improve_what_is_rated(tmp_path: Path) -> None:
    with ScriptedServer(scripted) as server:
        history = improve(auto(server.url), [response([0], [0])], 5, tmp_path)
    assert [[judged.ratings["iter_coe"] for judged in one.statements] for [one] in history] == [[5.0, 1.0], [5.0, 5.0]]
    assert history[1][0].response.statements[1].citations == (1,)
    assert (tmp_path / "round_1" / "citation_rating.jsonl").is_file()


def test_a_rater_without_edits_cannot_improve(tmp_path: Path) -> None:
    with ScriptedServer(scripted) as server:
        with pytest.raises(ValueError, match="expected a rater that makes edits"):
            improve(auto(server.url, "vanilla"), [response([0])], 1, tmp_path)
        assert len(server.bodies) == 0, "nothing is paid for before that is known"
