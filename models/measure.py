"""python models/measure.py VERIFIER OUT: what docs/results.md and the card print of the shipped verifier, in one table.

VERIFIER is a checkpoint or citeverifier-small; OUT a folder. Runs that are there already are left as they are, so that
it goes on where it was stopped. About twenty minutes on two cores; CITEVERIFIER_REAL_DATA names the real data
(docs/data.md). `python benchmarks/calibration.py OUT` then says how far scores stand from the share that is true.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from citeverifier.evaluation.reporting.tables import print_table

METRICS = ("auroc", "f1", "macro_f1", "accuracy", "twin_accuracy", "exact")
LISTS = "verifier=listwise scheme=cite_list"


def runs() -> dict[str, str]:
    """eval.py's arguments by the name of a run's folder."""
    found = {}
    for lang in ("en", "pl"):
        for data, fit in (("hotpot_statements", "fit=[mini]" if lang == "pl" else ""), ("mini", "")):
            for scheme in ("merged", "separate", "cite_separate"):
                found[f"{data}-{scheme}-{lang}"] = f"data={data} lang={lang} scheme={scheme}"
            found[f"{data}-cite_list-{lang}"] = f"data={data} lang={lang} {LISTS} {fit}"
    for data in ("fever", "wice", "attributionbench"):
        found[data] = f"data={data} scheme=pairs"
    found["fever-untitled"] = "data=fever data.titles=false scheme=pairs"
    found["poquad"] = "data=poquad lang=pl scheme=pairs"
    for name in ("vitaminc", "vitaminc_fever", "snli_cad", "bump", "condaqa"):
        found[name] = f"data=natural data.name={name} scheme=pairs"
    for name, wording in (("close_reading", "close"), ("plain", "plain"), ("turned", "turned")):
        found[name] = f"data=close_reading data.wording={wording} lang=all scheme=pairs"
    return found | {"everyday": "data=everyday lang=all scheme=pairs"}


def measured(folder: Path) -> list[tuple[str, ...]]:
    """A row a level of a run: "value [low, high]" of each of METRICS that it has."""
    summary = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    parts = summary["settings"] if summary["scheme"] == "pairs" else {"": summary}
    return [
        (f"{folder.name} {level}".strip(), *(_shown(part, metric) for metric in METRICS))
        for level, part in parts.items()
    ]


def _shown(part: dict[str, Any], metric: str) -> str:
    value = part["metrics"].get(metric)
    if value is None:
        return "-"
    low, high = part["intervals"][metric]
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def main(verifier: str, out: Path) -> None:
    """Run what is missing, then print the table."""
    for name, arguments in runs().items():
        where = "verifier.scorer.path" if LISTS in arguments else "verifier.path"
        settings = [f"{where}={verifier}", f"hydra.run.dir={out / name}", "cache=null", "resume=true"]
        subprocess.run(
            [sys.executable, "eval.py", *arguments.split(), *settings], check=True, stdout=subprocess.DEVNULL
        )
        print(f"{name}: done", flush=True)
    print_table("measured", ("run", *METRICS), [row for name in runs() for row in measured(out / name)])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"expected VERIFIER OUT, got {' '.join(sys.argv[1:]) or 'nothing'}")
    main(sys.argv[1], Path(sys.argv[2]))
