"""Held: the papers' rows give the figures that their papers print, and say where they stand."""

from __future__ import annotations

import pytest

from citeverifier.evaluation.reporting.reported import reported_rows, summary_of

PRINTED = {
    ("merged", "gpt-4o"): (0.8771, 0.9065, 0.8528, 0.8694, None),
    ("separate", "CiteVerifier"): (0.8423, 0.8028, 0.8612, 0.7675, None),
    ("cite_separate", "CiteVerifier"): (0.9471, 0.8028, 0.9609, 0.7261, 147 / 252),
    ("cite_merged", "Llama 3.1 70B"): (0.9511, 0.5046, 0.9939, 0.6433, 169 / 252),
    ("cite_list", "gpt-4o"): (0.9760, 0.8899, 0.9842, 0.8661, 204 / 252),
}


def test_rows_are_the_papers() -> None:
    rows = {(row["scheme"], row["verifier"]): row for row in reported_rows()}
    assert rows.keys() == PRINTED.keys()
    for key, (*expected, exact) in PRINTED.items():
        metrics = rows[key]["metrics"]
        found = [metrics[name] for name in ("accuracy", "acc_true", "acc_false", "f1")]
        assert found == pytest.approx(expected, abs=5e-5)
        assert metrics["exact"] == (None if exact is None else pytest.approx(exact, abs=1e-6))


def test_rows_name_source_and_table_and_claim_no_interval() -> None:
    for row in reported_rows():
        assert row["lang"] == "en"
        assert row["source"].startswith("CiteVerifier: How Good")
        assert row["table"].endswith("English")
        assert row["intervals"] == {}
        assert row["n"] == sum(row["counts"].values())


def test_a_row_without_counts_has_its_metrics_as_printed() -> None:
    named = {"scheme": "support_levels", "lang": "en", "verifier": "V", "source": "A paper", "table": "Table 1"}
    found = summary_of(named | {"n": 7, "metrics": {"pearson": 0.5}})
    assert found == named | {"n": 7, "metrics": {"pearson": 0.5}, "unscored": 0, "counts": {}, "intervals": {}}
