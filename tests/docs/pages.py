"""The pages, and what stands in them: code blocks, commands, links."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "citeverifier" / "data").glob("*/README.md")),
    *sorted((ROOT / "models").glob("*/README.md")),
]


class Block(NamedTuple):
    """A fenced block: its language ("" without one), its text and the line it begins at."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [Block(m.group(1), m.group(2), text.count("\n", 0, m.start()) + 1) for m in found]


def commands(page: Path) -> Iterator[list[str]]:
    """The words of each shell command of a page: in bash blocks, after "$ " in others, in indented lines, in tables."""
    lines: list[str] = []
    for block in blocks(page):
        joined = block.text.replace("\\\n", " ")
        if block.language == "bash":
            lines += joined.splitlines()
        elif not block.language:
            lines += [line.removeprefix("$ ") for line in joined.splitlines() if line.startswith("$ ")]
    outside = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    indented = [line.strip() for line in outside.replace("\\\n", " ").splitlines() if line.startswith("    ")]
    lines += [line for line in indented if line.startswith(("python ", "citeverifier", "make ", "pip "))]
    rows = "\n".join(line for line in outside.splitlines() if line.startswith("|"))
    lines += re.findall(r"`((?:python |citeverifier)[^`]*[=.][^`]*)`", rows)
    for line in lines:
        if "$(" in line:  # a command within a command
            continue
        words = shlex.split(line, comments=True) if line.count("'") % 2 == 0 and line.count('"') % 2 == 0 else []
        while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):  # environment variables
            del words[0]
        for end in ("|", ">", "&&", "&", ";", "..."):
            words = words[: words.index(end)] if end in words else words
        if words:
            yield words


def shown_output(page: Path, program: str) -> list[tuple[list[str], str]]:
    """The words of each command of `program` that stands right before its output or on its first line; the output."""
    text = page.read_text(encoding="utf-8")
    indented = re.findall(rf"^ {{4}}({program} [^\n]*)\n\n```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    inside = re.findall(rf"^```\n\$ ({program} [^\n]*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [(shlex.split(command), output) for command, output in indented + inside]


def assert_shown(shown: str, printed: str, where: str) -> None:
    """What a page shows is what is printed now, but for the last digits of scores: they depend on the processor."""
    number = r"\d*\.\d+"
    masked, got = (re.sub(number, "0.0", text).split() for text in (shown, printed))  # lines break by the terminal
    assert got == masked, f"{where}: the output"
    numbers, now = ([float(found) for found in re.findall(number, text)] for text in (shown, printed))
    assert now == pytest.approx(numbers, abs=0.02), f"{where}: the numbers"


def links(page: Path) -> list[str]:
    """The targets of a page's links and pictures that lead to other files of the project."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as links give them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings]
    return set(plain)
