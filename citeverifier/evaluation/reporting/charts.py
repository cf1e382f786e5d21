"""Small pictures as inline SVG. Colours are CSS variables of the page, so that one picture serves light and dark.

Every mark says in words what it shows (`tip`): the page shows it on hover, tap and keyboard focus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 330, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 12, 40
COLOURS = 8


@dataclass(frozen=True)
class Point:
    """A mark of a scatter plot; `series` chooses colour and shape, -1 is a paper's row (hollow)."""

    x: float
    y: float
    series: int
    label: str
    tip: str
    x_interval: tuple[float, float] | None = None
    y_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Bar:
    """A bar from 0 to `value` in [0, 1], with its interval; `number` is the run's in the legend."""

    value: float
    series: int
    number: int
    tip: str
    interval: tuple[float, float] | None = None


def shape(x: float, y: float, series: int, size: float = 5.0) -> str:
    """The mark of a series: a circle, square, triangle or diamond in its colour; hollow for a paper's row."""
    if series < 0:
        d = f"M{x:.1f} {y - 6:.1f}L{x + 6:.1f} {y:.1f}L{x:.1f} {y + 6:.1f}L{x - 6:.1f} {y:.1f}Z"
        return f'<path class="reported" d="{d}"/>'
    css = f'class="c{series % COLOURS}"'
    form = (series + series // COLOURS) % 4
    s = size
    if form == 0:
        return f'<circle {css} cx="{x:.1f}" cy="{y:.1f}" r="{s}"/>'
    if form == 1:
        return f'<rect {css} x="{x - s + 0.5:.1f}" y="{y - s + 0.5:.1f}" width="{2 * s - 1}" height="{2 * s - 1}"/>'
    ends = ((0, -s - 1), (s + 1, s), (-s - 1, s)) if form == 2 else ((0, -s - 1), (s + 1, 0), (0, s + 1), (-s - 1, 0))
    return f'<path {css} d="M{"L".join(f"{x + a:.1f} {y + b:.1f}" for a, b in ends)}Z"/>'


def scatter(points: Sequence[Point], x_title: str, y_title: str, *, log: bool = False, chance: bool = False) -> str:
    """A scatter plot, y in [0, 1]; x in [0, 1], or with `log` on a logarithmic axis around the points.

    `chance` draws where x + y = 1: what guessing gives for accuracy on true and on false.
    """
    if log:
        low = math.floor(math.log10(min(p.x for p in points)) - 0.1)
        high = max(low + 1, math.ceil(math.log10(max(p.x for p in points)) + 0.1))
        ticks = [(10.0**e, _power(e)) for e in range(low, high + 1, max(1, (high - low) // 5))]
    else:
        low, high = 0, 1
        ticks = [(t / 5, f"{t / 5:.1f}") for t in range(6)]

    def at_x(value: float) -> float:
        share = (math.log10(value) - low) / (high - low) if log else value
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT)

    def at_y(value: float) -> float:
        return HEIGHT - _BOTTOM - value * (HEIGHT - _TOP - _BOTTOM)

    bottom, right = at_y(0), WIDTH - _RIGHT
    out = [_open(WIDTH, HEIGHT, f"{y_title} against {x_title}")]
    for value, text in ticks:
        out.append(_line(at_x(value), at_y(1), at_x(value), bottom, "grid"))
        out.append(_text(at_x(value), bottom + 15, text, "middle"))
    for t in range(6):
        out.append(_line(_LEFT, at_y(t / 5), right, at_y(t / 5), "grid"))
        out.append(_text(_LEFT - 6, at_y(t / 5) + 3.5, f"{t / 5:.1f}", "end"))
    if chance:
        out.append(_line(at_x(0), at_y(1), at_x(1), at_y(0), "chance"))
    out.append(_text((_LEFT + right) / 2, HEIGHT - 6, x_title, "middle", "axis"))
    middle = (at_y(1) + bottom) / 2
    turned = f'transform="rotate(-90 12 {middle:.0f})"'
    out.append(f'<text class="axis" x="12" y="{middle:.0f}" text-anchor="middle" {turned}>{escape(y_title)}</text>')
    for p in points:
        x, y = at_x(p.x), at_y(p.y)
        whiskers = ""
        css = "whisker" if p.series < 0 else f"whisker s{p.series % COLOURS}"
        if p.x_interval and not log:
            whiskers += _line(at_x(p.x_interval[0]), y, at_x(p.x_interval[1]), y, css)
        if p.y_interval:
            whiskers += _line(x, at_y(p.y_interval[0]), x, at_y(p.y_interval[1]), css)
        out.append(_mark(whiskers + shape(x, y, p.series), p.tip))
    taken: list[tuple[float, float, float]] = []
    for p in sorted(points, key=lambda p: -p.y):
        left, long = at_x(p.x) > WIDTH * 0.6, 6.0 * len(p.label)
        x, y = at_x(p.x) + (-9 if left else 9), max(at_y(p.y) - 5, _TOP + 10)
        begin = x - long if left else x
        while any(begin < b and a < begin + long and abs(y - c) < 11 for a, b, c in taken):
            y += 2
        taken.append((begin, begin + long, y))
        out.append(_text(x, y, p.label, "end" if left else "start", "label"))
    return "".join(out) + "</svg>"


def bars(rows: Sequence[Bar], title: str) -> str:
    """Horizontal bars from 0 to 1 with intervals, one a row, numbered."""
    height, left = 18 * len(rows) + 42, 20
    bottom, width = height - 18, 250

    def at(value: float) -> float:
        return left + value * (width - left - 8)

    out = [_open(width, height, title), _text(left, 13, title, "start", "title")]
    for t in (0, 0.25, 0.5, 0.75, 1):
        out.append(_line(at(t), 20, at(t), bottom, "grid"))
        out.append(_text(at(t), height - 5, f"{t:g}", "middle"))
    for i, bar in enumerate(rows):
        y = 24 + 18 * i
        size = f'width="{max(1.0, at(bar.value) - left):.1f}" height="11"'
        mark = f'<rect class="c{bar.series % COLOURS}" x="{left}" y="{y}" {size}/>'
        if bar.interval:
            mark += _line(at(bar.interval[0]), y + 5.5, at(bar.interval[1]), y + 5.5, "error")
        out += [_text(left - 5, y + 9.5, str(bar.number), "end"), _mark(mark, bar.tip)]
    return "".join(out) + "</svg>"


def matrix(names: Sequence[tuple[int, str]], cells: Sequence[Sequence[tuple[float | None, str]]]) -> str:
    """A square of values in [-1, 1], darker where larger, each with its tip; numbered as in the legend."""
    side, n = 38, len(names)
    left = 16 + min(190, 6.2 * max(len(name) + 4 for _, name in names))
    out = [_open(left + side * n + 4, side * n + 24, "Agreement between verifiers")]
    for i, (number, name) in enumerate(names):
        shown = name if len(name) <= 30 else name[:29] + "…"
        out.append(_text(left - 8, 20 + side * i + side / 2 + 4, f"{shown}  {number}", "end", "label"))
        out.append(_text(left + side * i + side / 2, 13, str(number), "middle", "label"))
        for j, (value, tip) in enumerate(cells[i]):
            x, y = left + side * j, 20 + side * i
            strength = 0.0 if value is None else max(0.0, value)
            box = (
                f'<rect class="heat" x="{x:.0f}" y="{y}" width="{side - 2}" height="{side - 2}" rx="3" '
                f'style="fill-opacity:{0.06 + 0.8 * strength:.2f}"/>'
            )
            text = "-" if value is None else f"{value:.2f}".replace("0.", ".", 1)
            css = "on" if strength > 0.55 else "off"
            out.append(_mark(box + _text(x + side / 2 - 1, y + side / 2 + 3.5, text, "middle", css), tip))
    return "".join(out) + "</svg>"


def _power(exponent: int) -> str:
    return f"{10.0**exponent:,.{max(0, -exponent)}f}" if -6 <= exponent <= 6 else f"1e{exponent}"


def _open(width: float, height: float, label: str) -> str:
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:{width * 1.35:.0f}px"'
    return f'<svg {size} role="group" aria-label="{escape(label)}">'


def _line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    return f'<line class="{css}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str, css: str = "tick") -> str:
    return f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _mark(content: str, tip: str) -> str:
    return f'<g class="mark" tabindex="0" role="img" aria-label="{escape(tip)}">{content}</g>'
