"""How many planted defects a rater finds, and whether each further one lowers its rating."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from citeverifier.rating.response_ratings import response_rating
from citeverifier.rating.responses import KINDS, RatedResponse, Rater


def planted_defects(rated: Sequence[RatedResponse], rater: Rater) -> dict[str, Any] | None:
    """By kind, precision and recall of the edits found against those planted, citation for citation; None without any.

    Only edits of the kind on the very document count. `monotonic`: of the steps from a response to the one with a
    further planted defect, how many lowered the headline rating, left it, or raised it.
    """
    cases = [
        (cited.planted, statement.edits or ())
        for one in rated
        for cited, statement in one.pairs
        # a statement that was masked, rightly or not, has no edits; an unscored one says nothing
        if cited.planted is not None and (statement.edits is not None or statement.applicable is False)
    ]
    if not cases:
        return None
    kinds = {}
    for kind in KINDS:
        cells = [[{edit.citation for edit in edits if edit.kind == kind} for edits in case] for case in cases]
        right = sum(len(planted & found) for planted, found in cells)
        planted_count, found_count = (sum(len(cell[i]) for cell in cells) for i in (0, 1))
        scores = prf(right, found_count - right, planted_count - right)
        kinds[kind] = {"planted": planted_count, "found": found_count, "right": right, **scores}
    left_alone = [not edits for planted, edits in cases if not planted]
    return {
        "statements": len(cases),
        "kinds": kinds,
        "sound_statements": len(left_alone),
        "sound_left_alone": sum(left_alone) / len(left_alone) if left_alone else None,
        "monotonic": _steps(rated, rater),
    }


def _steps(rated: Sequence[RatedResponse], rater: Rater) -> dict[str, int]:
    chains: dict[tuple[str, str, str], list[tuple[int, float | None]]] = {}
    for one in rated:
        if one.response.chain is not None:
            defects = sum(len(cited.planted or ()) for cited in one.response.statements)
            rating, _ = response_rating(one, rater.metrics[0], "full", rater.low)
            key = (one.response.system, one.response.chain, one.response.lang)
            chains.setdefault(key, []).append((defects, rating))
    steps: Counter[str] = Counter(lowered=0, unchanged=0, raised=0, unscored=0)
    for chain in chains.values():
        ratings = [rating for _, rating in sorted(chain, key=lambda step: step[0])]
        for before, after in pairwise(ratings):
            if before is None or after is None:
                steps["unscored"] += 1
            else:
                steps["lowered" if after < before else "raised" if after > before else "unchanged"] += 1
    return dict(steps)


def prf(tp: int, fp: int, fn: int) -> dict[str, float | None]:
    """Precision, recall and F1; None where there is nothing to divide by."""
    return {
        "precision": tp / (tp + fp) if tp + fp else None,
        "recall": tp / (tp + fn) if tp + fn else None,
        "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
    }
