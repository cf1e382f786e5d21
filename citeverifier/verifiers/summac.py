"""SummaC (Laban et al. 2022; paper 2): NLI between each sentence of the premise and each of the statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from citeverifier.metrics.decisions import Floats
from citeverifier.models.device import Dtype, pretrained, runs_bf16
from citeverifier.records import Pair, Support
from citeverifier.verifiers.base import Scorer, Scores
from citeverifier.verifiers.nli import entailment_class
from citeverifier.verifiers.once import Once

# The published convolution's bins of P(entailment), closer where scores are frequent.
BINS = (
    0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, 0.90, 0.91, 0.92, 0.93, 0.94, 0.95, 0.955, 0.96, 0.965, 0.97, 0.975,
    0.98, 0.985, 0.99, 0.995, 1.0,
)  # fmt: skip


class SummaCZS(Scorer):
    """The mean, over the statement's sentences, of the greatest P(entailment) by any sentence of the premise.

    The original takes at most 100 sentences, drops those up to ten characters, cuts pairs at 500 tokens and, unless
    told otherwise, subtracts P(contradiction); here all sentences count, a long one is read in parts, and entailment
    alone counts. A maximum over single sentences cannot see that two of them are needed. One score answers both levels.

    Args:
        path: hub id or folder of an NLI classifier.
        max_length: tokens a pair of sentences may have; less where the model takes less.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.

    Raises:
        ValueError: no class named entailment in the model's config.
    """

    name = "summac_zs"

    def __init__(self, path: str, max_length: int = 512, dtype: Dtype = "auto") -> None:
        from citeverifier.models.grid import mean_of_greatest

        self._matrix = _SentenceNli(path, max_length, dtype, mean_of_greatest)

    @cached_property
    def fingerprint(self) -> str:
        """Of the model's files (on the hub: its commit), the length limit and the number format."""
        return self._matrix.fingerprint(self.name)

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """Scores in [0, 1]; equal pairs are scored once, and known ones not again."""
        return self._matrix.once.score(pairs, level)


class SummaCConv(Scorer):
    """A histogram of P(entailment) over the premise's sentences for each of the statement's, weighed and averaged.

    As `SummaCZS`, with the published weights (one for each of 23 bins; then two classes) instead of the maximum. The
    original looks at the first ten sentences of a statement, this at all.

    Args:
        path: hub id or folder of the NLI classifier that the weights were fitted with.
        weights: their file, `summac_conv_vitc_sent_perc_e.bin` of the SummaC repository; only tensors are read.
        max_length: tokens a pair of sentences may have; less where the model takes less.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.

    Raises:
        FileNotFoundError: no weights, with where they are.
        ValueError: weights of another shape; no class named entailment in the model's config.
    """

    name = "summac_conv"

    def __init__(self, path: str, weights: str | None, max_length: int = 512, dtype: Dtype = "auto") -> None:
        fold = convolution(weights)
        self.weights = str(weights)
        self._matrix = _SentenceNli(path, max_length, dtype, fold)

    @cached_property
    def fingerprint(self) -> str:
        """Of the model's files (on the hub: its commit), the weights, the length limit and the number format."""
        import hashlib

        return self._matrix.fingerprint(self.name, hashlib.sha256(Path(self.weights).read_bytes()).hexdigest())

    def score(self, pairs: Sequence[Pair], level: Support) -> Scores:
        """Scores in [0, 1]; equal pairs are scored once, and known ones not again."""
        return self._matrix.once.score(pairs, level)


def convolution(weights: str | None) -> Callable[[Floats], float]:
    """What folds a (premise sentences, statement sentences) matrix by the weights of a file."""
    if weights is None or not Path(weights).is_file():
        raise FileNotFoundError(
            f"verifier.weights: expected the file summac_conv_vitc_sent_perc_e.bin of github.com/tingofurro/summac, "
            f"came {weights}; download it, and give its path"
        )
    import torch

    state = torch.load(weights, map_location="cpu", weights_only=True)
    shapes = {
        "mlp.weight": (1, len(BINS) - 1),
        "mlp.bias": (1,),
        "layer_final.weight": (2, 3),
        "layer_final.bias": (2,),
    }
    came = {name: tuple(tensor.shape) for name, tensor in state.items()}
    if came != shapes:
        raise ValueError(f"{weights}: expected tensors {shapes}, came {came}")
    bins, bias, final, last = (state[name].double().numpy() for name in shapes)

    def fold(matrix: Floats) -> float:
        rows = [np.histogram(column, bins=BINS)[0] @ bins[0] + bias[0] for column in matrix.T]
        none, some = final.sum(axis=1) * np.mean(rows) + last  # the three features are all the mean
        return float(1 / (1 + np.exp(none - some)))

    return fold


class _SentenceNli:
    """P(entailment) of every sentence of the premise with every one of the statement, folded."""

    def __init__(self, path: str, max_length: int, dtype: Dtype, fold: Callable[[Floats], float]) -> None:
        from transformers import AutoModelForSequenceClassification

        from citeverifier.models.checkpoint import load_tokenizer, position_limit
        from citeverifier.models.grid import MARGIN, Chunks, Grid, beside, by_sentence, classifier_cells

        self.path, self.max_length = path, max_length
        self.bf16 = runs_bf16(dtype)
        self.model = pretrained(AutoModelForSequenceClassification, path, self.bf16)
        tokenizer = load_tokenizer(path, None)
        limit = min(max_length, position_limit(self.model.config))
        room = beside(limit, limit, tokenizer.num_special_tokens_to_add(pair=True) + MARGIN)
        cells = classifier_cells(self.model, tokenizer, entailment_class(path, self.model.config.id2label))
        grid = Grid(cells, Chunks(tokenizer, room, by_sentence=True), by_sentence, fold)
        self.once = Once(grid.logits, context=False)

    def fingerprint(self, *settings: str) -> str:
        from citeverifier.models.checkpoint import model_fingerprint

        return model_fingerprint(self.path, self.model.config, *settings, self.max_length, self.bf16)
