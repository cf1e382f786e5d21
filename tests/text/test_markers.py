"""Held: every shape of marker is found, read and taken out; each place leads back; sentences keep their markers."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citeverifier.text.markers import Unmarked, cited_sentences, find_markers, remove_markers, sentence_spans

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
]
NO_MARKERS = [
    "The year [1999] was.",
    "An [sic] aside.",
    "Empty [] here.",
    "x[i] = 1",
    "(1) first",
    "[1.5]",
    "[1】",
    "[a1]",
]


@pytest.mark.parametrize(("text", "plain", "positions"), SHAPES, ids=[shape[0] for shape in SHAPES])
def test_every_shape(text: str, plain: str, positions: list[tuple[int, ...]]) -> None:
    unmarked = remove_markers(text, 10)
    assert unmarked.text == plain
    assert [marker.positions for marker in unmarked.markers] == positions
    assert all(marker.out_of_range == () for marker in unmarked.markers)


@pytest.mark.parametrize("text", NO_MARKERS)
def test_what_is_no_marker_stays(text: str) -> None:
    assert remove_markers(text, 10) == Unmarked(text, (), ())


@pytest.mark.parametrize("text", ["[1" + "†a,1" * 20000, "[1, " * 20000, "[1][" * 20000, "[1" + " " * 20000])
def test_long_nonsense_is_read_in_no_time(text: str) -> None:
    assert all(marker.positions == (0,) for marker in remove_markers(text, 10).markers)


def test_numbers_out_of_range_are_reported() -> None:
    markers = find_markers("a [0, 3, 11] b [9-12] c [77]", 10)
    assert [marker.positions for marker in markers] == [(2,), (8, 9), ()]
    assert [marker.out_of_range for marker in markers] == [(0, 11), (12,), (77,)]


def restore(unmarked: Unmarked, original: str) -> str:
    """The original, put together again from the text and its cuts."""
    out, place = [], 0
    for cut in unmarked.cuts:
        out += [unmarked.text[place : cut.at], original[cut.start : cut.end]]
        place = cut.at + len(cut.filler)
    return "".join([*out, unmarked.text[place:]])


PROSE = st.sampled_from(
    ["Dr. Smith met prof. Nowak", "m.in. w 1364 r.", "It rained", "the U.S. Senate", "Zażółć gęślą jaźń", "cost 1,5 zł"]
)
ENDS = st.sampled_from([".", ". ", " ", "\n", "", ", ", '"'])
MARKS = st.lists(st.integers(0, 14).map(str) | st.sampled_from(["2-4", "1†source"]), min_size=1, max_size=3).map(
    lambda items: f"[{', '.join(items)}]"
)
TEXTS = st.lists(st.one_of(PROSE, ENDS, MARKS, st.just("【3】")), max_size=14).map("".join) | st.text(
    "[]【】0123456789,;-–† .\nab", max_size=40
)


@given(TEXTS)
@example("[1] [2]")
@example("a.[1]B[2]")
@example("a [1] [2]b [3]")
def test_round_trip(text: str) -> None:
    unmarked = remove_markers(text, 10)
    assert restore(unmarked, text) == text
    inside = set()
    for cut in unmarked.cuts:
        inside.update(range(cut.start, cut.end))
    for marker in unmarked.markers:
        assert set(range(marker.start, marker.end)) <= inside
        assert set(marker.positions) <= set(range(10))
    fillers = {cut.at for cut in unmarked.cuts if cut.filler}
    for place, sign in enumerate(unmarked.text):
        original = unmarked.original(place)
        if place not in fillers:
            assert text[original] == sign
            assert unmarked.place(original) == place
    assert unmarked.original(len(unmarked.text)) <= len(text)


@given(TEXTS, st.sampled_from(["en", "pl"]))
def test_no_marker_and_no_word_is_lost_among_sentences(text: str, lang: str) -> None:
    unmarked = remove_markers(text, 10)
    found = cited_sentences(unmarked, lang, (0, len(text)))
    assert "".join("".join(s.text.split()) for s in found) == "".join(unmarked.text.split())
    assert all(unmarked.text[s.start : s.end] == s.text for s in found)
    if found:
        owned = [marker for sentence in found for marker in sentence.markers]
        assert sorted(owned, key=lambda m: m.start) == list(unmarked.markers)


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("en", "Dr. Smith [1] met him. He left.[2] It rained. [3, 4]",
         [("Dr. Smith met him.", (0,)), ("He left.", (1,)), ("It rained.", (2, 3))]),
        ("en", "In the U.S. [2] it rained. Nobody knew.", [("In the U.S. it rained.", (1,)), ("Nobody knew.", ())]),
        ("pl", "Zbudował ją m.in. [2] Kazimierz Wielki w 1364 r. w Krakowie. [1] Stoi do dziś【3】.",
         [("Zbudował ją m.in. Kazimierz Wielki w 1364 r. w Krakowie.", (1, 0)), ("Stoi do dziś.", (2,))]),
        ("pl", "Według prof. Nowaka [1] tak było.\n[2] Potem nie.",
         [("Według prof. Nowaka tak było.", (0,)), ("Potem nie.", (1,))]),
        ("en", "First it was so.[1]Then it was not.[2]", [("First it was so.", (0,)), ("Then it was not.", (1,))]),
    ],
)  # fmt: skip
def test_sentences_with_their_citations(lang: str, text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    found = cited_sentences(remove_markers(text, 10), lang, (0, len(text)))
    assert [(sentence.text, sentence.positions) for sentence in found] == expected


def test_a_sentence_reports_what_it_cites_in_vain() -> None:
    [sentence] = cited_sentences(remove_markers("It is so [2][14, 2].", 10), "en", (0, 20))
    assert (sentence.positions, sentence.out_of_range) == ((1,), (14,))


def test_parts_of_another_text_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"expected sentences of the text in order, got .That\.. near"):
        sentence_spans("This.", ["That."])
