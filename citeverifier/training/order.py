"""Which pair comes when: the order of a whole run is laid down before it, the same for any number of processes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from citeverifier.records import Pair

RUN = 8  # pairs in a row of one example, at most
_POOL = 50  # batches whose pairs are sorted together


def whole_run(epoch: Callable[[int], list[int]], count: int) -> list[int]:
    """`count` positions, epoch after epoch; `epoch(seed)` gives all positions once."""
    order: list[int] = []
    number = 0
    while len(order) < count:
        order += epoch(number)
        number += 1
    return order[:count]


def shuffled_runs(pairs: Sequence[Pair], seed: int) -> list[int]:
    """Positions of the pairs in shuffled runs of up to RUN neighbours of one example.

    Neighbours share statements and documents, and late interaction encodes what a batch shares once: on the bundled set
    a step of 32 pairs encodes half of the texts it would in random order.
    """
    runs: list[list[int]] = []
    for position, pair in enumerate(pairs):
        if runs and len(runs[-1]) < RUN and pairs[runs[-1][-1]].example == pair.example:
            runs[-1].append(position)
        else:
            runs.append([position])
    random.Random(seed).shuffle(runs)
    return [position for run in runs for position in run]


def by_length(lengths: Sequence[int], batch: int, seed: int) -> list[int]:
    """Positions in shuffled batches of about equal lengths (tokens), longest first within a batch.

    Pairs are shuffled, sorted within pools of 50 batches, and the batches shuffled; what is left over of the last
    batch comes last.
    """
    draw = random.Random(seed)
    order = list(range(len(lengths)))
    draw.shuffle(order)
    batches: list[list[int]] = []
    for start in range(0, len(order), batch * _POOL):
        pool = sorted(order[start : start + batch * _POOL], key=lambda i: -lengths[i])
        batches += [pool[i : i + batch] for i in range(0, len(pool), batch)]
    rest = batches.pop() if batches and len(batches[-1]) < batch else []
    draw.shuffle(batches)
    return [position for group in [*batches, rest] for position in group]
