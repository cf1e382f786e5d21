"""Folders laid out as datasets of the hub: as main has them, with a card, or as the hub's own parquet copy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from citeverifier.data.mini import load_mini

Row = dict[str, Any]
LAYOUTS = ("main", "copy")


def hub_folder(folder: Path, layout: str, config: str = "default", **splits: list[Row]) -> str:
    """Write the splits as one configuration (call again for another); returns the folder's path."""
    import datasets

    datasets.utils.disable_progress_bars()
    name = "{split}-00000-of-00001" if layout == "main" else "{split}/0000"
    for split, rows in splits.items():
        file = folder / config / f"{name.format(split=split)}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        datasets.Dataset.from_list(rows).to_parquet(file)
    if layout == "main":
        configs = [
            {
                "config_name": one.name,
                "data_files": [{"split": f.name.split("-")[0], "path": f"{one.name}/{f.name}"} for f in one.iterdir()],
            }
            for one in sorted(folder.iterdir())
            if one.is_dir()
        ]
        (folder / "README.md").write_text(f"---\n{json.dumps({'configs': configs})}\n---\n", encoding="utf-8")
    return str(folder)


def hotpotqa_row(number: int) -> Row:
    """A row of HotpotQA's hub features: a question over ten documents, two gold, that shares none with other rows."""
    example = load_mini("train", "en")[number % 60]
    titles = [f"{document.title} {number}" for document in example.documents]
    sentences = [
        [f"{title} was founded in {1500 + number} by Anna Nowak.", document.text]
        for title, document in zip(titles, example.documents, strict=True)
    ]
    return {
        "id": f"q{number}",
        "question": f"In which year was {titles[0]} founded?",
        "answer": str(1500 + number),
        "type": "bridge",
        "level": "hard",
        "supporting_facts": {"title": titles[:2], "sent_id": [0, 0]},
        "context": {"title": titles, "sentences": sentences},
    }
