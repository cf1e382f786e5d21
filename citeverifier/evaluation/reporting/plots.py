"""Pictures of a run: accuracy by setting, reliability. Written as PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citeverifier.evaluation.schemes.trials import Prediction

TRUE, FALSE, LINE = "#2a6f97", "#c8553d", "#444444"


def plot_settings(path: Path, summary: Mapping[str, Any], predictions: Sequence[Prediction]) -> None:
    """A panel a setting: its accuracy with interval, and the scores of its trials on either side of the threshold."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    settings = summary["settings"]
    figure, axes = plt.subplots(1, len(settings), figsize=(2.6 * len(settings), 3.2), sharey=True, squeeze=False)
    for axis, (name, part) in zip(axes[0], settings.items(), strict=True):
        own = [p for p in predictions if p.score is not None and p.trial.setting.startswith(name)]
        for gold, colour in ((True, TRUE), (False, FALSE)):
            scores = [p.score for p in own if p.trial.gold is gold]
            if scores:
                label = "should be true" if gold else "should be false"
                axis.hist(
                    scores, bins=20, range=(0, 1), orientation="horizontal", color=colour, alpha=0.75, label=label
                )
        if own and own[0].threshold is not None:  # some methods only rank
            axis.axhline(own[0].threshold, color=LINE, linewidth=1, linestyle="--")
        accuracy, interval = part["metrics"]["accuracy"], part["intervals"].get("accuracy")
        text = "no scored trial" if accuracy is None else f"accuracy {accuracy:.3f}"
        if interval:
            text += f"\n[{interval[0]:.3f}, {interval[1]:.3f}]"
        axis.set_title(f"{name}\n{text}", fontsize=9)
        axis.set_xlabel("trials", fontsize=8)
        axis.tick_params(labelsize=8)
    axes[0][0].set_ylabel("score (dashed: threshold)", fontsize=8)
    handles: dict[str, Any] = {}
    for axis in axes[0]:
        handles |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=2, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_reliability(path: Path, predictions: Sequence[Prediction], bins: int = 10) -> None:
    """Reliability diagram: the share of true trials against the mean score, in bins of equal size, one line a level."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(4.2, 4.2))
    axis.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1, label="perfectly calibrated")
    for level, colour in (("partial", TRUE), ("full", FALSE)):
        own = sorted(
            (p.score, p.trial.gold) for p in predictions if p.score is not None and p.trial.level.label == level
        )
        parts = [part for part in np.array_split(np.array(own, dtype=float).reshape(-1, 2), bins) if len(part)]
        if parts:
            x, y = [part[:, 0].mean() for part in parts], [part[:, 1].mean() for part in parts]
            axis.plot(x, y, marker="o", color=colour, label=f"level {level} ({len(own)} trials)")
    axis.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="mean score", ylabel="share that should be true")
    axis.legend(fontsize=8, frameon=False, loc="upper left")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
