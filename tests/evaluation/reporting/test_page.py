"""Held: one self-contained page of well-formed marks: tables that a keyboard sorts, pictures, nothing fetched."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from citeverifier.cost import Cost
from citeverifier.data.mini import load_mini
from citeverifier.evaluation.reporting.boards import boards_of
from citeverifier.evaluation.reporting.page import PICTURED, page
from citeverifier.evaluation.reporting.runs import read_runs
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.evaluation.schemes.trials import Trial
from citeverifier.records import Example

Leave = Callable[..., Path]
VOID = {"meta", "input", "br", "link", "img"}


def good(trial: Trial) -> float:
    return 0.9 if trial.gold else 0.1


class Balance(HTMLParser):
    """Fails where tags do not nest; keeps what was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("li", "p", "option", "dd", "dt") and self.open[-1] != tag:
            return
        assert self.open.pop() == tag


def parsed(html: str) -> Balance:
    balance = Balance()
    balance.feed(html)
    assert balance.open == []
    return balance


@pytest.fixture
def html(leave: Leave, tmp_path: Path) -> str:
    for lang in ("en", "pl"):
        records = load_mini("test", lang)
        leave(
            tmp_path / f"a-{lang}", Separate(), records, good, label="good", lang=lang, cost=Cost(2.0, 9, 9, tokens=100)
        )
        leave(tmp_path / f"b-{lang}", Separate(), records, lambda trial: 0.6, label="<b>sure</b>", lang=lang)
    leave(tmp_path / "c", Merged(), load_mini("test", "en"), good, label="good")
    return page(boards_of(read_runs([tmp_path])[0]), [], [])


def test_it_nests_and_fetches_nothing(html: str) -> None:
    seen = parsed(html).seen
    assert not {tag for tag, _ in seen} & {"link", "img", "iframe"}
    assert all("src" not in attributes and "href" not in attributes for _, attributes in seen)
    assert not re.search(r"https?://|@import|url\(", html)


def test_names_are_escaped(html: str) -> None:
    assert "&lt;b&gt;sure&lt;/b&gt;" in html
    assert "<b>sure</b>" not in html


def test_every_column_is_sortable_by_keyboard(html: str) -> None:
    heads = re.findall(r"<th[^>]*scope=\"col\"[^>]*>(.*?)</th>", html, flags=re.DOTALL)
    assert len(heads) > 30
    assert all('<button type="button">' in head for head in heads)
    assert html.count('aria-sort="none"') == len(heads)


def test_a_board_a_scheme_and_language_with_its_pictures(html: str) -> None:
    boards = re.findall(r'<section class="board" data-scheme="(\w+)" data-lang="(\w+)"', html)
    assert boards == [("merged", "en"), ("separate", "en"), ("separate", "pl")]
    titles = re.findall(r"<h3>(.*?)</h3>", html.split("<section")[2])
    assert titles == [
        "Accuracy on true and on false", "F1 against seconds", "F1 against tokens", "Agreement between verifiers",
        "Accuracy by setting", "Errors by kind of edit",
    ]  # fmt: skip


def test_pictures_are_whole_svg_with_words(html: str) -> None:
    pictures = re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)
    assert len(pictures) > 20
    for picture in pictures:
        ElementTree.fromstring(picture)
    assert 'aria-label="good, measured: 1.000 on true, 1.000 on false"' in html
    assert "reported: 0.803 on true, 0.861 on false" in html


def test_rows_say_whose_figures_they_are(html: str) -> None:
    assert html.count('<tr class="reported">') == 2
    assert html.count('<tr class="measured">') == 5


def test_pictures_of_many_runs_show_the_best_and_say_so(leave: Leave, worked_example: Example, tmp_path: Path) -> None:
    for i in range(PICTURED + 3):
        leave(tmp_path / f"{i}", Merged(), [worked_example], good, label=f"verifier {i}")
    html = page(boards_of(read_runs([tmp_path])[0]), [], [])
    parsed(html)
    assert html.count('<tr class="measured">') == PICTURED + 3
    assert f"The {PICTURED} runs of best F1, of {PICTURED + 3}." in html


def test_warnings_and_problems_stand_on_top(leave: Leave, worked_example: Example, tmp_path: Path) -> None:
    leave(tmp_path / "a", Merged(), [worked_example], good, label="a")
    html = page(boards_of(read_runs([tmp_path])[0]), ["WARNING: many"], ["one thing"])
    assert html.index("WARNING: many") < html.index("one thing") < html.index("<main>")


def test_a_run_without_a_scored_trial_has_its_row(leave: Leave, worked_example: Example, tmp_path: Path) -> None:
    leave(tmp_path / "a", Merged(), [worked_example], lambda trial: float("nan"), label="silent")
    html = page(boards_of(read_runs([tmp_path])[0]), [], [])
    parsed(html)
    assert "100.0%" in html


def test_cascades_show_what_they_pass_on(leave: Leave, worked_example: Example, tmp_path: Path) -> None:
    leave(tmp_path / "a", Merged(), [worked_example], good, label="plain")
    assert "passed on" not in page(boards_of(read_runs([tmp_path])[0]), [], [])
    leave(
        tmp_path / "b", Merged(), [worked_example], good, label="both", cost=Cost(1.0, 10, 10, notes={"passed_on": 4})
    )
    html = page(boards_of(read_runs([tmp_path])[0]), [], [])
    parsed(html)
    assert "Cascades: F1 against share passed on" in html
    assert "40.0% of the pairs passed on" in html
