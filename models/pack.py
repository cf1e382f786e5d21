"""python models/pack.py CHECKPOINT: put a finished checkpoint into the citeverifier-minilm package, in half precision.

Its thresholds are fitted once more, on the dev parts of the sources whose statements people or authors wrote, asked as
verify asks them: one document at a time at level partial, documents together at level full (schemes/thresholds.py).
Scores are computed in bfloat16 or float32 whatever the file holds; fp16 halves the package.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from citeverifier.commands.sources import SourceSpec, read
from citeverifier.evaluation.thresholds import dev_questions, fit_thresholds
from citeverifier.verifiers.ordinal import OrdinalVerifier

PACKED = Path(__file__).parent / "citeverifier-minilm" / "citeverifier_minilm" / "model"
KEPT = ("head.safetensors", "tokenizer.json", "tokenizer_config.json")
SOURCES = ("hotpot_statements_train", "fever", "factcg", "poquad", "mini")


def pack(checkpoint: Path) -> None:
    """Copy a checkpoint's files, its weights as fp16, with thresholds fitted on dev."""
    records = [record for name in SOURCES for record in read(SourceSpec(name), "dev", "all", share_files=True)]
    fitted = fit_thresholds(OrdinalVerifier(str(checkpoint)), dev_questions(records, seed=13), ", ".join(SOURCES))
    config: dict[str, Any] = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    config["dtype"] = "float16"
    config["citeverifier"]["thresholds"] = {level.label: threshold.value for level, threshold in fitted.items()}
    PACKED.mkdir(parents=True, exist_ok=True)
    (PACKED / "config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for name in KEPT:
        shutil.copyfile(checkpoint / name, PACKED / name)
    report: dict[str, Any] = json.loads((checkpoint / "training.json").read_text(encoding="utf-8"))
    report["options"]["output_dir"] = checkpoint.name  # no path of one machine
    (PACKED / "training.json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    weights = {name: tensor.half() for name, tensor in load_file(checkpoint / "model.safetensors").items()}
    save_file(weights, PACKED / "model.safetensors", metadata={"format": "pt"})
    for level, threshold in fitted.items():
        print(f"threshold of {level.label}: {threshold.value:.4f}, {threshold.source}")
    for file in sorted(PACKED.iterdir()):
        print(f"{file.stat().st_size / 1e6:8.2f} MB  {file.name}")


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
