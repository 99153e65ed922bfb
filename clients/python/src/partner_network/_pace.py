"""Limits the requests per second of one listing, over all threads."""

import math
import threading
import time
from collections import deque

# The service counts requests per second; 1 % more allows for clocks that drift.
_WINDOW = 1.01

# How much the rate grows per second of full use. The number was measured with the JavaScript client.
_GROWTH = 4


class Pace:
    """Limits requests per second, however long each one takes.

    The service counted a request at some time before its response arrived, so its slot becomes free one
    second after the response. A 429 means that other clients use the same rate: it is halved, and grows
    again with each page, so that the clients find their shares.
    """

    def __init__(self, rate: float) -> None:
        self._most = rate or math.inf
        self._rate = self._most
        self._held_until = 0.0
        self._halved_until = 0.0
        #: When the slot of each answered request becomes free, oldest first.
        self._free_at: deque[float] = deque()
        self._is_closed = False
        self.begin()

    def begin(self) -> None:
        """Begins without requests under way and waits: a forked process has no thread that ends them."""
        self._taken = len(self._free_at)
        #: Waiting threads in their order: retries, so that calls finish before others begin, and the rest.
        self._waiting: tuple[deque[object], deque[object]] = (deque(), deque())
        self._changed = threading.Condition()

    def take(self, is_retry: bool) -> None:
        """Returns when a request may be sent. Call `release` when the request is over."""
        ticket = object()
        line = self._waiting[0 if is_retry else 1]
        with self._changed:
            line.append(ticket)
            try:
                while not self._is_closed and (wait := self._wait_of(ticket)) != 0:
                    self._changed.wait(wait)
                self._taken += 1
            finally:
                line.remove(ticket)
                self._changed.notify_all()

    def close(self) -> None:
        """Ends all waits. The transport then refuses the requests."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _wait_of(self, ticket: object) -> float | None:
        """How long to wait before the next look: 0 if the request may be sent, None until a change."""
        now = time.monotonic()
        while self._free_at and self._free_at[0] <= now:
            self._free_at.popleft()
            self._taken -= 1
        if (self._waiting[0] or self._waiting[1])[0] is not ticket:
            return None
        if now < self._held_until:
            return self._held_until - now
        if self._taken < self._rate:
            return 0
        return self._free_at[0] - now if self._free_at else None

    def release(self, is_page: bool, hold: float | None) -> None:
        """Ends a request. A page lets the rate grow. `hold` is how long a 429 asks every call to wait."""
        with self._changed:
            now = time.monotonic()
            self._free_at.append(now + _WINDOW)
            if is_page:
                self._rate = min(self._most, self._rate + _GROWTH / self._rate)
            if hold is not None:
                self._held_until = max(self._held_until, now + hold)
                # Once for all calls that were refused together.
                if now >= self._halved_until:
                    self._rate = self._rate if self._rate == math.inf else math.ceil(self._rate / 2)
                    self._halved_until = now + max(hold, _WINDOW)
            self._changed.notify_all()
