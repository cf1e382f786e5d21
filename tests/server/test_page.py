"""The page in headless Chromium: CITEVERIFIER_CHROMIUM names one, else the first on the PATH or playwright's own."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import citeverifier.server
from citeverifier.records import LANGUAGES
from citeverifier.server.contract import ErrorDetail

from .conftest import served

PAGE = Path(citeverifier.server.__file__).parent / "page"
STRINGS = json.loads((PAGE / "words.json").read_text(encoding="utf-8"))
_OTHERS = ("not_found", "method_not_allowed", "slow_body")  # a page never meets them, or says error_other
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
DOCUMENTS = (("Warsaw", "Warsaw lies on the Vistula."), ("Kraków", "Kraków was once the capital of Poland."))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("CITEVERIFIER_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    with playwright.sync_playwright() as run:
        if found is None and not Path(run.chromium.executable_path).is_file():
            pytest.skip("no Chromium: CITEVERIFIER_CHROMIUM names none, none is on the PATH, playwright installed none")
        chromium = run.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as (_, address):
        yield address


Open = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Open]:
    """Opens the page; afterwards nothing may have gone to the console, and no request to another place."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def start(at: str = address, locale: str = "en", **options: Any) -> Any:
        context = browser.new_context(locale=locale, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text) if "Failed to load" not in message.text else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(at) else wrong.append(request.url))
        page.goto(at)
        page.wait_for_selector("html[data-ready]")
        return page

    yield start
    for context in contexts:
        context.close()
    assert wrong == []


def fill(page: Any, answer: str, documents: Any = DOCUMENTS) -> None:
    page.fill("#answer", answer)
    for number, (title, text) in enumerate(documents):
        if page.locator("#documents li").count() <= number:
            page.click("#add")
        item = page.locator("#documents li").nth(number)
        item.locator("input").fill(title)
        item.locator("textarea").fill(text)


def verify(page: Any) -> None:
    page.click("[data-do=verify]")
    page.wait_for_selector("#output .text")


def test_each_statement_has_its_colour_and_sign_and_each_citation_its_evidence(open_page: Open) -> None:
    page = open_page()
    fill(
        page, "Warsaw lies on the Vistula [1]. Kraków was once a royal capital city [2]. Bees make honey. [1] Why [9]?"
    )
    verify(page)
    found = page.locator(".statement")
    assert [(s.get_attribute("class"), s.text_content()) for s in found.all()] == [
        ("statement full", "✓(fully supported) Warsaw lies on the Vistula [1]."),
        ("statement partial", "~(partly supported) Kraków was once a royal capital city [2]."),
        ("statement none", "✗(not supported) Bees make honey."),
        ("statement none", "✗(not supported) Why [9]?"),
    ]
    assert page.inner_text("#status") == "1 of 4 statements fully supported (25 %)"
    assert page.inner_text(".statement .unsupported") == "a royal capital city"
    page.hover("button.cite >> nth=0")
    assert page.inner_text("#evidence blockquote") == "Warsaw lies on the Vistula."
    page.mouse.move(0, 0)
    assert page.is_hidden("#evidence")
    page.focus("button.cite >> nth=2")
    assert STRINGS["en"]["no_evidence"] in page.inner_text("#evidence")
    page.keyboard.press("Tab")
    assert STRINGS["en"]["names_no_document"] in page.inner_text("#evidence")
    page.keyboard.press("Escape")
    assert page.is_hidden("#evidence")
    notes = page.inner_text(".notes")
    assert "[9] names no document." in notes
    assert "No cited document supports “a royal capital city”." in notes


def test_fix_shows_what_came_and_went_and_its_answer_can_be_taken(open_page: Open) -> None:
    page = open_page()
    fill(page, "Warsaw lies on the Vistula [2]. Kraków was once the capital of Poland [2][1].")
    page.click("[data-do=fix]")
    page.wait_for_selector("#output ins")
    assert [d.text_content() for d in page.locator("del").all()] == ["deleted: [2]", "deleted: [1]"]
    assert [i.text_content() for i in page.locator("ins").all()] == ["inserted: [1]"]
    page.click(f"text={STRINGS['en']['use']}")
    page.wait_for_selector("#output .statement")
    assert page.input_value("#answer") == "Warsaw lies on the Vistula [1]. Kraków was once the capital of Poland [2]."
    assert page.inner_text("#status").startswith("2 of 2")


def test_cite_adds_markers(open_page: Open) -> None:
    page = open_page()
    fill(page, "Warsaw lies on the Vistula.")
    page.click("[data-do=cite]")
    page.wait_for_selector("#output ins")
    assert page.text_content("#output ins") == "inserted: [1]"
    assert page.inner_text("#status") == "1 of 1 uncited statements now cite a document"


