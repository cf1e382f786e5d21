"""A Selector that picks a set: one document that is enough, two that complete each other, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product

import numpy as np

from citeverifier.cost import Cost
from citeverifier.records import Support
from citeverifier.verifiers.base import Listing, Scorer, Scores, Selection, Selector, with_cost
from citeverifier.verifiers.listings import by_listing, each_alone, score_premises

STEPS = 15  # candidates a parameter, quantiles of what dev shows


@dataclass(frozen=True)
class Cuts:
    """The decision's parameters, all in terms of P(full support).

    `alone`: from here a document by itself is enough. `pair`: what the second document must add. `nothing`: below this
    neither is cited.
    """

    alone: float = 0.5
    pair: float = 0.2
    nothing: float = 0.5


@dataclass(frozen=True)
class _Best:
    """A listing's best single document and best pair, with their P(full support)."""

    single: int
    single_score: float
    pair: tuple[int, ...]
    pair_score: float

    def choose(self, cuts: Cuts) -> tuple[tuple[int, ...], float]:
        """The positions chosen, and the score they were chosen by."""
        chosen: tuple[int, ...] = (self.single,)
        score = self.single_score
        if self.single_score < cuts.alone and self.pair_score - self.single_score >= cuts.pair:
            chosen, score = self.pair, self.pair_score
        return (chosen, score) if score >= cuts.nothing else ((), score)


class Listwise(Selector):
    """Picks at most two documents by a Scorer's answers at both levels.

    Every document is scored alone at both levels; the `candidates` of greatest P(support >= partial) are then scored in
    pairs at level full. Where the best document alone is enough it is cited; else the best pair, if its second document
    adds enough, since halves of a statement complete each other; nothing where neither supports it. The three cuts are
    chosen on dev for F1 over documents: exact match alone would reward citing nothing where half of dev's statements
    have nothing to cite. A statement that cites three documents it cannot get right.

    Args:
        scorer: any Scorer whose scores mean something at both levels.
        candidates: documents that pairs are made of; k make k(k-1)/2 pairs.
        alone, pair, nothing: the cuts, untuned.
    """

    name = "listwise"

    def __init__(
        self, scorer: Scorer, candidates: int = 5, alone: float = 0.5, pair: float = 0.2, nothing: float = 0.5
    ) -> None:
        self.scorer, self.candidates = scorer, candidates
        self.name = f"listwise({scorer.name})"
        self.given = self.cuts = Cuts(alone, pair, nothing)

    @property
    def parameters(self) -> Mapping[str, float]:
        """{"alone", "pair", "nothing"}."""
        return asdict(self.cuts)

    def wrap(self, wrapper: Callable[[Scorer], Scorer]) -> bool:
        """Put `wrapper(scorer)` in the scorer's place."""
        self.scorer = wrapper(self.scorer)
        return True

    def untuned(self) -> Listwise:
        """With the cuts as given."""
        return Listwise(self.scorer, self.candidates, **asdict(self.given))

    def select(self, statements: Sequence[Listing]) -> list[Selection]:
        """A set of at most two each."""
        found, calls = self._best(statements)
        selections = []
        for best in found:
            if isinstance(best, str):
                selections.append(Selection(None, reason=best))
            else:
                chosen, score = best.choose(self.cuts)
                selections.append(Selection(chosen, (score,) * len(chosen)))
        return with_cost(selections, sum((call.cost for call in calls), Cost()))

    def tune(self, statements: Sequence[Listing], gold: Sequence[frozenset[int]]) -> None:
        """The cuts of the best F1 over documents, then of most exact selections, searched on quantiles of dev's scores.

        Of equals the middle one.
        """
        found, _ = self._best(statements)
        known = [(best, gold[i]) for i, best in enumerate(found) if not isinstance(best, str)]
        if not known:
            return
        single = np.array([best.single_score for best, _ in known])
        pair = np.array([best.pair_score for best, _ in known])
        cited = np.array([len(right) for _, right in known])
        single_hits = np.array([int(best.single in right) for best, right in known])
        pair_hits = np.array([len(right.intersection(best.pair)) for best, right in known])
        pair_sizes = np.array([len(best.pair) for best, _ in known])
        tried: list[tuple[tuple[float, int], Cuts]] = []
        for alone, gain in product(_steps(single, 1.0), _steps(pair - single, 0.0)):
            takes_pair = (single < alone) & (pair - single >= gain)
            score = np.where(takes_pair, pair, single)
            size, hits = np.where(takes_pair, pair_sizes, 1), np.where(takes_pair, pair_hits, single_hits)
            for nothing in _steps(np.concatenate([single, pair]), 1.0):
                chosen, right = np.where(score >= nothing, size, 0), np.where(score >= nothing, hits, 0)
                f1 = 2 * int(right.sum()) / max(1, int(chosen.sum() + cited.sum()))
                exact = int(((chosen == right) & (right == cited)).sum())
                tried.append(((f1, exact), Cuts(alone, gain, nothing)))
        most = max(quality for quality, _ in tried)
        best_cuts = [cuts for quality, cuts in tried if quality == most]
        self.cuts = best_cuts[len(best_cuts) // 2]

    def _best(self, statements: Sequence[Listing]) -> tuple[list[_Best | str], list[Scores]]:
        """Each listing's best document and pair, or why there is none; and the score calls."""
        alone = each_alone(statements)
        partial = score_premises(self.scorer, statements, alone, Support.PARTIAL)
        full = score_premises(self.scorer, statements, alone, Support.FULL)
        ranked, enough = by_listing(partial, statements), by_listing(full, statements)
        premises: list[tuple[int, tuple[int, ...]]] = []
        for at, values in enumerate(ranked):
            if not isinstance(values, str):
                top = sorted(np.argsort(-values, kind="stable")[: self.candidates].tolist())
                premises += [(at, both) for both in combinations(top, 2)]
        together = score_premises(self.scorer, statements, premises, Support.FULL)
        pairs: dict[int, list[tuple[tuple[int, ...], float, str]]] = {}
        for i, (at, both) in enumerate(premises):
            entry = both, float(together.values[i]), together.reasons.get(i, "no score")
            pairs.setdefault(at, []).append(entry)
        found: list[_Best | str] = []
        for at, (values, scores) in enumerate(zip(ranked, enough, strict=True)):
            made = pairs.get(at, [])
            missing = next((f"documents {[i + 1 for i in both]}: {why}" for both, s, why in made if np.isnan(s)), None)
            if isinstance(values, str) or isinstance(scores, str) or missing is not None:
                found.append(next(why for why in (values, scores, missing) if isinstance(why, str)))
                continue
            single = int(np.argmax(scores))
            both, score = max(((b, s) for b, s, _ in made), key=lambda entry: entry[1], default=((), 0.0))
            found.append(_Best(single, float(scores[single]), both, score))
        return found, [partial, full, together]


def _steps(values: np.ndarray, top: float) -> list[float]:
    """Candidates for a cut: quantiles of the values, and one above them all that nothing reaches."""
    quantiles = np.quantile(values, np.linspace(0, 1, STEPS)).tolist()
    return sorted({*map(float, quantiles), float(np.nextafter(max(top, float(values.max())), np.inf))})
