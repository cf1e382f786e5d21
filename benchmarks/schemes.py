"""What schemes cost: pairs shared between them, both shapes, and how cost grows.

    python benchmarks/schemes.py [--model DIR] [--examples 100] [--rounds 2]

(a) The five schemes one after the other with the shared score cache (cite_list by top_k), as `eval.py -m` runs them,
    against asking each alone: seconds, pairs asked, distinct pairs, pairs that were scored.
(b) cite_separate by late interaction, as it comes, in int8, in float32 and with onnxruntime, and by the cross-encoder
    on the same backbone: pairs a second. The last three take a third of the examples. Beside it the tokens that each
    reads: what sharing can give at most. Then late interaction and the cross-encoder by the number of statements, each
    over ten documents of 80 words.
(c) Seconds over the number of statements, of documents and over document length, and the slope of their logarithms (1 =
    linear), with a plot in outputs/benchmarks/schemes.png. Late interaction encodes each document once, so that more
    statements add little.

Medians of rounds; shared and alone, and both shapes, take turns within a round. Without --model late interaction is an
untrained head: cost does not depend on training, but cite_merged asks more where a verifier finds more supported.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from common import OUTPUT, Clock, examples, machine, save_model, write

from citeverifier.evaluation.run import run_scheme
from citeverifier.evaluation.schemes.cite_list import CiteList
from citeverifier.evaluation.schemes.cite_merged import CiteMerged
from citeverifier.evaluation.schemes.cite_separate import CiteSeparate
from citeverifier.evaluation.schemes.merged import Merged
from citeverifier.evaluation.schemes.separate import Separate
from citeverifier.evaluation.thresholds import DecisionThreshold
from citeverifier.models.onnx_files import onnx_files
from citeverifier.records import Document, Example, Statement, Support
from citeverifier.verifiers.cache import ScoreCache, with_cache
from citeverifier.verifiers.ordinal import OrdinalVerifier
from citeverifier.verifiers.selectors import TopK

SCHEMES: tuple[Any, ...] = (Merged(), Separate(), CiteSeparate(), CiteMerged(), CiteList())
HALF = {level: DecisionThreshold(0.5, "given") for level in (Support.PARTIAL, Support.FULL)}
STEPS = (1, 2, 4, 8)
AXES = ("statements", "documents", "document length")


def ask(scheme: Any, model: str, found: Sequence[Example], cache: Path | None, **options: Any) -> dict[str, float]:
    """Seconds and pairs of one scheme, by a verifier that has scored nothing yet."""
    verifier: Any = OrdinalVerifier(model, **options)
    if isinstance(scheme, CiteList):
        verifier = TopK(verifier)
    if cache is not None:
        verifier = with_cache(verifier, ScoreCache(cache))
    with Clock() as clock:
        _, cost = run_scheme(scheme, verifier, found, HALF)
    new = cost.distinct_pairs - cost.notes.get("cached", 0)
    return {
        "seconds": clock.wall, "processor": clock.processor, "pairs": cost.pairs, "distinct": cost.distinct_pairs,
        "scored": new, "tokens": cost.tokens,
    }  # fmt: skip


def sharing(model: str, found: Sequence[Example], rounds: int, folder: Path) -> dict[str, Any]:
    """(a)."""
    took: dict[str, dict[str, list[dict[str, float]]]] = {way: {s.name: [] for s in SCHEMES} for way in WAYS}
    for number in range(rounds):
        for way in WAYS if number % 2 == 0 else WAYS[::-1]:
            for scheme in SCHEMES:
                cache = folder / f"{number}.sqlite" if way == "shared" else None
                took[way][scheme.name].append(ask(scheme, model, found, cache))
    print(f"\n{'scheme':<16}{'pairs':>8}{'distinct':>10}{'alone s':>10}{'shared s':>10}{'scored':>8}")
    made: dict[str, Any] = {}
    for scheme in SCHEMES:
        alone, shared = (median(took[way][scheme.name]) for way in ("alone", "shared"))
        made[scheme.name] = {"alone": alone, "shared": shared}
        print(
            f"{scheme.name:<16}{alone['pairs']:>8.0f}{alone['distinct']:>10.0f}{alone['seconds']:>10.1f}"
            f"{shared['seconds']:>10.1f}{shared['scored']:>8.0f}"
        )
    for way in WAYS:
        made[f"{way}_seconds"] = sum(median(took[way][s.name])["seconds"] for s in SCHEMES)
    ratio = made["alone_seconds"] / made["shared_seconds"]
    print(f"all five: {made['alone_seconds']:.1f} s alone, {made['shared_seconds']:.1f} s shared, ratio {ratio:.2f}")
    return {**made, "ratio": ratio}


WAYS = ("alone", "shared")


def shapes(late: str, cross: str, found: Sequence[Example], rounds: int) -> dict[str, Any]:
    """(b)."""
    third = found[: max(1, len(found) // 3)]
    asked: dict[str, tuple[str, Sequence[Example], dict[str, Any]]] = {
        "late_interaction": (late, found, {}),
        "late, int8": (late, found, {"dtype": "int8"}),
        "late, float32": (late, third, {"dtype": "float32"}),
        "late, onnxruntime": (late, third, {"runtime": "onnx"}),
        "cross_encoder": (cross, third, {}),
    }
    took: dict[str, list[dict[str, float]]] = {shape: [] for shape in asked}
    for _ in range(rounds):
        for shape, (model, part, options) in asked.items():
            took[shape].append(ask(CiteSeparate(), model, part, None, **options))
    made: dict[str, Any] = {}
    print(f"\n{'cite_separate':<20}{'pairs':>8}{'pairs/s':>10}{'pairs/processor s':>20}{'tokens/pair':>13}{'ratio':>8}")
    cross_rate = statistics.median(row["pairs"] / row["seconds"] for row in took["cross_encoder"])
    for shape, rows in took.items():
        row = median(rows)
        made[shape] = {**row, "rate": row["pairs"] / row["seconds"], "work_rate": row["pairs"] / row["processor"]}
        made[shape]["ratio"] = made[shape]["rate"] / cross_rate
        print(
            f"{shape:<20}{row['pairs']:>8.0f}{made[shape]['rate']:>10.1f}{made[shape]['work_rate']:>20.1f}"
            f"{row['tokens'] / row['pairs']:>13.1f}{made[shape]['ratio']:>8.2f}"
        )
    made["ratio_by_statements"] = {}
    for statements in (2, 4, 6, 8):
        part = sized(found, statements, documents=10, words=80)
        seconds: dict[str, list[float]] = {late: [], cross: []}
        for _ in range(max(3, rounds)):
            for model in seconds:
                seconds[model].append(ask(CiteSeparate(include_corrupted=False), model, part, None)["seconds"])
        ratio = statistics.median(seconds[cross]) / statistics.median(seconds[late])
        made["ratio_by_statements"][statements] = ratio
        print(f"{statements} statements over ten documents: late interaction {ratio:.2f} times as fast")
    return made


def sized(found: Sequence[Example], statements: int, documents: int, words: int) -> list[Example]:
    """Four examples of so many statements and documents, each of so many words."""
    pool = " ".join(d.text for example in found for d in example.documents).split()
    texts = [s.text for example in found for s in example.statements]
    made = []
    for number in range(4):
        offset = number * documents * words
        parts = [pool[(offset + k * words) % (len(pool) - words) :][:words] for k in range(documents)]
        asked = [texts[(number * statements + k) % len(texts)] for k in range(statements)]
        own = tuple(Document(f"Title {k}", " ".join(part)) for k, part in enumerate(parts))
        bare = tuple(replace(PLAIN, text=text) for text in asked)
        made.append(Example(f"sized/{number}", "en", f"g{number}", "?", own, bare))
    return made


PLAIN = Statement(text="", citations=(0,), kind="plain")


def growth(models: dict[str, str], found: Sequence[Example], rounds: int) -> dict[str, Any]:
    """(c)."""
    base = {"statements": 2, "documents": 4, "document length": 50}
    scheme = CiteSeparate(include_corrupted=False)
    made: dict[str, Any] = {shape: {} for shape in models}
    print(f"\n{'seconds over':<18}{'shape':<18}" + "".join(f"{f'x{step}':>8}" for step in STEPS) + f"{'slope':>8}")
    for axis in AXES:
        took: dict[str, list[list[float]]] = {shape: [[] for _ in STEPS] for shape in models}
        for _ in range(rounds):
            for at, step in enumerate(STEPS):
                size = {**base, axis: base[axis] * step}
                asked = sized(found, size["statements"], size["documents"], size["document length"])
                for shape, model in models.items():
                    took[shape][at].append(ask(scheme, model, asked, None)["processor"])
        for shape in models:
            seconds = [statistics.median(values) for values in took[shape]]
            slope = float(np.polyfit(np.log(STEPS), np.log(seconds), 1)[0])
            made[shape][axis] = {"from": base[axis], "seconds": seconds, "slope": slope}
            print(f"{axis:<18}{shape:<18}" + "".join(f"{value:>8.2f}" for value in seconds) + f"{slope:>8.2f}")
    plot(made, OUTPUT / "schemes.png")
    return made


def plot(found: dict[str, Any], path: Path) -> None:
    """A panel an axis, a line a shape, and what linear growth would be."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(AXES), figsize=(3.2 * len(AXES), 3.0), sharey=True)
    for panel, axis in zip(panels, AXES, strict=True):
        for shape, rows in found.items():
            sizes = [rows[axis]["from"] * step for step in STEPS]
            panel.plot(sizes, rows[axis]["seconds"], marker="o", label=shape.replace("_", " "))
            linear = [rows[axis]["seconds"][0] * step for step in STEPS]
            panel.plot(sizes, linear, color="#999999", linewidth=0.8, linestyle=":")
        panel.set(xscale="log", yscale="log", xlabel=axis + (" (words)" if axis.endswith("length") else ""))
        panel.set_xticks(sizes, [str(size) for size in sizes])
        panel.minorticks_off()
    panels[0].set_ylabel("processor seconds (dotted: linear)")
    panels[0].legend(fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    print(f"-> {path}")


def median(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Column by column."""
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a late interaction checkpoint")
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        late = arguments.model or str(save_model(folder / "late", "late_interaction"))
        if not arguments.model:
            for name, content in onnx_files(folder / "late").items():
                (folder / "late" / name).write_bytes(content)
        cross = str(save_model(folder / "cross", "cross_encoder"))
        found, data = examples(arguments.examples)
        print(f"{len(found)} examples of {data}; {machine()}", flush=True)
        ask(CiteSeparate(), late, found[:2], None)
        result = {
            "data": data,
            "examples": len(found),
            "sharing": sharing(late, found, arguments.rounds, folder),
            "shapes": shapes(late, cross, found, arguments.rounds),
            "growth": growth({"late_interaction": late, "cross_encoder": cross}, found, arguments.rounds),
        }
    write("schemes", result)


if __name__ == "__main__":
    main()
