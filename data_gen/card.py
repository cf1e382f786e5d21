"""The dataset card, written from what was packed; and publishing the dataset on the hub."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citeverifier.evaluation.reporting.tables import markdown
from data_gen.pack import DATASETS, ENTRY, SPLITS, Packed, packed_rows

# What of an output folder is the dataset; stages' files and the review stay at home.
PUBLISHED = (
    "README.md",
    *(f"{beginning}{split}.jsonl" for beginning in DATASETS.values() for split in SPLITS),
    "parquet/*.parquet",
    "provenance.json",
)
_LICENCES = {"hotpotqa": "cc-by-sa-4.0", "mini": "cc-by-4.0"}


def dataset_card(
    packed: Packed, *, title: str, pipeline: str, settings: Mapping[str, Any], versions: Mapping[str, Any]
) -> str:
    """README.md of a dataset: what is in it, how to load it, who and what made it, what was left out."""
    unknown = sorted(source for source in packed.sources if source not in _LICENCES)
    return f"""---
{_front(packed, unknown)}
---

# {title}

Made by `python -m data_gen pipeline={pipeline}` of citeverifier {versions.get("citeverifier")}.
A pair is a statement, the documents it is checked against, and the bounds of its true support (none < partial < full).
An example is a question with its documents and the statements of its answer; `corrupted` is a statement's twin that the
documents no longer support.

Questions come from: {", ".join(f"{name} ({count:,} records)" for name, count in sorted(packed.sources.items()))}.
{f"The licence of {', '.join(unknown)} is to be stated by whoever publishes this." if unknown else ""}

## What is in it

{markdown(*packed_rows(packed))}

{_left_out(packed)}
## Models and prompts

{_makers(packed)}

{_reviews(packed)}
## Settings

```json
{json.dumps(settings, indent=1, ensure_ascii=False)}
```

## Files

{markdown(["file", "sha256"], [[f"`{name}`", f"`{value}`"] for name, value in sorted(packed.files.items())])}
"""


def _front(packed: Packed, unknown: list[str]) -> str:
    """The card's metadata: languages, licence, the files of each configuration."""
    from huggingface_hub import DatasetCardData

    licences = sorted({_LICENCES[source] for source in packed.sources if source in _LICENCES})
    configs = []
    for name in DATASETS:
        paths = sorted(path for path in packed.files if path.startswith(f"parquet/{name}_"))
        if paths:
            files = [{"split": Path(path).stem.removeprefix(f"{name}_"), "path": path} for path in paths]
            configs.append({"config_name": name, "data_files": files})
    return DatasetCardData(
        language=sorted({lang for _, _, lang, _ in packed.counts}),
        license=licences[0] if len(licences) == 1 and not unknown else "other",
        tags=["citation-verification", "attribution", "citeverifier"],
        configs=configs,
    ).to_yaml()


def _left_out(packed: Packed) -> str:
    rows = [[reason, f"{count:,}"] for reason, count in sorted(packed.left_out.items())]
    rows += [[f"fewer than asked for: {what}", how] for what, how in sorted(packed.short.items())]
    return f"{markdown(['left out in packing', 'number'], rows)}\n" if rows else ""


def _makers(packed: Packed) -> str:
    if not packed.makers:
        return "Statements and twins are the source's own; no model worked on them."
    rows = [
        [str(value or "-") for value in key] + [f"{count:,}"] for key, count in sorted(packed.makers.items(), key=str)
    ]
    return markdown([*ENTRY[:2], "parameters", *ENTRY[3:], "records"], rows)


def _reviews(packed: Packed) -> str:
    if not packed.reviews:
        return "No person has reviewed these records.\n"
    rows = [[decision, reviewer, f"{count:,}"] for (decision, reviewer), count in sorted(packed.reviews.items())]
    return f"## Review\n\n{markdown(['decision', 'reviewer', 'statements'], rows)}\n"


def publish(folder: Path, repo_id: str, *, private: bool) -> str:
    """Upload the dataset to `repo_id`, made where missing; returns its address.

    The token comes from the hub's own login or HF_TOKEN, never from a config.
    """
    from huggingface_hub import HfApi

    api = HfApi()
    api.create_repo(repo_id, repo_type="dataset", private=private, exist_ok=True)
    api.upload_folder(
        repo_id=repo_id, repo_type="dataset", folder_path=str(folder), allow_patterns=list(PUBLISHED),
        commit_message="citeverifier data_gen",
    )  # fmt: skip
    return f"https://huggingface.co/datasets/{repo_id}"
