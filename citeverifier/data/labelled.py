"""What sources of labelled claims have in common: the pair of a row, its interval, the part that a role reads.

An interval says no more than the label does: a binary source's "unsupported" and a refuted claim are none to partial.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from citeverifier.data.pair_recipes import with_distractors
from citeverifier.data.splits import in_split
from citeverifier.records import Document, Interval, Pair


def labelled_pair(
    source: str,
    identity: int | str,
    group: str,
    claim: str,
    documents: Iterable[Document],
    label: Interval,
    kind: str = "",
    context: str | None = None,
) -> Pair:
    """An English pair of a source's record; `kind` names its part of the source, else the source."""
    return Pair.of(
        claim.strip(), documents, id=f"{source}:{identity}", group=f"{source}:{group}",
        kind=f"labelled:{kind or source}", context=context, support=label,
    )  # fmt: skip


def part_of(
    pairs: list[Pair], split: str | None, shares: Mapping[str, float] | None, distractors: bool, seed: int = 13
) -> list[Pair]:
    """The pairs of a split (`shares` None: all of them), in training and dev with distractors of the same split."""
    chosen = pairs if shares is None else in_split(pairs, split, shares)
    return list(with_distractors(chosen, seed=seed)) if distractors and split in ("train", "dev") else chosen


def hub_split_of(splits: Mapping[str, str], role: str | None) -> str:
    """The hub's name of a role's split; raises ValueError where the source has none."""
    if role is None or role not in splits:
        raise ValueError(f"expected a split of {', '.join(splits)}, got {role!r}")
    return splits[role]


def measured_only(source: str, split: str | None) -> None:
    """Raises ValueError where a source that is only there to measure on is read for training or dev."""
    if split not in ("test", None):
        raise ValueError(f"{source}: expected split=test (it is only to measure on), got {split!r}")


def digest(text: str) -> str:
    """A short name for a long text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
