"""Held: what an LLM says of statements is read strictly; each statement asked about has a value or a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rating_cases import response

from citeverifier.llm.client import Reply
from citeverifier.rating.llm_stages import read_contexts, read_edits, read_ratings
from citeverifier.rating.responses import Edit

CITED = response([0], [0, 1]).statements


def said(*entries: Any) -> Reply:
    return Reply(json.dumps({"statements": entries}))


def test_ratings() -> None:
    read = read_ratings(said({"id": 2, "rating": 5}, {"id": 1, "rating": 1}), [0, 1])
    assert (read.values, read.reasons) == ({0: 1.0, 1: 5.0}, {})


@pytest.mark.parametrize("rating", [6, 0, -1, 5.5, "5", None, True, [5]])
def test_a_rating_off_the_scale_is_none(rating: Any) -> None:
    read = read_ratings(said({"id": 1, "rating": rating}), [0])
    assert read.values == {}
    assert read.reasons[0].startswith("expected a rating from 1 to 5, got ")


def test_missing_and_doubled_statements() -> None:
    read = read_ratings(said({"id": 1, "rating": 4}, {"id": 1, "rating": 4}, {"id": 3, "rating": 2}), [0, 1, 2])
    assert read.values == {2: 2.0}
    assert read.reasons == {0: "2 entries for statement 1", 1: "no entry for statement 2"}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(None, "no connection"), "no connection"),
        (Reply("I rate it 5."), "expected one JSON value, got none"),
        (Reply('{"statements": [{"id": 1, "rating": 5}'), "JSON breaks off"),
        (Reply("[5, 5]"), 'expected {"statements": [...]}'),
        (Reply('{"statements": 5}'), 'expected {"statements": [...]}'),
        (Reply(None, "expected JSON, got ...", raw="no"), "expected one JSON value"),
    ],
)
def test_a_reply_that_cannot_be_read(reply: Reply, reason: str) -> None:
    read = read_ratings(reply, [0, 1])
    assert read.values == {}
    assert all(why.startswith(reason) for why in read.reasons.values())
    assert set(read.reasons) == {0, 1}


def test_a_server_without_constraints_is_read_out_of_its_prose() -> None:
    raw = '<think>Hm.</think>Here:\n```json\n{"statements": [{"id": 1, "rating": 3}]}\n```'
    assert read_ratings(Reply(None, "expected JSON", raw=raw), [0]).values == {0: 3.0}


def test_contexts() -> None:
    read = read_contexts(said({"id": 1, "context": "query"}, {"id": 2, "context": "books"}), [0, 1])
    assert read.values == {0: "query"}
    assert "expected a context of query, retrieval, response, model, got 'books'" in read.reasons[1]


def edits(*named: tuple[Any, Any], statement: int = 1) -> Any:
    items = [{"why": "", "kind": kind, "citation": number} for kind, number in named]
    read = read_edits(said({"id": statement + 1, "edits": items}), [statement], CITED, 3)
    return read.values.get(statement, read.reasons.get(statement))


def test_edits() -> None:
    assert edits() == ()
    assert edits(("misleading", 1), ("evidence", 3)) == (Edit("misleading", 0), Edit("evidence", 2))
    assert edits(("evidence", 0)) == (Edit("evidence", None),)


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        (("misleading", 9), "expected a citation of 1 to 3, got misleading 9"),
        (("misleading", 0), "expected a citation of 1 to 3, got misleading 0"),
        (("misleading", 3), "misleading names [3], which is not cited"),
        (("evidence", 1), "evidence names [1], which is cited already"),
        (("improved", 1), "expected an edit with a kind of misleading"),
        (("misleading", "1"), "expected an edit with a kind of misleading"),
    ],
)
def test_an_edit_that_cannot_be_made(named: tuple[Any, Any], reason: str) -> None:
    assert edits(named).startswith(reason)


def test_a_citation_is_edited_once() -> None:
    assert edits(("misleading", 1), ("redundant", 1)).startswith("expected one edit a citation")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 7) | st.sampled_from(["misleading", "query", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "rating", "edits", "kind", "citation", "context"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(listed=st.one_of(st.lists(JSON, max_size=4), JSON), text=st.text(max_size=20), cut=st.booleans())
def test_whatever_is_said_each_statement_has_a_value_or_a_reason(listed: Any, text: str, cut: bool) -> None:
    body = json.dumps({"statements": listed})
    for reply in (Reply(body[: len(body) // 2] if cut else body), Reply(text or "x"), Reply(json.dumps(listed))):
        reads: list[Any] = [
            read_ratings(reply, [0, 1]), read_contexts(reply, [0, 1]), read_edits(reply, [0, 1], CITED, 3),
        ]  # fmt: skip
        for read in reads:
            assert set(read.values) | set(read.reasons) == {0, 1}
            assert not set(read.values) & set(read.reasons)
        assert all(1 <= value <= 5 for value in reads[0].values.values())
