"""Held: every shape of marker is found, read and taken out, and each place leads back."""

from __future__ import annotations

import re

import pytest
from answer_texts import answers
from hypothesis import example, given

from citeverifier.text.language import words_of_all
from citeverifier.text.markers import find_markers, may_begin_marker, remove_markers, unread_marker

SHAPES = [
    ("It is so [1].", "It is so.", [(0,)]),
    ("It is so [1,2].", "It is so.", [(0, 1)]),
    ("It is so [1][2].", "It is so.", [(0,), (1,)]),
    ("It is so [1] [2].", "It is so.", [(0,), (1,)]),
    ("It is so [1, 2-4].", "It is so.", [(0, 1, 2, 3)]),
    ("It is so [2–4; 9].", "It is so.", [(1, 2, 3, 8)]),
    ("It is so [4-2].", "It is so.", [(1, 2, 3)]),
    ("It is so【1】.", "It is so.", [(0,)]),
    ("It is so [1†source].", "It is so.", [(0,)]),
    ("It is so【4:0†source】.", "It is so.", [(3,)]),
    ("It is so 【1†L3-L5】.", "It is so.", [(0,)]),
    ("It is so [Doc 3].", "It is so.", [(2,)]),
    ("It is so [document 3, document 4].", "It is so.", [(2, 3)]),
    ("It is so. [1]", "It is so.", [(0,)]),
    ("It is so.[1] Then", "It is so. Then", [(0,)]),
    ("It is so.[1]Then", "It is so. Then", [(0,)]),
    ("It is so [1] and so", "It is so and so", [(0,)]),
    ("It is so [1]and so", "It is so and so", [(0,)]),
    ("[1] It is so.", "It is so.", [(0,)]),
    ('He said [1]"so".', 'He said "so".', [(0,)]),
    ("It is so [3, 3, 1-3].", "It is so.", [(2, 0, 1)]),
    ("It is so [1], [2].", "It is so.", [(0,), (1,)]),
    ("It is so [1],[2] and [3].", "It is so.", [(0,), (1,), (2,)]),
    ("Tak jest [1] i [3]; [4], bo tak.", "Tak jest, bo tak.", [(0,), (2,), (3,)]),
    ("It is so [2]-[4].", "It is so.", [(1,), (2, 3)]),
    ("It is so [1 and 2].", "It is so.", [(0, 1)]),
    ("Tak jest [1, 2 oraz 3].", "Tak jest.", [(0, 1, 2)]),
    ("It is so ([2]).", "It is so.", [(1,)]),
    ("It is so (see [2]).", "It is so.", [(1,)]),
    ("Tak jest (zob. [2] i [3]).", "Tak jest.", [(1,), (2,)]),
    ("It is so **[2]**.", "It is so.", [(1,)]),
    ("It is so [[2]].", "It is so.", [(1,)]),
    ("It is so<sup>[2]</sup>.", "It is so.", [(1,)]),
    ("It is settled<sup>2, 3</sup>.", "It is settled.", [(1, 2)]),
    ("It is so.<sup>2</sup>", "It is so.", [(1,)]),
    ("It is settled <sup>2</sup>.", "It is settled.", [(1,)]),
    ("It is settled<sup>1</sup><sup>2</sup>.", "It is settled.", [(0,), (1,)]),
    ("It is so [2](https://a.b/c_(d)).", "It is so.", [(1,)]),
    ("It is so [[2]](https://a.b).", "It is so.", [(1,)]),
    ("It is so [^2].", "It is so.", [(1,)]),
    ("It is so [^2^][^3^].", "It is so.", [(1,), (2,)]),
    ("It is so [Source: 2].", "It is so.", [(1,)]),
    ("It is so [citation:2][citation:3].", "It is so.", [(1,), (2,)]),
    ("It is so [doc_2].", "It is so.", [(1,)]),
    ("It is so (Source 2).", "It is so.", [(1,)]),
    ("Tak jest [Źródła 2, 3].", "Tak jest.", [(1, 2)]),
    ("It is so ［2］.", "It is so.", [(1,)]),
    (r"It is so \[2\].", "It is so.", [(1,)]),
    ("It is so [2‑4; 6−7].", "It is so.", [(1, 2, 3, 5, 6)]),
    ("It is so [4, p. 12].", "It is so.", [(3,)]),
    ("It is so [Doc 4, pp. 12-14; 2 § 3].", "It is so.", [(3, 1)]),
    ("It is so [Doc 4, section 3.2].", "It is so.", [(3,)]),
    ("It is so (source: Doc 4, p. 12).", "It is so.", [(3,)]),
    ("Tak jest [Dok. 3, art. 5 ust. 2a] i tak (Dokument 1, s. 4).", "Tak jest i tak.", [(2,), (0,)]),
]
NO_MARKERS = (
    "The year [1999] was.¦An [sic] aside.¦Empty [] here.¦x[i] = 1¦(1) first¦[1.5]¦[1】¦[a1]¦[p. 12]¦[2 sections 3¦"
    "10 m<sup>2</sup> of 10<sup>6</sup>¦(Article 2)¦in (2) and (3)¦(see 2)"
)


