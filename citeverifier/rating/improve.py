"""Iterative improvement (paper 3): rate, apply the edits, rate again, T times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from citeverifier.rating.responses import RatedResponse, Rater, Response


def improve(rater: Rater, responses: Sequence[Response], rounds: int, folder: Path) -> list[list[RatedResponse]]:
    """The ratings before any change (`folder` itself) and after each round (`folder/round_1` ...).

    Stops early where a round has no edits. Raises ValueError where the rater makes none at all.
    """
    history = [rater.rate(responses, folder)]
    if rounds and all(statement.edits is None for rated in history[0] for statement in rated.statements):
        raise ValueError(
            f"improve={rounds}: expected a rater that makes edits (local; cite_eval with way=interleaved_cot, iter_coe "
            f"or null), got {rater.name}"
        )
    for number in range(1, rounds + 1):
        edited = [rated.edited() for rated in history[-1]]
        if edited == [rated.response for rated in history[-1]]:
            break
        history.append(rater.rate(edited, folder / f"round_{number}"))
    return history
