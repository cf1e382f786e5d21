"""Twin accuracy: does the verifier tell a statement from its corrupted twin?"""

from __future__ import annotations

from collections.abc import Sequence

from citeverifier.evaluation.schemes.base import Prediction, Share
from citeverifier.records import twin_id


def twin_shares(predictions: Sequence[Prediction], statement: str, twin: str, *, default: bool) -> list[Share]:
    """One item a twin and premise, right where the statement is decided true *and* the twin false on that premise.

    `statement` and `twin` are the two settings; `default` decides at 0.5. Each item comes as "twin_accuracy" and as
    "twin_accuracy_EDIT". Twins with an unscored side are left out.
    """
    sides: dict[tuple[str, str, str, frozenset[int]], dict[str, Prediction]] = {}
    for prediction in predictions:
        trial = prediction.trial
        if trial.setting in (statement, twin):
            key = (trial.pair.example, trial.pair.lang, twin_id(trial.pair.statement_id), frozenset(trial.premise))
            sides.setdefault(key, {})[trial.setting] = prediction
    shares = []
    for (example, _, _, _), both in sides.items():
        if len(both) == 2:
            true, false = (both[setting].decided(default=default) for setting in (statement, twin))
            if true is not None and false is not None:
                right = true and not false
                edit = both[twin].trial.edit or "edit"
                shares += [Share("twin_accuracy", example, right), Share(f"twin_accuracy_{edit}", example, right)]
    return shares
