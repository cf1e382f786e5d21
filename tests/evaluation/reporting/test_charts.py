"""Held: marks stand where their values say, shapes and colours tell series apart, axes hold every point."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from citeverifier.evaluation.reporting.charts import HEIGHT, WIDTH, Bar, Point, bars, matrix, scatter, shape


def circles(svg: str) -> list[tuple[float, float]]:
    ElementTree.fromstring(svg)
    return [(float(x), float(y)) for x, y in re.findall(r'<circle[^>]*cx="([\d.]+)" cy="([\d.]+)"', svg)]


def test_up_is_more_and_right_is_more() -> None:
    points = [Point(0.2, 0.3, 0, "a", "a"), Point(0.8, 0.9, 0, "b", "b")]
    (x1, y1), (x2, y2) = circles(scatter(points, "x", "y"))
    assert x1 < x2
    assert y1 > y2
    corners = circles(scatter([Point(0, 0, 0, "", ""), Point(1, 1, 0, "", "")], "x", "y"))
    assert corners[0][0] < corners[1][0] <= WIDTH
    assert corners[0][1] > corners[1][1] >= 0


@pytest.mark.parametrize("values", [(0.00003, 0.2), (1.0,), (10.0, 1000.0), (0.001, 123456.0)])
def test_a_log_axis_holds_every_point(values: tuple[float, ...]) -> None:
    found = circles(scatter([Point(v, 0.5, 0, "", "") for v in values], "x", "y", log=True))
    assert len(found) == len(values)
    assert all(40 < x < WIDTH and 0 < y < HEIGHT for x, y in found)
    assert found == sorted(found)


def test_equal_steps_are_equal_factors_on_a_log_axis() -> None:
    (a, _), (b, _), (c, _) = circles(scatter([Point(v, 0.5, 0, "", "") for v in (1, 10, 100)], "x", "y", log=True))
    assert b - a == pytest.approx(c - b, abs=0.2)


def test_series_differ_in_shape_or_colour() -> None:
    drawn = {shape(5, 5, series) for series in range(-1, 32)}
    assert len(drawn) == 33


def test_bars_are_as_long_as_their_values() -> None:
    svg = bars([Bar(v, 0, i, f"tip {i}", (v / 2, v)) for i, v in enumerate((0.25, 0.5, 1.0))], "a title")
    ElementTree.fromstring(svg)
    widths = [float(width) for width in re.findall(r'<rect class="c0"[^>]*width="([\d.]+)"', svg)]
    assert widths[1] / widths[0] == pytest.approx(2, rel=0.01)
    assert widths[2] / widths[0] == pytest.approx(4, rel=0.01)
    assert "a title" in svg


def test_a_matrix_is_square_and_escapes() -> None:
    svg = matrix([(1, "a & b"), (2, "c")], [[(1.0, "1"), (-0.2, "2")], [(None, "3"), (1.0, "<4>")]])
    ElementTree.fromstring(svg)
    assert svg.count('class="heat"') == 4
    assert ">-.20<" in svg
    assert "&lt;4&gt;" in svg
