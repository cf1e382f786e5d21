"""Selectors over any Scorer: the k best documents, all above a threshold, or one document or two that are enough."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations, product
from typing import Self

import numpy as np
from numpy.typing import NDArray

from citeverifier.cost import Cost
from citeverifier.metrics.decisions import ABOVE_ALL, Floats
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Listing, Scorer, Scores, Selection, Selector, with_cost

Premises = Sequence[tuple[int, tuple[int, ...]]]  # (which listing, positions of its documents)

LARGEST_K = 5
STEPS = 15  # candidates for each of list-wise selection's parameters: quantiles of what dev shows


def score_premises(scorer: Scorer, listings: Sequence[Listing], premises: Premises, level: Support) -> Scores:
    """One `score` call for premises made of the listings' documents."""
    pairs = []
    for at, positions in premises:
        listing = listings[at]
        name = f"list{at}/{','.join(map(str, positions))}"
        documents = tuple(listing.documents[i] for i in positions)
        pairs.append(Pair(name, name, name, listing.lang, name, listing.statement, documents, "list", listing.context))
    return scorer.score(pairs, level)


def each_alone(listings: Sequence[Listing]) -> list[tuple[int, tuple[int, ...]]]:
    """Every document of every listing as a premise of its own."""
    return [(at, (i,)) for at, listing in enumerate(listings) for i in range(len(listing.documents))]


def by_listing(scores: Scores, listings: Sequence[Listing]) -> list[Floats | str]:
    """The scores of `each_alone`, an array a listing; the reason instead where one of them is unscored."""
    result: list[Floats | str] = []
    start = 0
    for listing in listings:
        end = start + len(listing.documents)
        missing = next((i for i in range(start, end) if np.isnan(scores.values[i])), None)
        if missing is None:
            result.append(scores.values[start:end])
        else:
            result.append(f"document {missing - start + 1}: {scores.reasons.get(missing, 'no score')}")
        start = end
    return result


@dataclass(frozen=True)
class Choices:
    """What one statement may be given.

    `sets`: positions with their scores; the first set is empty. `scores`: what decides which set is taken.
    """

    sets: tuple[Mapping[int, float], ...]
    scores: tuple[float, ...]


