"""The decision metrics as an `evaluate.Metric`, for pipelines that speak that. Works offline: no loading script.

metric = CitationDecisions()
metric.compute(predictions=[0.9, 0.2], references=[True, False], threshold=0.5)
"""

from __future__ import annotations

from typing import Any

import datasets
import evaluate
import numpy as np

from citeverifier.metrics.decisions import auroc, count

_DESCRIPTION = "Accuracy, accuracy on true and on false, F1, balanced accuracy, macro-F1 and AUROC of citation scores."


class CitationDecisions(evaluate.Metric):  # type: ignore[misc]
    """`compute(predictions=scores in [0, 1], references=gold booleans, threshold=0.5)`; nan scores are unscored.

    Returns the metrics of `citeverifier.metrics.decisions.decision_metrics` and "auroc" over scored predictions, and
    "unscored", their number.
    """

    def _info(self) -> evaluate.MetricInfo:
        features = datasets.Features({"predictions": datasets.Value("float64"), "references": datasets.Value("bool")})
        return evaluate.MetricInfo(description=_DESCRIPTION, citation="", features=features)

    def _compute(self, predictions: Any, references: Any, threshold: float = 0.5) -> dict[str, float]:
        score, gold = np.asarray(predictions, dtype=np.float64), np.asarray(references, dtype=bool)
        scored = ~np.isnan(score)
        metrics = count(gold[scored], score[scored] >= threshold).metrics()
        return {**metrics, "auroc": float(auroc(gold[scored], score[scored])), "unscored": int((~scored).sum())}
