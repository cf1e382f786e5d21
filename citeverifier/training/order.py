"""Which pair comes when: the order of a whole run is laid down before it, the same for any number of processes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from citeverifier.records import Pair

RUN = 8  # pairs in a row of one example, at most
_POOL = 50  # times a batch: what is sorted by length together


def whole_run(epoch: Callable[[int], list[int]], count: int) -> list[int]:
    """`count` positions, epoch after epoch; `epoch(seed)` gives all positions once."""
    order: list[int] = []
    number = 0
    while len(order) < count:
        order += epoch(number)
        number += 1
    return order[:count]


def runs_by_length(pairs: Sequence[Pair], lengths: Sequence[int], batch: int, seed: int) -> list[int]:
    """Positions of the pairs in shuffled batches: runs of up to RUN neighbours of one example, of about equal lengths.

    Neighbours share statements and documents, and late interaction encodes what a batch shares once: on the bundled set
    a step of 32 pairs encodes half of the texts it would in random order. All pairs of a batch take as much time and
    memory as its longest, so runs are sorted by their longest pair, within pools of _POOL times `batch` runs. What is
    left over of the last batch comes last.
    """
    runs: list[list[int]] = []
    for position, pair in enumerate(pairs):
        if runs and len(runs[-1]) < RUN and pairs[runs[-1][-1]].example == pair.example:
            runs[-1].append(position)
        else:
            runs.append([position])
    draw = random.Random(seed)
    draw.shuffle(runs)
    order: list[int] = []
    for start in range(0, len(runs), batch * _POOL):
        pool = sorted(runs[start : start + batch * _POOL], key=lambda run: -max(lengths[i] for i in run))
        order += [position for run in pool for position in run]
    return _shuffled_batches(order, batch, draw)


def by_length(lengths: Sequence[int], batch: int, seed: int) -> list[int]:
    """Positions in shuffled batches of about equal lengths (tokens), longest first within a batch.

    Pairs are shuffled, sorted within pools of 50 batches, and the batches shuffled; what is left over of the last
    batch comes last.
    """
    draw = random.Random(seed)
    shuffled = list(range(len(lengths)))
    draw.shuffle(shuffled)
    order: list[int] = []
    for start in range(0, len(shuffled), batch * _POOL):
        order += sorted(shuffled[start : start + batch * _POOL], key=lambda i: -lengths[i])
    return _shuffled_batches(order, batch, draw)


def _shuffled_batches(order: list[int], batch: int, draw: random.Random) -> list[int]:
    """The order in batches that are shuffled; what is left over of the last batch stays last."""
    batches = [order[start : start + batch] for start in range(0, len(order), batch)]
    rest = batches.pop() if batches and len(batches[-1]) < batch else []
    draw.shuffle(batches)
    return [position for group in [*batches, rest] for position in group]
