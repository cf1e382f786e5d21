"""Running a scheme: what is fitted beforehand, its questions to the verifier, and back as predictions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from citeverifier.cost import Cost
from citeverifier.data.load import Record
from citeverifier.evaluation.schemes.base import Scheme
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.evaluation.schemes.trials import Prediction, Trial
from citeverifier.evaluation.thresholds import DecisionThreshold, DevQuestion, Fitted, FittingData
from citeverifier.records import LEVELS, Example, Pair, Support
from citeverifier.verifiers.cache import ScoreCache, with_cache
from citeverifier.verifiers.spread import spread


def dev_questions(records: Sequence[Record], seed: int = 13) -> list[DevQuestion]:
    """What thresholds are fitted on: questions of the form in which each level is asked.

    Level partial decides on one document at a time, level full on documents together: examples give the trials of
    Separate and of Merged. (Premises of one to three documents, as training has them, made the threshold of partial
    too strict for one.) Labelled pairs are asked at every level that their label decides.
    """
    examples = [record for record in records if isinstance(record, Example)]
    trials = [*Separate(seed).trials(examples), *Merged(seed).trials(examples)]
    asked = [DevQuestion(trial.pair, trial.level, trial.gold) for trial in trials]
    pairs = [record for record in records if isinstance(record, Pair)]
    labelled = [(pair, level, pair.reaches(level)) for pair in pairs for level in LEVELS]
    return asked + [DevQuestion(pair, level, gold) for pair, level, gold in labelled if gold is not None]


def prepare(
    scheme: Scheme, verifier: Any, records: Sequence[Any], data: FittingData, cache: ScoreCache | None
) -> tuple[Any, Fitted]:
    """The verifier as the scheme asks it (fitted on train where it needs that, cached, spread), and what dev chose."""

    def fitted(inner: Any) -> Any:
        inner.wrap(fitted)
        if getattr(inner, "needs_training_pairs", False):
            inner.fit(data.pairs("train"))
        return inner

    asked = fitted(verifier)
    if not scheme.timed:
        asked = spread(asked if cache is None else with_cache(asked, cache))
    return asked, scheme.fit(asked, trials_of(scheme, records), data)


def run_scheme(
    scheme: Scheme, verifier: Any, records: Sequence[Any], thresholds: Mapping[Support, DecisionThreshold]
) -> tuple[list[Prediction], Cost]:
    """Ask what the scheme asks and decide by the thresholds; raises ValueError where there is nothing to ask."""
    trials = trials_of(scheme, records)
    started = time.perf_counter()
    values = {level: threshold.value for level, threshold in thresholds.items()}
    predictions, cost = scheme.predict(records, trials, verifier, values)
    # Scores from a cache count with the seconds that they once took.
    return predictions, cost + Cost(seconds=time.perf_counter() - started)


def trials_of(scheme: Scheme, records: Sequence[Any]) -> list[Trial]:
    """The scheme's trials; raises ValueError where there is none."""
    trials = scheme.trials(records)
    if not trials:
        raise ValueError(
            f"scheme={scheme.name}: expected statements with citations, got none in {len(records)} records"
        )
    return trials