class TunedSelector(Selector):
    """A Selector over a Scorer whose parameters are chosen on dev.

    Of all candidates those of the greatest F1 of citations are kept, of these the ones with most statements exactly
    right, of these the middle one. (By exact match alone a weak Scorer learns to cite nothing wherever many statements
    have nothing to cite.)

    A subclass says which sets of documents a statement may be given, which parameters there are to try, and which set
    is taken under given parameters.
    """

    def __init__(self, scorer: Scorer, **parameters: float) -> None:
        self.scorer = scorer
        self.name = f"{self.name}({scorer.name})"
        self.given = self.chosen = parameters

    @abstractmethod
    def choices(self, statements: Sequence[Listing]) -> tuple[list[Choices | str], Cost]:
        """Each statement's choices, or why it is unscored; and what asking cost."""

    @abstractmethod
    def candidates(self, scores: Floats) -> Iterable[Mapping[str, float]]:
        """Parameters to try, given the scores of all choices, a row a statement, padded with nan."""

    @abstractmethod
    def taken(self, scores: Floats, parameters: Mapping[str, float]) -> NDArray[np.intp]:
        """Which set each row's statement gets."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """The parameters in use, by name."""
        return self.chosen

    def wrap(self, wrapper: Callable[[Scorer], Scorer]) -> bool:
        """Put `wrapper(scorer)` in the scorer's place."""
        self.scorer = wrapper(self.scorer)
        return True

    def untuned(self) -> Self:
        """The same selector with its parameters as given."""
        same = copy(self)
        same.chosen = self.given
        return same

    def select(self, statements: Sequence[Listing]) -> list[Selection]:
        """The set that each statement gets."""
        choices, cost = self.choices(statements)
        known = [choice for choice in choices if not isinstance(choice, str)]
        taken = iter(self.taken(_rows([choice.scores for choice in known], np.nan), self.chosen).tolist())
        selections = []
        for choice in choices:
            if isinstance(choice, str):
                selections.append(Selection(None, reason=choice))
            else:
                cited = dict(sorted(choice.sets[next(taken)].items()))
                selections.append(Selection(tuple(cited), tuple(cited.values())))
        return with_cost(selections, cost)

    def tune(self, statements: Sequence[Listing], gold: Sequence[frozenset[int]]) -> None:
        """Choose the parameters; statements that the Scorer leaves unscored do not count."""
        choices, _ = self.choices(statements)
        known = [(choice, right) for choice, right in zip(choices, gold, strict=True) if not isinstance(choice, str)]
        if not known:
            return
        hits = _rows([[len(right & cited.keys()) for cited in choice.sets] for choice, right in known], 0)
        sizes = _rows([[len(cited) for cited in choice.sets] for choice, _ in known], 0)
        exact = _rows([[right == cited.keys() for cited in choice.sets] for choice, right in known], 0)
        wanted = sum(len(right) for _, right in known)
        scores = _rows([choice.scores for choice, _ in known], np.nan)
        each = np.arange(len(known))
        results = []
        for parameters in self.candidates(scores):
            at = self.taken(scores, parameters)
            cited = sizes[each, at].sum()
            f1 = 2 * hits[each, at].sum() / (cited + wanted) if cited + wanted else 0.0
            results.append(((f1, exact[each, at].sum()), parameters))
        best = max(result for result, _ in results)
        equally_good = [parameters for result, parameters in results if result == best]
        self.chosen = dict(equally_good[len(equally_good) // 2])


class _Ranking(TunedSelector):
    """Takes documents from the best down, each scored alone at level partial; of equals the one that comes first."""

    def choices(self, statements: Sequence[Listing]) -> tuple[list[Choices | str], Cost]:
        """As many sets as there are documents, each with the next best one more; and the empty set."""
        scores = score_premises(self.scorer, statements, each_alone(statements), Support.PARTIAL)
        return [v if isinstance(v, str) else _best_first(v) for v in by_listing(scores, statements)], scores.cost


class TopK(_Ranking):
    """The k documents of greatest P(support >= partial), k from 1 to 5.

    It always cites, so it cannot tell a twin, which has nothing to cite.

    Args:
        scorer: any Scorer.
        k: how many, untuned.
    """

    name = "top_k"

    def __init__(self, scorer: Scorer, k: int = 2) -> None:
        super().__init__(scorer, k=float(k))

    def candidates(self, scores: Floats) -> Iterable[Mapping[str, float]]:
        """Each k."""
        return [{"k": float(k)} for k in range(1, LARGEST_K + 1)]

    def taken(self, scores: Floats, parameters: Mapping[str, float]) -> NDArray[np.intp]:
        """The k best, or all where there are fewer."""
        return np.asarray(np.minimum(int(parameters["k"]), np.count_nonzero(~np.isnan(scores), axis=1)))


class AboveThreshold(_Ranking):
    """The documents whose P(support >= partial) reaches the threshold: what cite_separate decides.

    Args:
        scorer: any Scorer.
        threshold: untuned.
    """

    name = "threshold"

    def __init__(self, scorer: Scorer, threshold: float = 0.5) -> None:
        super().__init__(scorer, threshold=threshold)

    def candidates(self, scores: Floats) -> Iterable[Mapping[str, float]]:
        """Between any two scores, and beyond both ends."""
        values = np.unique(scores[~np.isnan(scores)])
        return [{"threshold": float(t)} for t in (0.0, *(values[1:] + values[:-1]) / 2, ABOVE_ALL)]

    def taken(self, scores: Floats, parameters: Mapping[str, float]) -> NDArray[np.intp]:
        """As many as reach it."""
        return np.asarray(np.count_nonzero(scores >= parameters["threshold"], axis=1))


class Listwise(TunedSelector):
    """One document that is enough, two that complete each other, or nothing.

    Every document is scored alone at both levels; the `candidates` of greatest P(support >= partial) are then scored in
    pairs at level full. Where the best document alone is enough it is cited; else the best pair, if its second document
    adds enough; nothing where neither supports the statement. A statement that cites three documents it cannot get
    right.

    Args:
        scorer: any Scorer whose scores mean something at both levels.
        candidates: documents that pairs are made of; k make k(k-1)/2 pairs.
        alone, pair, nothing: untuned, in terms of P(full support): from `alone` on a document by itself is enough,
            the second document must add `pair`, below `nothing` neither is cited.
    """

    name = "listwise"

    def __init__(
        self, scorer: Scorer, candidates: int = 5, alone: float = 0.5, pair: float = 0.2, nothing: float = 0.5
    ) -> None:
        super().__init__(scorer, alone=alone, pair=pair, nothing=nothing)
        self.paired = candidates

    def choices(self, statements: Sequence[Listing]) -> tuple[list[Choices | str], Cost]:
        """Nothing, the best document, the best pair; scored by the P(full support) of either."""
        alone = each_alone(statements)
        partial = score_premises(self.scorer, statements, alone, Support.PARTIAL)
        full = score_premises(self.scorer, statements, alone, Support.FULL)
        partial_by_listing, full_by_listing = by_listing(partial, statements), by_listing(full, statements)
        premises: list[tuple[int, tuple[int, ...]]] = []
        for at, values in enumerate(partial_by_listing):
            if not isinstance(values, str):
                best = sorted(np.argsort(-values, kind="stable")[: self.paired].tolist())
                premises += [(at, both) for both in combinations(best, 2)]
        together = score_premises(self.scorer, statements, premises, Support.FULL)
        pairs: dict[int, dict[tuple[int, ...], float]] = {}
        problems: dict[int, str] = {}
        for i, (at, both) in enumerate(premises):
            pairs.setdefault(at, {})[both] = float(together.values[i])
            if np.isnan(together.values[i]):
                problem = f"documents {[position + 1 for position in both]}: {together.reasons.get(i, 'no score')}"
                problems.setdefault(at, problem)
        result: list[Choices | str] = []
        for at, (some, whole) in enumerate(zip(partial_by_listing, full_by_listing, strict=True)):
            if isinstance(some, str):
                result.append(some)
            elif isinstance(whole, str):
                result.append(whole)
            else:
                result.append(problems[at] if at in problems else _one_or_two(whole, pairs.get(at, {})))
        return result, partial.cost + full.cost + together.cost

    def candidates(self, scores: Floats) -> Iterable[Mapping[str, float]]:
        """All combinations of quantiles."""
        single, pair = scores.T
        for alone, gain in product(_steps(single, 1.0), _steps(pair - single, 0.0)):
            for nothing in _steps(scores, 1.0):
                yield {"alone": alone, "pair": gain, "nothing": nothing}

    def taken(self, scores: Floats, parameters: Mapping[str, float]) -> NDArray[np.intp]:
        """0, 1 or 2: nothing, the best document, the best pair."""
        single, pair = scores.reshape(-1, 2).T
        takes_pair = (single < parameters["alone"]) & (pair - single >= parameters["pair"])
        supported = np.where(takes_pair, pair, single) >= parameters["nothing"]
        return np.where(supported, 1 + takes_pair, 0)


def _best_first(scores: Floats) -> Choices:
    order = [int(i) for i in np.argsort(-scores, kind="stable")]
    sets = [{i: float(scores[i]) for i in order[:size]} for size in range(len(order) + 1)]
    return Choices(tuple(sets), tuple(float(scores[i]) for i in order))


def _one_or_two(alone: Floats, pairs: Mapping[tuple[int, ...], float]) -> Choices:
    single = int(np.argmax(alone)) if len(alone) else None
    single_score = np.nan if single is None else float(alone[single])
    both, pair_score = max(pairs.items(), key=lambda entry: entry[1], default=((), np.nan))
    first = {} if single is None else {single: single_score}
    return Choices(({}, first, dict.fromkeys(both, pair_score)), (single_score, pair_score))


def _rows(values: Sequence[Sequence[float]], padding: float) -> Floats:
    """Lists of different lengths as rows of one array."""
    rows = np.full((len(values), max(map(len, values), default=0)), padding, dtype=np.float64)
    for row, entries in zip(rows, values, strict=True):
        row[: len(entries)] = entries
    return rows


def _steps(values: Floats, top: float) -> list[float]:
    """Candidates for a parameter: quantiles of the values, and one above them all that nothing reaches."""
    known = values[~np.isnan(values)]
    above = float(np.nextafter(max(top, known.max(initial=top)), np.inf))
    return sorted({*np.quantile(known, np.linspace(0, 1, STEPS)).tolist(), above}) if len(known) else [above]
