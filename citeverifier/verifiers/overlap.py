"""Overlap features with logistic regression: the floor that counts numbers, names, rare words and word pairs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import Any

from citeverifier.cost import Cost
from citeverifier.data.perturb import names, numbers
from citeverifier.records import Pair, Support
from citeverifier.text.language import language
from citeverifier.text.rendering import render_document
from citeverifier.text.sentences import sentences
from citeverifier.text.words import words
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.fitted import LevelClassifiers


class Overlap(Scorer):
    """What of a statement its premise holds, seven shares, weighed by one classifier a level fitted on training pairs.

    The shares, 1 where there is nothing to hold: words (without stop words), words weighed by idf (of the training
    documents), word pairs, numbers, names' words, words in the best single sentence, and the rarest missing word's idf.
    """

    name = "overlap"
    needs_training_pairs = True

    def __init__(self) -> None:
        self._models = LevelClassifiers(self.name)
        self._idf: Mapping[str, float] = {}
        self._rarest = 1.0

    def fit(self, pairs: Sequence[Pair]) -> None:
        """Fit idf on the documents and the classifiers on the labels; raises ValueError where a level lacks a class."""
        texts = {render_document(document) for pair in pairs for document in pair.documents}
        counts = Counter(word for text in texts for word in set(words(text)))
        self._idf = {word: math.log((1 + len(texts)) / (1 + count)) for word, count in counts.items()}
        self._rarest = math.log(1 + len(texts)) or 1.0
        self._models.fit(pairs, [self._features(pair) for pair in pairs], _classifier)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """The classifier's probability; raises RuntimeError before `fit`."""
        distinct = len({(pair.statement, pair.documents) for pair in pairs})
        return Scores(
            self._models.probabilities([self._features(pair) for pair in pairs], level),
            cost=Cost(distinct_pairs=distinct),
        )

    def _features(self, pair: Pair) -> list[float]:
        stop = language(pair.lang).stop_words
        documents = [_read(render_document(document), pair.lang) for document in pair.documents]
        said = words(pair.statement)
        held = {word for read, _ in documents for word in read}
        couples = {couple for read, _ in documents for couple in pairwise(read)}
        asked = [word for word in dict.fromkeys(said) if word not in stop]
        weights = {word: self._idf.get(word, self._rarest) for word in asked}
        missing = [weights[word] for word in asked if word not in held]
        named = {word for name in names(pair.statement, pair.lang) for word in words(name)}
        counted = {word for number in numbers(pair.statement) for word in words(number)}
        best = max((_share(asked, sentence) for _, split in documents for sentence in split), default=0.0)
        return [
            _share(asked, held),
            1 - sum(missing) / (sum(weights.values()) or 1.0),
            _share(list(pairwise(said)), couples),
            _share(sorted(counted), held),
            _share(sorted(named), held),
            best,
            max(missing, default=0.0) / self._rarest,
        ]


@lru_cache(maxsize=20_000)
def _read(text: str, lang: str) -> tuple[list[str], list[set[str]]]:
    """The words of a document, and those of each of its sentences."""
    return words(text), [set(words(sentence)) for sentence in sentences(text, lang)]


def _share(asked: Sequence[Any], held: Set[Any]) -> float:
    return sum(item in held for item in asked) / len(asked) if asked else 1.0


def _classifier() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
