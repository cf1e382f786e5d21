"""Held: scenarios, masks and unscored statements by hand; system table; agreement with people; attribution's F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from rating_cases import ByTable, response
from scipy import stats

from citeverifier.rating.rating_summary import (
    attribution,
    correlations,
    human_correlations,
    shape_correlations,
    summarise,
)
from citeverifier.rating.responses import (
    CitedStatement,
    HumanRatings,
    RatedResponse,
    RatedStatement,
    Response,
    rating_row,
    response_rating,
)  # fmt: skip

TABLE: dict[str, tuple[list[list[int]], list[Any], Any, Any]] = {
    "all cited": ([[0], [1]], [5.0, 2.0], 3.5, 3.5),
    "one missing": ([[0], []], [5.0, 1.0], 3.0, 5.0),
    "one masked": ([[0], []], [4.0, "mask"], 4.0, 4.0),
    "nothing cited": ([[], []], [1.0, 1.0], 1.0, 1.0),
    "nothing needed": ([[], []], ["mask", "mask"], 5.0, 5.0),
    "one unscored": ([[0], [1]], [5.0, None], None, None),
    "uncited unscored": ([[0], []], [5.0, None], None, 5.0),
}


rating = partial(response_rating, metric="table", scale=(1.0, 5.0))


def rated(name: str) -> RatedResponse:
    citations, values, _, _ = TABLE[name]
    return ByTable({name: values}).rated(response(*citations, identity=name))


@pytest.mark.parametrize("name", TABLE)
def test_scenarios(name: str) -> None:
    *_, full, cited = TABLE[name]
    assert rating(rated(name), scenario="full")[0] == full
    assert rating(rated(name), scenario="cited")[0] == cited


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (rated("one unscored"), "1 of 2 statements are unscored"),
        (RatedResponse(response(), ()), "the answer has no statements"),
        (
            RatedResponse(response([]), (RatedStatement({"table": (None, None)}, applicable=None),)),
            "not known of 1 of 1 statements whether they need citations",
        ),
    ],
)
def test_why_there_is_no_rating(one: RatedResponse, reason: str) -> None:
    assert rating(one, scenario="full") == (None, reason)


def test_the_system_table() -> None:
    rater = ByTable({name: values for name, (_, values, _, _) in TABLE.items()})
    every = [rated(name) for name in TABLE]
    both = [*every, replace(every[0], response=replace(every[0].response, system="t"))]
    systems = summarise([both], rater, lang="en", data={}, seed=13)["systems"]
    assert list(systems) == ["s", "t"]
    one = systems["s"]
    assert (one["responses"], one["statements"], one["length"]) == (7, 14, 2.0)
    assert one["need_none"] == 3
    assert one["unscored"] == {"table": 2}
    assert one["missing_citations"] == pytest.approx((0 + 0.5 + 0 + 1 + 0 + 0.5) / 6)
    assert one["ratings"]["table"]["full"]["mean"] == pytest.approx((3.5 + 3 + 4 + 1 + 5) / 5)
    assert one["ratings"]["table"]["full"]["responses"] == 5
    assert one["ratings"]["table"]["full"]["without"] == {"statements are unscored": 2}
    low, high = one["ratings"]["table"]["full"]["interval"]
    assert low < 3.3 < high


def with_people(
    identity: str, values: list[Any], people: list[float | None], cited: Sequence[Sequence[int]] | None = None
) -> RatedResponse:
    """A response with people's ratings of each statement; each cites the first document, or what is given."""
    one = ByTable({identity: values}).rated(response(*(cited or [[0]] * len(values)), identity=identity))
    statements = tuple(
        replace(statement, human=HumanRatings((theirs,) * 3, ("retrieval",) * 3))
        for statement, theirs in zip(one.response.statements, people, strict=True)
    )
    return replace(one, response=replace(one.response, statements=statements))