@pytest.mark.parametrize(("text", "plain", "positions"), SHAPES, ids=[shape[0] for shape in SHAPES])
def test_every_shape(text: str, plain: str, positions: list[tuple[int, ...]]) -> None:
    assert remove_markers(text, 10).text == plain
    markers = find_markers(text, 10)
    assert [(marker.positions, marker.out_of_range) for marker in markers] == [(each, ()) for each in positions]


@pytest.mark.parametrize("text", NO_MARKERS.split("¦"))
def test_what_is_no_marker_stays(text: str) -> None:
    unmarked = remove_markers(text, 10)
    assert (unmarked.text, unmarked.runs) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "[1" + "†a,1" * 20000,
        "[1, " * 20000,
        "[1][" * 20000,
        "[1, p. 2" * 20000,
        "[1 p" * 20000,
        "[1" + " " * 20000,
        "(see [1], " * 20000,
        "[1" + ", p. 2" * 20000,
        "[" + "ci" * 20000,
        "[" + "1a " * 20000,
    ],
)
def test_long_nonsense_is_read_in_no_time(text: str) -> None:
    assert not may_begin_marker(f"{text}!]")
    assert all(run.positions == (0,) for run in remove_markers(text, 10).runs)


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("The Vistula is long (1).", "(1)"),
        ("The Vistula is long. (2)", "(2)"),
        ("The Vistula is long.¹", "¹"),
        ("The Vistula is long¹², it is said.", "¹²"),
        ("The Vistula is long.^3^", "^3^"),
        ("The Vistula is long (13).", None),  # of twelve documents
        ("It (1) rises and (2) flows.", None),
        ("It has 5 m² and 10² km³.", None),
        ("It was founded (1905).", None),
        ("(1) It rises in the Beskids.", None),
    ],
)
def test_what_looks_like_a_marker_and_is_not_read_is_named(text: str, unread: str | None) -> None:
    assert unread_marker(text, 12) == unread


def test_numbers_out_of_range_are_reported() -> None:
    markers = find_markers("a [0, 3, 11] b [9-12] c [77]", 10)
    assert [marker.positions for marker in markers] == [(2,), (8, 9), ()]
    assert [marker.out_of_range for marker in markers] == [(0, 11), (12,), (77,)]


@given(answers())
@example("[1] [2]")
@example("a.[1]B[2]")
@example("a [1] [2]b [3]")
def test_nothing_but_markers_and_what_is_around_them_goes_and_every_place_leads_back(text: str) -> None:
    unmarked = remove_markers(text, 10)
    taken = set(range(len(text))) - set(unmarked.origins)
    for place, sign in enumerate(unmarked.text):
        start, end = unmarked.span(place, place + 1)
        if text[start:end] == sign:
            assert unmarked.place(start) == place
        else:  # a space stands in the place of markers
            assert sign == " "
            assert start in {run.start for run in unmarked.runs}
            taken.add(start)
    assert len(unmarked.origins) == len(unmarked.text) + 1
    assert unmarked.place(len(text)) == len(unmarked.text)
    markers = find_markers(text, 10)
    marked = {place for marker in markers for place in range(marker.start, marker.end)}
    assert marked <= taken
    around = {place for run in unmarked.runs for place in range(run.start, run.end)}
    assert marked <= around
    assert {text[place] for place in taken - around} <= set(" \t\u00a0\n")
    between = re.sub(
        r"[\W_]", " ", "".join(text[place] if place in around - marked else " " for place in range(len(text)))
    )
    known = {"sup", "http", "x", "org"} | words_of_all("reference_words") | words_of_all("marker_joins")
    assert {word.lower() for word in between.split()} <= known
    owned = [marker for run in unmarked.runs for marker in run.markers]
    assert [(marker.positions, marker.out_of_range) for marker in owned] == [
        (m.positions, m.out_of_range) for m in markers
    ]
    for own, marker in zip(owned, markers, strict=True):  # one in signs of its own has them in its span
        assert own.start <= marker.start < marker.end <= own.end
    assert all(set(marker.positions) <= set(range(10)) for marker in markers)
