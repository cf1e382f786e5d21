"""The evaluate.Metric gives what the functions give, and leaves unscored predictions out."""

from __future__ import annotations

import math

import pytest

from citeverifier.metrics.evaluate_metric import CitationDecisions


def test_it_computes_offline_what_the_functions_compute() -> None:
    scores = [0.9, 0.4, 0.7, 0.1, math.nan]
    metrics = CitationDecisions().compute(
        predictions=scores, references=[True, True, False, False, True], threshold=0.5
    )
    assert metrics["unscored"] == 1
    assert metrics["accuracy"] == pytest.approx(0.5)
    assert metrics["acc_true"] == pytest.approx(0.5)
    assert metrics["auroc"] == pytest.approx(0.75)


def test_batches_add_up() -> None:
    metric = CitationDecisions()
    metric.add_batch(predictions=[0.9, 0.2], references=[True, False])
    metric.add(prediction=0.8, reference=False)
    assert metric.compute()["accuracy"] == pytest.approx(2 / 3)