def test_agreement_with_people() -> None:
    every = [
        with_people("a", [1.0, 2.0], [1.0, 3.0]), with_people("b", [5.0, 3.0], [5.0, 2.0]),
        with_people("c", [4.0, "mask"], [4.0, None]), with_people("d", [2.0, None], [1.0, 5.0]),
    ]  # fmt: skip
    rater = ByTable({})
    found = human_correlations(every, rater, 13)["table"]["full"]
    x, y = [1, 2, 5, 3, 4, 4, 2], [1, 3, 5, 2, 4, 4, 1]  # c's second: masked by both, its response's ratings stand in
    own = found["statements"]
    assert own["n"] == 7
    assert own["pearson"]["value"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert own["spearman"]["value"] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert own["kendall"]["value"] == pytest.approx(stats.kendalltau(x, y).statistic)
    assert own["pearson"]["interval"][0] <= own["pearson"]["value"] <= own["pearson"]["interval"][1]
    assert found["responses"]["n"] == 3
    assert found["responses"]["pearson"]["value"] == pytest.approx(stats.pearsonr([1.5, 4, 4], [2, 3.5, 4]).statistic)
    assert human_correlations([rated("all cited")], rater, 13) == {}


def test_what_cites_nothing_has_its_responses_ratings_in_cited() -> None:
    one = with_people("a", [5.0, 1.0, 3.0], [4.0, 2.0, 2.0], cited=([0], [], [1]))
    found = human_correlations([one], ByTable({}), 13)["table"]
    for scenario, x, y in (("full", [5, 1, 3], [4, 2, 2]), ("cited", [5, 4, 3], [4, 3, 2])):
        value = found[scenario]["statements"]["pearson"]["value"]
        assert value == pytest.approx(stats.pearsonr(x, y).statistic)


def test_correlations_of_too_little_are_undefined() -> None:
    for values in ([], [1.0, 2.0], [1.0, 1.0, 1.0]):
        found = correlations([(str(i), value, value) for i, value in enumerate(values)], 13)
        assert found["pearson"] == {"value": None, "interval": None}


def test_length_missing_and_rating() -> None:
    rows = [rated(name) for name in ("all cited", "one missing", "one masked", "nothing cited")]
    found = shape_correlations(rows, ByTable({}), 13)
    assert found["missing_and_rating"]["n"] == 4
    expected = stats.pearsonr([0, 0.5, 0, 1], [3.5, 3, 4, 1]).statistic
    assert found["missing_and_rating"]["pearson"]["value"] == pytest.approx(expected)
    assert found["length_and_missing"]["pearson"]["value"] is None, "all are of one length"


def test_attribution() -> None:
    contexts = [[name] * 3 for name in ("retrieval", "model", "query", "retrieval")]
    contexts += [["retrieval", "model"], ["query"] * 3]
    cited = [(0,), (), (0,), (), (), ()]
    statements = tuple(
        CitedStatement("a", citations, human=HumanRatings((), tuple(own)))  # type: ignore[arg-type]
        for citations, own in zip(cited, contexts, strict=True)
    )
    needs = [True, False, True, False, True, None]
    one = Response("q", "en", "s", "?", (), statements)
    found = attribution([RatedResponse(one, tuple(RatedStatement({}, applicable=need) for need in needs))])
    assert found is not None
    assert (found["n"], found["unscored"]) == (4, 1)
    assert (found["precision"], found["recall"], found["f1"]) == (0.5, 0.5, 0.5)
    assert attribution([rated("all cited")]) is None


def test_a_row_says_what_is_missing() -> None:
    row = rating_row(rated("one unscored"), ByTable({}))
    assert row["ratings"] == {"table": {"full": None, "cited": None}}
    assert row["reasons"]["table.full"] == "1 of 2 statements are unscored"
    assert row["statements"][1]["reasons"] == {"table": "no reply"}
    assert row["statements"][1]["needs_citations"] is True


def test_a_summary_tells_of_the_rounds() -> None:
    rater = ByTable({"all cited": [5.0, 2.0]})
    history = [[rated("all cited")], [rated("one missing")]]
    found = summarise(history, rater, lang="en", data={"bad_records": 0}, seed=13)
    assert [one["rating"] for one in found["improvement"]] == [3.5, 3.0]
    assert found["cost"]["statements"] == 2
    assert found["planted"] is None


def test_intervals_are_drawn_by_question() -> None:
    def interval(*chains: str) -> list[float] | None:
        rows = [
            replace(one, response=replace(one.response, chain=chain))
            for one, chain in zip(map(rated, ("all cited", "one missing", "nothing cited")), chains, strict=True)
        ]
        found = summarise([rows], ByTable({}), lang="en", data={}, seed=13)
        return found["systems"][rows[0].response.system]["ratings"]["table"]["full"]["interval"]

    assert interval("q", "q", "q") != interval("q", "q", "r")
    assert interval("p", "q", "r") == interval("a", "b", "c")
