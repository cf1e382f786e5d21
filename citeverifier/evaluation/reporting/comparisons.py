"""Runs against the best one of their board, and errors by kind of edit; by paired bootstrap over questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citeverifier.evaluation.reporting.predictions import DecidedTrials
from citeverifier.evaluation.reporting.runs import EvalRun
from citeverifier.metrics.bootstrap import Difference, Estimate, difference, mean_estimate, metric_samples, resamples
from citeverifier.metrics.decisions import Bools, Floats

COMPARED = {"accuracy": "accuracy", "f1": "F1", "auroc": "AUROC"}
BEST, OTHER_TRIALS = "best", "other trials"


def against_best(runs: Sequence[EvalRun]) -> dict[str, dict[str, Difference | str]]:
    """By run and metric the difference to the best run, or `BEST`, or `OTHER_TRIALS` where it was asked others.

    Nothing for runs without predictions, and where fewer than two runs have the metric.
    """
    results: dict[str, dict[str, Difference | str]] = {run.name: {} for run in runs}
    readable = [(run, run.trials) for run in runs if run.trials is not None]
    known: dict[tuple[str, bytes], dict[str, Floats]] = {}  # resampled metrics by run and trials, for all metrics once
    for metric in COMPARED:
        candidates = [(run, trials) for run, trials in readable if run.summary["metrics"].get(metric) is not None]
        if len(candidates) < 2:
            continue
        best, its_trials = max(candidates, key=lambda candidate: candidate[0].summary["metrics"][metric])
        for run, trials in candidates:
            if run is best:
                results[run.name][metric] = BEST
            elif trials.digest != its_trials.digest:
                results[run.name][metric] = OTHER_TRIALS
            else:
                both = trials.scored & its_trials.scored
                own, its = (_samples(*one, both, known) for one in ((run, trials), (best, its_trials)))
                if metric in own and metric in its:
                    results[run.name][metric] = difference(own[metric], its[metric])
    return results


def _samples(
    run: EvalRun, trials: DecidedTrials, chosen: Bools, known: dict[tuple[str, bytes], dict[str, Floats]]
) -> dict[str, Floats]:
    """The run's resampled metrics on the chosen trials; the same resamples whichever run."""
    key = (run.name, chosen.tobytes())
    if key not in known:
        units, score = trials.examples[chosen].tolist(), trials.score[chosen]
        scores = None if np.isnan(score).any() else score
        known[key] = metric_samples(trials.gold[chosen], trials.decision[chosen], scores, units, resamples(units))
    return known[key]


def errors_by_edit(trials: DecidedTrials) -> dict[str, Estimate]:
    """By kind of edit, the share of wrong decisions on corrupted statements."""
    errors = {}
    for edit in sorted(set(trials.edit.tolist()) - {""}):
        chosen = (trials.edit == edit) & trials.scored
        if chosen.any():
            units = trials.examples[chosen].tolist()
            sampled = resamples(units)
            wrong = trials.gold[chosen] != trials.decision[chosen]
            errors[edit] = mean_estimate(wrong, sampled.of(units), sampled)
    return errors
