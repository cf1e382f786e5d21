"""Held: both pictures are PNGs that show what there is: a panel a setting, a colour a class, a line a level."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from citeverifier.data.mini import load_mini
from citeverifier.evaluation.reporting.plots import FALSE, LINE, TRUE, plot_reliability, plot_settings
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.pairs import Pairs
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.evaluation.schemes.trials import Prediction, Trial
from citeverifier.records import Example, Pair

mpl.use("Agg")

Evaluate = Callable[..., tuple[list[Prediction], dict[str, Any]]]


def pixels(path: Path) -> Any:
    """A picture's pixels (height, width, 3), in [0, 1]."""
    import matplotlib.pyplot as plt

    assert path.read_bytes().startswith(b"\x89PNG\r\n")
    return plt.imread(path)[:, :, :3]


def painted(path: Path, colour: str, *, alpha: float = 1.0) -> int:
    """How many pixels have this colour, as it looks on white."""
    wanted = np.array(to_rgb(colour)) * alpha + (1 - alpha)
    return int((np.abs(pixels(path) - wanted).max(axis=2) < 0.02).sum())


def spread(trial: Trial) -> float:
    """Scores all over [0, 1], the true ones higher."""
    draw = np.random.default_rng(list(trial.id.encode())).random()
    return float(0.5 * draw + 0.5 * trial.gold)


def test_a_panel_a_setting(evaluate: Evaluate, worked_example: Example, tmp_path: Path) -> None:
    widths = {}
    for scheme in (Merged(), Separate()):
        predictions, summary = evaluate(scheme, [worked_example], spread)
        path = tmp_path / f"{scheme.name}.png"
        plot_settings(path, summary, predictions)
        widths[scheme.name] = pixels(path).shape[1] / len(summary["settings"])
        assert len(summary["settings"]) == 5
        for colour in (TRUE, FALSE):
            assert painted(path, colour, alpha=0.75) > 500
        assert painted(path, LINE) > 50, "the threshold"
    assert widths == {"merged": pytest.approx(312), "separate": pytest.approx(312)}


def test_settings_show_the_classes_that_there_are(evaluate: Evaluate, worked_example: Example, tmp_path: Path) -> None:
    predictions, summary = evaluate(Separate(), [worked_example], spread)
    only_false = {name: part for name, part in summary["settings"].items() if name != "correct"}
    plot_settings(tmp_path / "false.png", summary | {"settings": only_false}, predictions)
    assert painted(tmp_path / "false.png", TRUE, alpha=0.75) == 0
    assert painted(tmp_path / "false.png", FALSE, alpha=0.75) > 500


def test_reliability_has_a_line_a_level(
    evaluate: Evaluate, worked_example: Example, pairs: list[Pair], tmp_path: Path
) -> None:
    shown = {}
    for scheme, records in ((Merged(), [worked_example]), (Separate(), [worked_example]), (Pairs(), pairs)):
        predictions, _ = evaluate(scheme, records, spread)
        path = tmp_path / f"{scheme.name}.png"
        plot_reliability(path, predictions)
        shown[scheme.name] = (painted(path, TRUE) > 100, painted(path, FALSE) > 100)
    assert shown == {"merged": (False, True), "separate": (True, False), "pairs": (True, True)}


def test_reliability_is_of_the_scores(evaluate: Evaluate, tmp_path: Path) -> None:
    mini = load_mini("test", "en")
    files = [tmp_path / name for name in ("one.png", "again.png", "turned.png")]
    for path, score in zip(files, (spread, spread, lambda trial: 1 - spread(trial)), strict=True):
        plot_reliability(path, evaluate(Separate(), mini, score)[0])
    one, again, turned = map(pixels, files)
    assert np.array_equal(one, again)
    assert (one != turned).any()


def test_unscored_runs_still_get_their_pictures(evaluate: Evaluate, worked_example: Example, tmp_path: Path) -> None:
    predictions, summary = evaluate(Merged(), [worked_example], lambda trial: math.nan)
    plot_settings(tmp_path / "settings.png", summary, predictions)
    plot_reliability(tmp_path / "reliability.png", predictions)
    for name, colours in (("settings.png", {"alpha": 0.75}), ("reliability.png", {})):
        assert pixels(tmp_path / name).std() > 0.01, "axes and titles"
        assert painted(tmp_path / name, TRUE, **colours) == painted(tmp_path / name, FALSE, **colours) == 0
