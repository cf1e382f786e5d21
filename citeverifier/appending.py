"""Files of JSON lines that grow line by line and survive kill -9: half a last line is cut off, no other is lost."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from citeverifier.records import RecordError

_SYNC_SECONDS = 1.0


class Appender:
    """Appends rows to a file, made where missing: each is flushed at once, and synced to disk every second.

    with Appender(path) as out:
        out.write({"id": "q1"})
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b")
        self._file.seek(0)
        self._file.truncate(sum(len(line) for line in self._file if line.endswith(b"\n")))
        self._synced = time.monotonic()

    def write(self, row: Mapping[str, Any]) -> None:
        """One more line."""
        self._file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def __enter__(self) -> Appender:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.fsync(self._file.fileno())
        self._file.close()


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of such a file, none where it is missing, and without a last line that was left half-written.

    Raises RecordError with file:line at a whole line that is no JSON.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield json.loads(line)
            except ValueError as error:
                raise RecordError(f"{path}:{number}: expected a line of a stage's file, got {error}") from None
