"""Held: EditDist's shares by hand, its coefficients found again by least squares, nothing said of kinds never seen."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeverifier.rating.rating_from_edits import FEATURES, KEEP, EditDist, Penalties, fit_ratings, shares
from citeverifier.rating.responses import KINDS, Edit
from citeverifier.records import RecordError


@pytest.mark.parametrize(
    ("citations", "edits", "expected"),
    [
        (0, [], {KEEP: 1.0}),
        (2, [], {KEEP: 1.0}),
        (2, [Edit("misleading", 0)], {"misleading": 0.5, KEEP: 0.5}),
        (1, [Edit("misleading", 0), Edit("evidence", 1)], {"misleading": 0.5, "evidence": 0.5}),
        (0, [Edit("evidence", None)], {"evidence": 1.0}),
        (3, [Edit("redundant", 0), Edit("credibility", 5)], {"redundant": 0.25, "credibility": 0.25, KEEP: 0.5}),
    ],
)
def test_shares(citations: int, edits: list[Edit], expected: dict[str, float]) -> None:
    assert {name: share for name, share in shares(citations, edits).items() if share} == expected


def test_coefficients_are_found_again(tmp_path: Path) -> None:
    rng = random.Random(5)
    true = dict(zip(FEATURES, (1.0, 2.5, 3.5, 1.5, 3.0, 4.0, 4.5), strict=True))
    cases = []
    for _ in range(300):
        edits = [Edit(rng.choice(KINDS), i) for i in range(rng.randint(0, 4))]
        cases.append((sum(edit.deletes for edit in edits) + rng.randint(0, 2), edits))
    ratings = [sum(true[name] * share for name, share in shares(*case).items()) for case in cases]
    fitted = EditDist.fit(cases, ratings, "made")
    assert fitted.coefficients == pytest.approx(true)
    assert fitted.fitted_on["statements"] == 300
    assert fitted.fitted_on["r2"] == pytest.approx(1.0)
    assert fitted.rating(2, [Edit("misleading", 0)]) == (pytest.approx(2.75), None)
    fitted.save(tmp_path / "c.json")
    assert EditDist.load(tmp_path / "c.json") == fitted


def test_a_kind_never_seen_is_not_guessed_at() -> None:
    fitted = EditDist.fit([(1, []), (1, []), (1, [Edit("misleading", 0)])], [5.0, 4.0, 1.0], "made")
    assert fitted.rating(1, []) == (pytest.approx(4.5), None)
    assert fitted.coefficients["evidence"] is None
    value, reason = fitted.rating(0, [Edit("evidence", 0)])
    assert value is None
    assert "no coefficient for evidence" in str(reason)


def test_ratings_stay_on_the_scale() -> None:
    high = EditDist(dict.fromkeys(FEATURES, 9.0), {})
    low = EditDist(dict.fromkeys(FEATURES, -9.0), {})
    assert (high.rating(1, [])[0], low.rating(1, [])[0]) == (5.0, 1.0)


@pytest.mark.parametrize("kind", [EditDist, Penalties])
def test_too_little_to_fit(kind: Any) -> None:
    with pytest.raises(ValueError, match="expected more rated statements than kinds of edit that occur"):
        kind.fit([(1, [Edit("redundant", 0)])], [4.0], "made")


@pytest.mark.parametrize(
    ("kind", "expected"), [(EditDist, "edit_dist with coefficients"), (Penalties, "penalties with weights for misl")]
)
def test_other_files(kind: Any, expected: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"kind": "other"}')
    with pytest.raises(ValueError, match=rf"c\.json: expected {expected}"):
        kind.load(tmp_path / "c.json")


WEIGHTS = dict.fromkeys(KINDS, 0.5)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([], "expected a JSON object, got list"),
        ({"kind": "penalties", "weights": [["a"]], "source": ""}, "got kind 'penalties' with weights "),
        ({"kind": "penalties", "weights": WEIGHTS}, "key 'source': expected a value, got nothing"),
        ({"kind": "penalties", "weights": WEIGHTS, "source": "", "x": 1}, "key 'x': expected no such key"),
        *(
            ({"kind": "penalties", "weights": WEIGHTS | {"evidence": no}, "source": ""}, f"'weights.evidence': {what}")
            for no, what in (("a", "expected a number"), (None, "expected a number"), (math.nan, "expected a finite"))
        ),
    ],
)
def test_bad_files_are_named(row: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(row))
    with pytest.raises(RecordError, match=re.escape(message)) as caught:
        Penalties.load(tmp_path / "p.json")
    assert str(caught.value).startswith(str(tmp_path / "p.json"))
    for text in ("{half", json.dumps({"kind": "edit_dist", "coefficients": dict.fromkeys(FEATURES, "a")})):
        (tmp_path / "c.json").write_text(text)
        with pytest.raises(RecordError, match=r"c\.json: "):
            EditDist.load(tmp_path / "c.json")


@pytest.mark.parametrize(("whose", "keep", "redundant"), [("rater", 5.0, None), ("people", 5.0, 3.0)])
def test_edits_of_the_rater_or_of_people(whose: Any, keep: float, redundant: float | None, tmp_path: Path) -> None:
    delete, absent = ({"kind": "redundant", "citation": i} for i in (0, 7))
    bad = {"kind": "misleading", "citation": 0}
    no_document = {"kind": "misleading", "citation": 13}  # the printed number 14, of ten documents
    rows = [
        {"citations": [0, 1], "edits": [], "human": 5.0, "human_edits": [[], [absent]]},
        {"citations": [0], "edits": [bad], "human": 1.0, "human_edits": [[bad], [bad]]},
        {"citations": [0, 1], "edits": None, "human": 4.0, "human_edits": [[delete], [delete]]},
        {"citations": [0], "edits": [bad], "human": 1.0, "human_edits": []},
        {"citations": [0], "edits": [bad], "human": None, "human_edits": [[bad]]},
        {"citations": [], "dangling": [14], "edits": [no_document], "human": 1.0, "human_edits": [[no_document]]},
    ]
    (tmp_path / "ratings.jsonl").write_text(json.dumps({"statements": [{"dangling": [], **row} for row in rows]}))
    fitted = fit_ratings(tmp_path, "edit_dist", whose)
    assert isinstance(fitted, EditDist)
    assert (fitted.coefficients[KEEP], fitted.coefficients["misleading"]) == (pytest.approx(keep), pytest.approx(1.0))
    assert fitted.coefficients["redundant"] == (None if redundant is None else pytest.approx(redundant))
    assert str(fitted.fitted_on["source"]).endswith(f"{whose}'s edits")


# --- penalties -------------------------------------------------------------------------------------------------------

PRIOR = Penalties.load(None)
EDITS = st.lists(st.builds(Edit, st.sampled_from(KINDS), st.integers(0, 9)), max_size=12)


@given(edits=EDITS, further=st.builds(Edit, st.sampled_from(KINDS), st.integers(0, 9)))
def test_every_further_edit_lowers_the_rating(edits: list[Edit], further: Edit) -> None:
    before, after = PRIOR.rating(edits), PRIOR.rating([*edits, further])
    assert 1 < after < before <= 5


def test_by_hand() -> None:
    weights = dict.fromkeys(KINDS, 0.5)
    assert Penalties(weights, "").rating([]) == 5.0
    two = [Edit("misleading", 0), Edit("evidence", 1)]
    assert Penalties(weights, "").rating(two) == pytest.approx(1 + 4 * 0.36787944117144233)


def test_the_prior_says_what_it_is() -> None:
    assert "prior" in PRIOR.source
    assert "not fitted" in PRIOR.source


def test_weights_are_found_again(tmp_path: Path) -> None:
    rng = random.Random(3)
    true = Penalties({"misleading": 1.2, "substandard": 0.2, "redundant": 0.1, "evidence": 0.7, "refinement": 0.4,
                      "credibility": 0.05}, "")  # fmt: skip
    cases = [[Edit(rng.choice(KINDS), 0) for _ in range(rng.randint(0, 3))] for _ in range(200)]
    fitted = Penalties.fit([(0, edits) for edits in cases], [true.rating(edits) for edits in cases], "made")
    assert fitted.weights == pytest.approx(true.weights, abs=1e-3)
    assert "fitted on 200 rated statements of made" in fitted.source
    fitted.save(tmp_path / "w.json")
    assert Penalties.load(tmp_path / "w.json") == fitted


def test_kinds_that_nobody_rated_keep_the_prior() -> None:
    cases = [[Edit("misleading", 0)], [], [Edit("misleading", 0)]]
    fitted = Penalties.fit([(0, edits) for edits in cases], [2.0, 5.0, 2.0], "made")
    assert fitted.rating(cases[0]) == pytest.approx(2.0, abs=1e-3)
    assert fitted.weights["evidence"] == PRIOR.weights["evidence"]
    assert "prior kept for substandard, redundant, evidence" in fitted.source


def test_a_fit_that_would_reward_an_edit_stops_at_almost_nothing() -> None:
    fitted = Penalties.fit([(1, [Edit("redundant", 0)]), (1, []), (1, [])], [5.0, 4.0, 4.0], "made")
    assert 0 < fitted.weights["redundant"] <= 0.0101


def test_weights_must_lower_the_rating(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"kind": "penalties", "source": "", "weights": dict.fromkeys(KINDS, 0)}))
    with pytest.raises(ValueError, match="expected weights above 0"):
        Penalties.load(path)
