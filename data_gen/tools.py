"""What every stage may use: an LLM, a verifier, the seed. Each is made when first asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from citeverifier.data.splits import split_of
from citeverifier.llm.client import LLM
from citeverifier.llm.prompts import Prompt
from citeverifier.records import Example
from citeverifier.verifiers.base import Scorer


@dataclass(frozen=True)
class Tools:
    """`shares` are those of the splits; `before` is the file of the stage before; the settings are the verifier's."""

    llm: Callable[[], LLM]
    verifier: Callable[[], Scorer]
    seed: int
    shares: Mapping[str, float]
    before: Path | None = None
    verifier_settings: Mapping[str, Any] = field(default_factory=dict)

    def made_with(self, prompt: Prompt) -> dict[str, Any]:
        """The model and the prompt, for a record's meta: names, and hashes of parameters and text."""
        llm = self.llm()
        return {"model": llm.name, "fingerprint": llm.fingerprint, "prompt": prompt.name, "version": prompt.version}


def number_of(key: str) -> int:
    """A number for a key: the same in every run, evenly spread."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")


def split(example: Example, shares: Mapping[str, float]) -> str:
    """The split that a record's source names, else a share by hash of its group: the same for all of a group."""
    own = example.meta.get("split")
    return own if isinstance(own, str) and own in shares else split_of(example.group, shares)
