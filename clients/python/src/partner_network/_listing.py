"""Lists that follow cursors."""

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Generic
from urllib.parse import urlencode

from ._answer import Answer, answer_in
from ._errors import ApiError, PartnerNetworkError
from ._options import Settings
from ._pace import Pace
from ._retry import hold_of, with_retries
from ._transport import Transport
from ._wire import Record, record_of

# Cursors that a walk remembers. A service that sends one of them again would make the walk endless.
_REMEMBERED_CURSORS = 100

# After a rotation of the cursor key, instances need up to this long to agree which cursors are valid.
_RESTART_DELAY = 1.0

Params = Mapping[str, str | int | None]


@dataclasses.dataclass(frozen=True)
class Page(Generic[Record]):
    """A page of a list."""

    items: tuple[Record, ...]
    #: None on the last page.
    cursor: str | None
    #: Identifies the response.
    request_id: str | None


class PageList(Generic[Record]):
    """The records of all pages. Sends no request before it is iterated over. Each iteration is a new walk."""

    def __init__(
        self, listing: "Listing", kind: type[Record], params: Params, pause: Callable[[float], None]
    ) -> None:
        self._listing = listing
        self._kind: type[Record] = kind
        self._params = params
        self._pause = pause

    def __iter__(self) -> Iterator[Record]:
        for page in self.pages():
            yield from page.items

    def pages(self) -> Iterator[Page[Record]]:
        """Iterates over the pages. Only the cursor ends a walk: a page may be empty.

        If the service refuses a cursor of the walk, the walk starts again, once, and leaves out the records
        that it already returned.
        """
        params = dict(self._params)
        cursors: deque[str | int | None] = deque(maxlen=_REMEMBERED_CURSORS)
        last_id: str | None = None
        is_restarted = is_skipping = False
        while True:
            answer = self._answer(params, may_restart=not is_restarted and last_id is not None)
            if answer is None:
                self._pause(_RESTART_DELAY)
                params["cursor"] = None
                cursors.clear()
                is_restarted = is_skipping = True
                continue
            items = tuple(record_of(self._kind, item) for item in answer.items)
            if is_restarted and last_id is not None:
                # Listings are sorted by the bytes of the id in UTF-8, which is the order of code points.
                items = tuple(item for item in items if str(item.id) > last_id)
            if items:
                last_id = str(items[-1].id)
                is_skipping = False
            if not is_skipping or answer.cursor == "":
                yield Page(items, answer.cursor or None, answer.request_id)
            if answer.cursor == "":
                return
            cursors.append(params.get("cursor"))
            if answer.cursor in cursors:
                repeated = f"The service repeated a cursor of {self._listing.name}"
                raise PartnerNetworkError(f"{repeated}, so the walk would not end.")
            params["cursor"] = answer.cursor

    def _answer(self, params: Params, may_restart: bool) -> Answer | None:
        """The answer, or None if the walk must start again."""
        try:
            return self._listing.request(params)
        except ApiError as error:
            if error.code != "INVALID_CURSOR" or not may_restart:
                raise
        return None


class Listing:
    """The requests of one listing. They share one pace, because the service counts them together."""

    def __init__(self, transport: Transport, settings: Settings, name: str, rate: int) -> None:
        self.name = name
        self._transport = transport
        self._settings = settings
        self.pace = Pace(rate if settings.max_rate is None else settings.max_rate)
        transport.paces.append(self.pace)

    def list(self, kind: type[Record], **params: str | int | None) -> PageList[Record]:
        return PageList(self, kind, params, self._transport.pause)

    def request(self, params: Params) -> Answer:
        given = {name: value for name, value in params.items() if value is not None}
        # The service refuses broken UTF-8 by the name of its parameter.
        query = urlencode(given, errors="surrogatepass")
        target = f"{self._settings.path}/{self.name}" + (f"?{query}" if query else "")
        return with_retries(
            self._settings.max_retries, self._transport.pause, lambda attempt: self._attempt(target, attempt)
        )

    def _attempt(self, target: str, attempt: int) -> Answer:
        self.pace.take(is_retry=attempt > 1)
        is_page, hold = False, None
        try:
            answer = answer_in(self._transport.get(target), self.name, self._settings)
            is_page = True
            return answer
        except PartnerNetworkError as error:
            hold = hold_of(error)
            raise
        finally:
            self.pace.release(is_page, hold)
