"""When a call is tried again, and after how long. Plain rules; `servers.py` follows them.

The openai client's own retries are switched off: they go to the same server again, leave the other requests to run into
the same limit, count as one call, and their timeout is one between two bytes.
"""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Mapping

RETRIED = frozenset({408, 409, 429})  # and every 5xx
FATAL = frozenset({401, 402, 403, 404, 405})  # no other request would fare better
FIRST_WAIT = 0.5  # seconds; doubled by every further failure
LONGEST_WAIT = 30.0
LONGEST_RETRY_AFTER = 300.0  # a server that wants more is not waited for


def retried(status: int) -> bool:
    """Whether a later attempt may do better."""
    return status in RETRIED or status >= 500


def backoff(failures: int) -> float:
    """Seconds to wait after the n-th failure in a row (1 = first): doubling, half of it by chance."""
    wait: float = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 30))
    return wait * random.uniform(0.5, 1.0)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the answer asks to wait, from retry-after-ms or Retry-After (seconds or a date); None without."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / unit
        except ValueError:
            date = email.utils.parsedate_tz(value)
            if date is None:
                continue
            seconds = email.utils.mktime_tz(date) - time.time()
        if seconds > 0:  # 0, a date gone by and "nan" ask for nothing
            return seconds
    return None
