"""Held: which verifiers eval.py fits first and which bring thresholds is told by what they have, not by their names."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from citeverifier.records import Support
from citeverifier.verifiers.base import Scorer
from citeverifier.verifiers.fitted_floors import StatementOnly
from citeverifier.verifiers.keyword import Keyword
from citeverifier.verifiers.ordinal import OrdinalVerifier


class WithThresholds(Keyword):
    @property
    def thresholds(self) -> Mapping[Support, float]:
        return {Support.PARTIAL: 0.3, Support.FULL: 0.7}


@pytest.mark.parametrize(
    ("verifier", "fittable", "calibrated"),
    [(Keyword(), False, False), (StatementOnly(), True, False), (WithThresholds(), False, True)],
)
def test_fittable_and_calibrated(verifier: Scorer, fittable: bool, calibrated: bool) -> None:
    assert verifier.needs_training_pairs == fittable
    assert (verifier.thresholds is not None) == calibrated


def test_the_trained_verifier_is_calibrated_and_not_fittable() -> None:
    untouched = OrdinalVerifier.__new__(OrdinalVerifier)  # no checkpoint needed to see what it has
    assert untouched.needs_training_pairs is False
    assert isinstance(OrdinalVerifier.thresholds, property)
