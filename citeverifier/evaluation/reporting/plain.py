"""Numbers as JSON holds them; files that are whole or not there."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """nan as null, floats rounded to six places, tuples as lists: valid JSON that compares."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 6)
    return value


def write_whole(path: Path, text: str) -> None:
    """Write a text file, which appears under its name only when it is whole."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    write_whole(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
