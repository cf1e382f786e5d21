"""The order of a run: every pair once an epoch, neighbours or equal lengths together."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import ordinal_pairs
from citeverifier.records import Pair
from citeverifier.training.order import by_length, runs_by_length, whole_run


def test_runs_by_length_keep_every_pair_and_neighbours_together() -> None:
    pairs = list(ordinal_pairs(load_mini("train", "en")[:12]))[:99]
    order = runs_by_length(pairs, [10] * 99, 8, seed=1)
    assert sorted(order) == list(range(99)) != order
    changes = sum(pairs[a].example != pairs[b].example for a, b in pairwise(order))
    assert changes <= len(pairs) / 4
    assert order == runs_by_length(pairs, [10] * 99, 8, seed=1)


def test_runs_by_length_puts_long_pairs_into_batches_of_their_own() -> None:
    pairs = [Pair.of("S.", ["D."], id=str(i), group=f"g{i}") for i in range(640)]
    lengths = [20 + i * 37 % 490 for i in range(640)]
    order = runs_by_length(pairs, lengths, 16, seed=3)
    batches = [[lengths[i] for i in order[start : start + 16]] for start in range(0, 640, 16)]
    assert sorted(order) == list(range(640))
    assert sum(max(batch) * 16 for batch in batches) < 1.05 * sum(lengths)
    assert 0.8 < sum(map(sum, batches[:20])) / sum(map(sum, batches[20:])) < 1.25


@given(st.lists(st.integers(1, 512), max_size=300), st.integers(1, 20), st.integers(0, 3))
def test_by_length_has_every_pair_once(lengths: list[int], batch: int, seed: int) -> None:
    order = by_length(lengths, batch, seed)
    assert sorted(order) == list(range(len(lengths)))
    assert order == by_length(lengths, batch, seed)


def test_by_length_pads_little_and_mixes_lengths_over_the_run() -> None:
    lengths = [20 + i * 37 % 490 for i in range(1600)]
    order = by_length(lengths, 16, seed=3)
    batches = [[lengths[i] for i in order[start : start + 16]] for start in range(0, 1600, 16)]
    assert sum(max(batch) * 16 for batch in batches) < 1.05 * sum(lengths)
    halves = [sum(map(sum, half)) for half in (batches[:50], batches[50:])]
    assert 0.8 < halves[0] / halves[1] < 1.25


def test_a_whole_run_is_its_epochs_one_after_the_other() -> None:
    assert whole_run(lambda number: [10 * number, 10 * number + 1, 10 * number + 2], 7) == [0, 1, 2, 10, 11, 12, 20]
