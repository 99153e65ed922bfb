"""When a request is sent again, and how long the client waits before that."""

import math
import random
import re
import time
from collections.abc import Callable
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import TypeVar

from ._errors import ApiError, NetworkError, PartnerNetworkError, RequestTimeout

# The first retry waits up to this long, each further one up to twice as long.
_BACKOFF_BASE = 0.5
# No retry waits less: a retry within milliseconds meets the same failure.
_BACKOFF_MIN = 0.1
_BACKOFF_CAP = 8.0

# Added at random to the time that a response asks to wait, so that clients do not return all at once.
_SPREAD = 0.1

# A number of hundreds of digits is infinite, which cannot be rounded.
_MAX_MS = 1e15

# If a response asks for a longer wait, the call fails at once and the caller decides.
_LONGEST_WAIT = 60.0

_RETRIED_STATUSES = (408, 429, 500, 502, 503, 504)

T = TypeVar("T")


def with_retries(max_retries: int, pause: Callable[[float], None], attempt_once: Callable[[int], T]) -> T:
    attempt = 1
    while True:
        try:
            return attempt_once(attempt)
        except PartnerNetworkError as error:
            wait = _wait_after(error, attempt)
            if attempt > max_retries or wait is None:
                raise
        pause(wait)
        attempt += 1


def _wait_after(error: PartnerNetworkError, attempt: int) -> float | None:
    """How long to wait before a retry, or None if the request is not sent again."""
    asked = 0.0
    if isinstance(error, ApiError):
        asked = error.retry_after or 0.0
        if error.status not in _RETRIED_STATUSES or asked > _LONGEST_WAIT:
            return None
    elif not isinstance(error, (NetworkError, RequestTimeout)):
        return None
    if asked > 0:
        return random.uniform(asked, asked + _SPREAD)
    # At random between the two, so that clients that failed together return apart.
    return random.uniform(_BACKOFF_MIN, min(_BACKOFF_CAP, _BACKOFF_BASE * 2.0 ** (attempt - 1)))


def hold_of(error: PartnerNetworkError) -> float | None:
    """How long a 429 makes all calls of its listing wait: they share the rate. None after other errors."""
    if not isinstance(error, ApiError) or error.status != 429:
        return None
    asked = error.retry_after or 0.0
    return 0.0 if asked > _LONGEST_WAIT else asked


def retry_after(headers: Message) -> float | None:
    """How long a response asks to wait: in milliseconds, in seconds, or until a time of day."""
    rough = headers.get("retry-after", "")
    # Also reads a fraction, or two values that a proxy joined. Rounded up to whole milliseconds.
    for text, per_second in ((headers.get("retry-after-ms", ""), 1_000), (rough, 1)):
        if found := re.match(r"(\d+(\.\d+)?)(,|$)", text, re.ASCII):
            return math.ceil(min(float(found[1]) * 1_000 / per_second, _MAX_MS)) / 1_000
    at = _http_time(rough)
    if at is None:
        return None
    # By the server's clock if it sent a time: ours may be an hour off.
    now = _http_time(headers.get("date", ""))
    return max(0.0, at - (time.time() if now is None else now))


def _http_time(text: str) -> float | None:
    """Reads only HTTP's own format: the parser makes a time of other texts too."""
    if not re.fullmatch(r"[A-Z]\w+, .* GMT", text):
        return None
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
