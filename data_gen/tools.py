"""What every stage may use: an LLM, a verifier, the seed. Each is made when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citeverifier.llm.client import LLM
from citeverifier.llm.prompts import Prompt
from citeverifier.verifiers.base import Scorer


@dataclass(frozen=True)
class Tools:
    """`folder` holds the stages' files; `before` is the file of the stage before; `shares` are those of the splits."""

    llm: Callable[[], LLM]
    verifier: Callable[[], Scorer]
    seed: int
    shares: Mapping[str, float]
    folder: Path
    before: Path | None = None

    def made_with(self, prompt: Prompt) -> dict[str, Any]:
        """The model and the prompt, for a record's meta: names, and hashes of parameters and text."""
        llm = self.llm()
        return {"model": llm.name, "fingerprint": llm.fingerprint, "prompt": prompt.name, "version": prompt.version}
