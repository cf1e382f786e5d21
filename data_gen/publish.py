"""Publishing a packed dataset on the hub. The token comes from the hub's own login or HF_TOKEN, never from a config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# What of an output folder is the dataset; stages' files and the review stay at home.
PUBLISHED = ("README.md", "*.jsonl", "parquet/*.parquet", "provenance.json")


def publish(folder: Path, repo_id: str, *, private: bool, api: Any = None) -> str:
    """Upload the dataset to `repo_id`, made where missing; returns its address. `api`: a huggingface_hub.HfApi."""
    if api is None:
        from huggingface_hub import HfApi

        api = HfApi()
    api.create_repo(repo_id, repo_type="dataset", private=private, exist_ok=True)
    api.upload_folder(
        repo_id=repo_id, repo_type="dataset", folder_path=str(folder), allow_patterns=list(PUBLISHED),
        ignore_patterns=["stages/*", "review/*"], commit_message="citeverifier data_gen",
    )  # fmt: skip
    return f"https://huggingface.co/datasets/{repo_id}"
