"""The published metrics' names and settings, without the code that runs them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def published_settings() -> dict[str, dict[str, Any]]:
    """Settings with their defaults, by metric."""
    settings: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "published.yaml").read_text("utf-8"))
    return settings
