"""Sends requests over one kept connection per thread."""

import dataclasses
import http.client
import io
import os
import selectors
import socket
import ssl
import threading
import time
import weakref
from email.message import Message
from typing import Any

from ._errors import PartnerNetworkError
from ._options import Settings
from ._pace import Pace

# Far larger than any page. Keeps an endless response of another server from filling the memory.
_MAX_BODY_BYTES = 64 * 1_024 * 1_024
_PIECE_BYTES = 64 * 1_024

# A server or a firewall may drop a connection that is idle for longer.
_MAX_IDLE = 4.0


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """What arrived of a response. `headers` is None without a response, `body` if it is not whole."""

    status: int = 0
    headers: Message | None = None
    body: bytes | None = dataclasses.field(default=None, repr=False)
    failure: Exception | None = dataclasses.field(default=None, repr=False)


class Transport:
    """The connections of a client. `close` ends idle connections and all waits."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        #: The paces of the listings, whose waits end with the connections.
        self.paces: list[Pace] = []
        self._begin(is_closed=False)
        _transports.add(self)

    def _begin(self, is_closed: bool) -> None:
        self._context: ssl.SSLContext | None = None
        self._own = threading.local()
        self._all: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        if is_closed:
            self._closed.set()

    def after_fork(self) -> None:
        """Begins without connections in a forked process. Threads that it does not have may hold its locks."""
        inherited = list(self._all)
        self._begin(self._closed.is_set())
        for pace in self.paces:
            pace.begin()
        for connection in inherited:
            connection.leave()

    def pause(self, seconds: float) -> None:
        if self._closed.wait(seconds):
            raise PartnerNetworkError("The client is closed.")

    def close(self) -> None:
        self._closed.set()
        for pace in self.paces:
            pace.close()
        with self._lock:
            connections = list(self._all)
        for connection in connections:
            # A busy connection is closed by its own thread, after its response.
            if connection.busy.acquire(blocking=False):
                connection.close()
                connection.busy.release()

    def get(self, target: str) -> Reply:
        """Sends a request once. A failure of the network is part of the reply."""
        self.pause(0)
        connection = self._connection()
        with connection.busy:
            reply = connection.get(target)
        if self._closed.is_set():
            connection.close()
        return reply

    def _connection(self) -> "_Connection":
        own: _Connection | None = getattr(self._own, "connection", None)
        if own is None:
            with self._lock:
                if self._settings.scheme == "https" and self._context is None:
                    self._context = ssl.create_default_context()
                    self._context.set_alpn_protocols(["http/1.1"])
                own = self._own.connection = _Connection(self._settings, self._context)
                self._all.add(own)
        return own


#: The transports of all clients, for a process that forks.
_transports: weakref.WeakSet[Transport] = weakref.WeakSet()


def _after_fork() -> None:
    for transport in list(_transports):
        transport.after_fork()


# Windows has no forks.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Connection:
    """The connection of one thread, which is opened again when it is no longer usable."""

    def __init__(self, settings: Settings, context: ssl.SSLContext | None) -> None:
        self.busy = threading.Lock()
        self._settings = settings
        self._context = context
        kind = http.client.HTTPConnection if context is None else http.client.HTTPSConnection
        self._http = kind(settings.host, settings.port)
        self._used_at = 0.0

    def close(self) -> None:
        self._http.close()

    # A thread that ends leaves no open socket behind.
    __del__ = close

    def leave(self) -> None:
        """Closes a forked process's copy of the socket. Two processes must not read from one connection.

        `close` could wait for ever: a thread of the other process may hold the lock of the response.
        """
        if self._http.sock is not None:
            os.close(self._http.sock.detach())

    def get(self, target: str) -> Reply:
        deadline = time.monotonic() + self._settings.timeout
        reply = Reply()
        is_whole = False
        headers = {"Accept": "application/json", "Authorization": f"Bearer {self._settings.api_key}"}
        try:
            self._open(deadline)
            self._http.request("GET", target, headers=headers)
            response = self._http.getresponse()
            reply = Reply(response.status, response.headers)
            body = _body_of(response)
            # A body may still follow these.
            is_whole = body is not None and response.status not in (204, 304)
            reply = dataclasses.replace(reply, body=body)
        except (OSError, http.client.HTTPException, ValueError) as failure:
            reply = dataclasses.replace(reply, failure=failure)
        finally:
            # Also after Ctrl-C: the rest of a response must not be read as the next one.
            if not is_whole:
                self.close()
            self._used_at = time.monotonic()
        return reply

    def _open(self, deadline: float) -> None:
        sock: socket.socket | None = self._http.sock
        if sock is not None and (time.monotonic() - self._used_at > _MAX_IDLE or _is_readable(sock)):
            self.close()
            sock = None
        if sock is None:
            sock = self._http.sock = self._connect(deadline)
        sock.settimeout(_left(deadline))
        # http.client calls this with the socket, and wants only its makefile().
        timed: Any = _Timed
        make: Any = lambda given, **rest: _Response(timed(given, deadline), **rest)
        self._http.response_class = make

    def _connect(self, deadline: float) -> socket.socket:
        host, port = self._settings.host, self._settings.port
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for tried, (*_, address) in enumerate(addresses):
            try:
                # Each address gets its share of the time.
                share = _left(deadline) / (len(addresses) - tried)
                sock = socket.create_connection(address[:2], timeout=share)
                break
            except OSError:
                if tried == len(addresses) - 1:
                    raise
        if self._context is None:
            return sock
        sock.settimeout(_left(deadline))
        return self._context.wrap_socket(sock, server_hostname=host)


class _Response(http.client.HTTPResponse):
    """Skips interim responses, such as 103. Python would take the first for the final response."""

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            read: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
            if not 101 < read[1] < 200:
                return read
            http.client.parse_headers(self.fp)


class _Timed(io.RawIOBase):
    """Reads from a socket until a deadline, and a limited number of bytes.

    A timeout of the socket itself begins again with each byte.
    """

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._socket = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = deadline
        # Chunks and headers need bytes of their own.
        self._bytes_left = 2 * _MAX_BODY_BYTES

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(_left(self._deadline))
        size = self._raw.readinto(buffer)
        self._bytes_left -= size or 0
        if self._bytes_left < 0:
            raise http.client.HTTPException("too long")
        return size

    def close(self) -> None:
        self._raw.close()
        super().close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _is_readable(sock: socket.socket) -> bool:
    """Whether an idle connection has something to read: it was closed, or is out of step."""
    if isinstance(sock, ssl.SSLSocket) and sock.pending():
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _body_of(response: http.client.HTTPResponse) -> bytes | None:
    """Reads the body, or None if it is too long."""
    body = bytearray()
    while piece := response.read(_PIECE_BYTES):
        body += piece
        if len(body) > _MAX_BODY_BYTES:
            return None
    # Not every version of Python reports a body that ends too soon.
    if response.length:
        raise http.client.IncompleteRead(b"")
    return bytes(body)
