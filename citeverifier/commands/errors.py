"""A user's mistake is one clear line and exit code 2, not a traceback (HYDRA_FULL_ERROR=1 shows it)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from citeverifier.extras import not_installed

_MISTAKES = (ValueError, OSError, ModuleNotFoundError)


def _is_mistake(cause: BaseException | None) -> bool:
    ours = isinstance(cause, ModuleNotFoundError) and (cause.name or "").partition(".")[0] == "citeverifier"
    return isinstance(cause, _MISTAKES) and not ours


@contextmanager
def plain_errors() -> Iterator[None]:
    """Print the message of a wrong input (ValueError), a missing file or model (OSError) or package, and exit with 2.

    Anything else is a bug of ours and keeps its traceback. In a sweep the error goes on to Hydra, which runs the other
    jobs before it reports the failed one.
    """
    from hydra.core.hydra_config import HydraConfig
    from hydra.errors import InstantiationException
    from hydra.types import RunMode

    try:
        yield
    except (*_MISTAKES, InstantiationException) as error:
        cause = error.__cause__ if isinstance(error, InstantiationException) else error
        sweep = HydraConfig.initialized() and HydraConfig.get().mode == RunMode.MULTIRUN
        if sweep or os.environ.get("HYDRA_FULL_ERROR") == "1" or not _is_mistake(cause):
            raise
        told = not_installed(cause.name) if isinstance(cause, ModuleNotFoundError) else cause
        print(f"error: {told}\n(HYDRA_FULL_ERROR=1 shows where)", file=sys.stderr)
        raise SystemExit(2) from None
