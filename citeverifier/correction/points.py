"""Which documents a factual point should cite: the method's scores, then how many.

`count="kept"`, paper 4's rule: as many as before. `count="free"`, for methods that can tell (`Choosing`): as many as
the point needs, and what it cites already as long as that supports a part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from citeverifier.correction.base import Choosing, Method
from citeverifier.cost import Cost
from citeverifier.records import Document, Support
from citeverifier.text.answer_reading import FactualPoint
from citeverifier.verifiers.base import Listing, Selection
from citeverifier.verifiers.selectors import by_listing

Count = Literal["kept", "free"]
Finding = Literal["supported", "wrongly cited", "not found"]


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """What became of a factual point, `original[start:end]`, and of the markers behind it.

    `before`, `after`: the 0-based documents it cited and cites; `out_of_range`: printed numbers that named none.
    `scores`: of each document; None where unscored, with the `reason`: its markers stay as they were. `finding`, of
    methods that can tell: "supported" by a document it cited; "wrongly cited", that is by another one; "not found".
    """

    text: str
    start: int
    end: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    out_of_range: tuple[int, ...] = ()
    scores: tuple[float, ...] | None = None
    reason: str | None = None
    finding: Finding | None = None

    @property
    def kept(self) -> tuple[int, ...]:
        """Documents cited before and after."""
        return tuple(position for position in self.before if position in self.after)

    @property
    def replaced(self) -> tuple[tuple[int, int], ...]:
        """(old, new) documents."""
        return tuple(zip(self._lost, self._gained, strict=False))

    @property
    def added(self) -> tuple[int, ...]:
        """New documents that stand for no other one (but perhaps for a number out of range)."""
        return self._gained[len(self._lost) :]

    @property
    def dropped(self) -> tuple[int, ...]:
        """Documents for which no other one stands."""
        return self._lost[len(self._gained) :]

    @property
    def _lost(self) -> tuple[int, ...]:
        return tuple(position for position in self.before if position not in self.after)

    @property
    def _gained(self) -> tuple[int, ...]:
        return tuple(position for position in self.after if position not in self.before)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a method is asked about: the words of one point, or of several that share them ("... long [1], [2].")."""

    listing: Listing
    points: tuple[FactualPoint, ...]


def check_count(method: Method, count: Count) -> None:
    """Raise ValueError where the method cannot choose how many documents a point cites."""
    if count not in ("kept", "free"):
        raise ValueError(f"count: expected kept or free, came {count!r}")
    if count == "free" and not isinstance(method, Choosing):
        raise ValueError(
            f"count=free: expected a method that can tell how many documents a point needs, came {method.name}, whose "
            "scores only rank documents; use count=kept, or correct by a Scorer (citeverifier, keyword, bertscore)"
        )


def decide(claims: Sequence[Claim], method: Method, count: Count) -> tuple[list[list[FixedPoint]], Cost]:
    """What becomes of the points of each claim, and what the calls cost."""
    asked = [claim for claim in claims if claim.listing.documents]
    listings = [claim.listing for claim in asked]
    scores = method.score(listings)
    cost = scores.cost
    chosen: Sequence[Selection | None] = [None] * len(asked)
    threshold = None  # without one a method only ranks
    if isinstance(method, Choosing):
        threshold = method.thresholds[Support.PARTIAL]
        if count == "free":
            selections = method.choose(listings)
            cost = sum((selection.cost for selection in selections), cost)
            chosen = selections
    found = iter(zip(by_listing(scores, listings), chosen, strict=True))
    made = []
    for claim in claims:
        if not claim.listing.documents:
            made.append(_unscored(claim, "the answer has no documents"))
            continue
        values, selection = next(found)
        if isinstance(values, str):
            made.append(_unscored(claim, values))
        elif selection is not None and selection.positions is None:
            made.append(_unscored(claim, selection.reason or "no selection"))
        else:
            made.append(_fixed(claim, values, None if selection is None else selection.positions, threshold))
    return made, cost


def _unscored(claim: Claim, reason: str) -> list[FixedPoint]:
    return [
        FixedPoint(p.text, p.start, p.end, p.positions, p.positions, _out_of_range(p), reason=reason)
        for p in claim.points
    ]


def _fixed(
    claim: Claim, scores: NDArray[np.float64], wanted: tuple[int, ...] | None, threshold: float | None
) -> list[FixedPoint]:
    cited = list(dict.fromkeys(position for point in claim.points for position in point.positions))
    same = _same(claim.listing.documents, cited)
    own = {same[position] for position in cited}
    if wanted is None:  # as many as before, equal documents counted once
        order = sorted(set(same), key=lambda i: (-scores[i], i not in own, i))
        wanted = tuple(order[: len(own) + sum(len(_out_of_range(point)) for point in claim.points)])
    elif threshold is not None:
        wanted = (*wanted, *(position for position in cited if scores[position] >= threshold))
    after = _places(claim.points, list(dict.fromkeys(same[i] for i in wanted)), same)
    finding: Finding | None = None
    if threshold is not None:
        supporting = {i for i, score in enumerate(scores) if score >= threshold}
        finding = "supported" if supporting & set(cited) else "wrongly cited" if supporting else "not found"
    values = tuple(float(score) for score in scores)
    return [
        FixedPoint(p.text, p.start, p.end, p.positions, new, _out_of_range(p), values, finding=finding)
        for p, new in zip(claim.points, after, strict=True)
    ]


def _same(documents: Sequence[Document], cited: Sequence[int]) -> list[int]:
    """For each document the one that stands for all with its words: the first one cited, else the first."""
    first: dict[tuple[str, str], int] = {}
    for position in (*cited, *range(len(documents))):
        first.setdefault((documents[position].title, documents[position].text), position)
    return [first[document.title, document.text] for document in documents]


def _places(points: Sequence[FactualPoint], wanted: list[int], same: Sequence[int]) -> list[tuple[int, ...]]:
    """Which of the wanted documents each point cites: those it did, in their places, and new ones in the gaps."""
    now = [[same[position] for position in point.positions] for point in points]
    if {i for row in now for i in row} == set(wanted) and not any(_out_of_range(point) for point in points):
        return [point.positions for point in points]
    held = {i for row in now for i in row}
    new = iter([i for i in wanted if i not in held])
    left = set(wanted) & held
    places: list[list[int]] = []
    for point, row in zip(points, now, strict=True):
        slots: list[int | None] = []
        for i in row:
            slots.append(i if i in left else None if i not in wanted else -1)
            left.discard(i)
        slots += [None] * len(_out_of_range(point))
        filled = [next(new, -1) if slot is None else slot for slot in slots]
        places.append([i for i in filled if i >= 0])
    places[-1] += list(new)
    return [tuple(row) for row in places]


def _out_of_range(point: FactualPoint) -> tuple[int, ...]:
    return point.run.out_of_range if point.run else ()