def test_text_is_never_code(open_page: Open) -> None:
    evil = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
    page = open_page()
    fill(page, f"Warsaw {evil} lies on the Vistula [1].", [(evil, f"Warsaw lies on the Vistula {evil}.")])
    verify(page)
    page.hover("button.cite >> nth=0")
    assert evil in page.inner_text("#output .text")
    assert evil in page.inner_text("#evidence h4")
    page.click("[data-do=fix]")
    page.wait_for_selector("#output .actions")
    assert page.locator("main img, main script").count() == 0
    assert page.evaluate("window.hacked") is None
    sources = [path.read_text(encoding="utf-8") for path in PAGE.glob("*.js")]
    assert not any(re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", s) for s in sources)


def test_places_are_characters_also_beyond_the_basic_plane(open_page: Open) -> None:
    page = open_page()
    fill(page, "😀😀 𝔘𝔘.\n\nWarsaw lies on the Vistula 🌊 [1].")
    verify(page)
    assert page.locator(".statement").last.text_content() == "✓(fully supported) Warsaw lies on the Vistula 🌊 [1]."


def test_the_language_can_be_switched_and_the_result_comes_along(open_page: Open) -> None:
    page = open_page()
    fill(page, "Warsaw lies on the Vistula [1].")
    verify(page)
    page.click("button[data-lang=pl]")
    page.wait_for_selector("html[lang=pl]")
    assert page.inner_text("#status") == "W pełni potwierdzone zdania: 1 z 1 (100%)"
    assert page.inner_text("[data-do=verify]") == "Sprawdź"
    assert "w pełni potwierdzone" in page.text_content(".statement")
    assert page.url.endswith("lang=pl")
    page.reload()
    page.wait_for_selector("html[data-ready=pl]")
    assert open_page(locale="pl-PL").get_attribute("html", "lang") == "pl"


def test_the_keyboard_is_enough(open_page: Open) -> None:
    page = open_page()
    page.focus("#answer")
    page.keyboard.type("Warsaw lies on the Vistula [1].")
    for text in (None, "", "Warsaw", None, "Warsaw lies on the Vistula."):  # sources, question, title, remove, text
        page.keyboard.press("Tab")
        if text:
            page.keyboard.type(text)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".statement.full")


def test_several_documents_are_pasted_at_once(open_page: Open) -> None:
    page = open_page()
    page.click("#paste summary")
    page.fill("#pasted", "No title here.\n# Warsaw\nIt lies\non the Vistula.\n\n#   Kraków \nOnce the capital.\n")
    page.click("#take")
    items = page.locator("#documents li")
    assert [(i.locator("input").input_value(), i.locator("textarea").input_value()) for i in items.all()] == [
        ("", "No title here."),
        ("Warsaw", "It lies\non the Vistula."),
        ("Kraków", "Once the capital."),
    ]
    items.nth(0).locator("button").click()
    assert [n.inner_text() for n in page.locator("#documents .number").all()] == ["[1]", "[2]"]


MARKDOWN = """Warsaw lies on the Vistula [2]. Kraków was once the capital[^1].

## Sources
1. [Kraków](https://example.org/k)
   > Kraków was once the capital of Poland.
2. Warsaw lies on the Vistula.
"""


def test_a_markdown_answer_brings_its_sources(open_page: Open) -> None:
    page = open_page()
    page.fill("#answer", MARKDOWN)
    page.click("#sources")
    assert page.input_value("#answer") == "Warsaw lies on the Vistula [2]. Kraków was once the capital[1]."
    items = page.locator("#documents li")
    assert [(i.locator("input").input_value(), i.locator("textarea").input_value()) for i in items.all()] == [
        ("Kraków", "Kraków was once the capital of Poland."),
        ("", "Warsaw lies on the Vistula."),
    ]
    verify(page)
    assert page.inner_text("#status").startswith("2 of 2")
    page.click("#sources")
    assert page.inner_text("#error") == STRINGS["en"]["error_sources"]


def test_a_link_holds_the_form_and_nothing_of_it_reaches_the_server(open_page: Open) -> None:
    page = open_page()
    fill(page, "Warsaw lies on the Vistula [1]. 🌊 <b>")
    page.click("#share")
    page.wait_for_function("location.hash.startsWith('#s=')")
    asked: list[str] = []
    other = open_page()
    other.on("request", lambda request: asked.append(request.url))
    other.goto("about:blank")
    other.goto(page.url)
    other.wait_for_selector("#output .statement")
    assert other.input_value("#answer") == "Warsaw lies on the Vistula [1]. 🌊 <b>"
    assert other.locator("#documents textarea").first.input_value() == "Warsaw lies on the Vistula."
    assert not any("s=" in url for url in asked)
    other.goto("about:blank")
    other.goto(page.url.split("#")[0] + "#s=broken")
    other.wait_for_selector("html[data-ready]")
    assert other.input_value("#answer") == ""


def test_a_file_of_answers_becomes_a_table_and_files(open_page: Open, tmp_path: Path) -> None:
    good = {"answer": "Warsaw lies on the Vistula [1]. =Bees, hum.", "documents": ["Warsaw lies on the Vistula."]}
    evil = {"id": "<img src=x onerror=window.hacked=1>", "answer": "Bees [2].", "documents": [{"text": "Bees."}]}
    lines = [json.dumps(good), "{", json.dumps(evil), *[json.dumps(good)] * 5]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    page = open_page()
    page.click("#batch summary")
    page.set_input_files("#file", tmp_path / "a.jsonl")
    page.wait_for_selector("#output table")
    assert page.is_hidden("#progress")
    assert page.inner_text("#output caption") == "6 of 13 statements fully supported (46 %)"
    rows = page.locator("tbody tr")
    assert rows.count() == 8
    assert rows.nth(1).inner_text().startswith("2\tRecord 2 was not checked: ")
    assert "<img src=x" in rows.nth(2).inner_text()
    assert page.evaluate("window.hacked") is None
    saved = []
    for name in ("results.csv", "results.jsonl"):
        with page.expect_download() as download:
            page.click(f"a[download='{name}']")
        saved.append(Path(download.value.path()).read_text(encoding="utf-8").splitlines())
    assert saved[0][2] == '1,"\'=Bees, hum.",none,,,it cites nothing'
    assert [json.loads(line)["id"] for line in saved[1][:2]] == ["1", "2"]
    page.focus("tbody tr >> nth=2 >> button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#output .statement")
    page.click(f"text={STRINGS['en']['batch_back']}")
    page.wait_for_selector("#output table")


def test_what_is_missing_is_said_and_focused(open_page: Open) -> None:
    page = open_page()
    page.click("[data-do=verify]")
    assert page.inner_text("#error") == STRINGS["en"]["error_empty"]
    assert page.evaluate("document.activeElement.id") == "answer"
    page.fill("#answer", "Something [1].")
    page.click("[data-do=fix]")
    assert page.inner_text("#error") == STRINGS["en"]["error_documents"]


def test_errors_of_the_server_are_said_in_words(open_page: Open) -> None:
    with served("--max-characters", "60", CITEVERIFIER_TOKEN="secret") as (process, address):
        page = open_page(address, locale="pl")
        fill(page, "Warsaw lies on the Vistula [1].")
        page.click("[data-do=verify]")
        page.wait_for_selector("#error:not(:empty)")
        assert page.inner_text("#error").startswith(STRINGS["pl"]["error_unauthorized"])
        assert page.evaluate("document.activeElement.id") == "token"
        page.keyboard.type("secret")
        verify(page)
        assert page.inner_text("#error") == ""
        page.fill("#answer", "a" * 61)
        page.click("[data-do=verify]")
        page.wait_for_selector("#error:not(:empty)")
        assert "items[0].answer: expected at most 60 characters, got 61" in page.inner_text("#error")
        process.kill()
        process.wait()
        page.click("[data-do=verify]")
        page.wait_for_function(
            "t => document.getElementById('error').textContent === t", arg=STRINGS["pl"]["error_network"]
        )


@pytest.mark.parametrize("lang", ["en", "pl"])
def test_a_phone_scrolls_only_down(open_page: Open, lang: str) -> None:
    page = open_page(locale=lang, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    page.click(f"[data-example={lang}]")
    page.wait_for_selector("#output .statement")
    page.locator("button.cite").first.tap()
    page.wait_for_selector("#evidence:visible")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    box = page.locator("#evidence").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


def test_both_languages_say_the_same_things() -> None:
    english, polish = STRINGS["en"], STRINGS["pl"]
    assert list(english) == list(polish)
    assert list(STRINGS) == list(LANGUAGES)
    for key in english.keys() - {"name", "example"}:
        text = english[key]
        places = re.compile(r"\{\w+\}")
        assert sorted(places.findall(text)) == sorted(places.findall(polish[key])), key


def test_every_string_that_the_page_uses_is_there() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (*PAGE.glob("*.js"), PAGE / "index.html"))
    used = set(re.findall(r"say\(\"(\w+)\"|data-(?:text|label)=\"(\w+)\"", code))
    keys = {a or b for a, b in used}
    assert len(keys) > 30
    assert keys <= set(STRINGS["en"])
    codes = get_args(ErrorDetail.model_fields["code"].annotation)
    assert {f"error_{code}" for code in codes if code not in _OTHERS} <= set(STRINGS["en"])
