"""Tests of threads and connections, with a server."""

import http.server
import math
import signal
import threading
import time
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

from partner_network import PartnerNetwork, PartnerNetworkError, RateLimitError

KEY = "pn_test_0123456789012345678901234567890123456789012"
PAGE = b'{"brands":[{"id":"%s"}]}'


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with a page that has the query as its id."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_GET(self) -> None:
        query = self.path.partition("?")[2].encode()
        body = PAGE % query
        self.server.answer(self, body)

    def reply(self, body: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
        self.wfile.write(head + body)

    def log_message(self, *_: Any) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    connections = 0
    answer: Callable[[Handler, bytes], None] = staticmethod(Handler.reply)

    def handle_error(self, *_: Any) -> None:
        pass


class WithServer(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Server(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def connect(self, **options: Any) -> PartnerNetwork:
        # Far longer than a response takes on a busy machine.
        options.setdefault("timeout", 60)
        network = PartnerNetwork(KEY, f"http://127.0.0.1:{self.server.server_port}/v1/", **options)
        self.addCleanup(network.close)
        return network


def ids(network: PartnerNetwork, reference_id: str | None = None) -> list[str]:
    return [brand.id for brand in network.brands.list(reference_id)]


class Connections(WithServer):
    def test_each_thread_keeps_one_connection(self) -> None:
        network = self.connect()
        together = threading.Barrier(8)

        def walk(number: int) -> list[list[str]]:
            together.wait()
            return [ids(network, f"{number}") for _ in range(4)]

        idle = mock.patch("partner_network._transport._MAX_IDLE", math.inf)
        with idle, ThreadPoolExecutor(8) as pool:
            for number, found in enumerate(pool.map(walk, range(8))):
                self.assertEqual(found, [[f"reference_id={number}"]] * 4)
        self.assertEqual(self.server.connections, 8)

    def test_a_thread_that_ends_closes_its_connection(self) -> None:
        network = self.connect()
        closed = threading.Event()
        handle = Handler.finish

        def finish(handler: Handler) -> None:
            handle(handler)
            closed.set()

        with mock.patch.object(Handler, "finish", finish):
            thread = threading.Thread(target=ids, args=(network,))
            thread.start()
            thread.join()
            self.assertTrue(closed.wait(60))

    def test_a_connection_that_the_server_closed_is_not_used_again(self) -> None:
        network = self.connect(max_retries=0)
        closed = threading.Event()

        def last(handler: Handler, body: bytes) -> None:
            handler.reply(body)
            handler.close_connection = True

        def shutdown(request: Any) -> None:
            Server.shutdown_request(self.server, request)
            closed.set()

        with mock.patch.object(self.server, "shutdown_request", shutdown):
            self.server.answer = last
            ids(network)
            self.assertTrue(closed.wait(60))
        self.server.answer = Handler.reply
        ids(network)
        self.assertEqual(self.server.connections, 2)

    def test_a_connection_that_was_idle_for_long_is_not_used_again(self) -> None:
        network = self.connect()
        with mock.patch("partner_network._transport._MAX_IDLE", -1):
            ids(network)
            ids(network)
        self.assertEqual(self.server.connections, 2)

    def test_an_interrupted_response_is_not_read_by_the_next_call(self) -> None:
        network = self.connect()
        seen = threading.Event()
        self.server.answer = lambda handler, body: seen.set()
        main = threading.get_ident()

        def interrupt() -> None:
            seen.wait(60)
            signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            ids(network, "first")
        thread.join()
        self.server.answer = Handler.reply
        self.assertEqual(ids(network, "second"), ["reference_id=second"])
        self.assertEqual(self.server.connections, 2)

    def test_close_closes_all_connections_and_ends_waits(self) -> None:
        network = self.connect()
        self.server.answer = lambda handler, body: handler.send_error(503, "x")
        failing = threading.Event()
        raised: list[BaseException] = []

        def call() -> None:
            try:
                ids(network)
            except PartnerNetworkError as error:
                raised.append(error)

        def waits(seconds: float) -> None:
            failing.set()
            pause(30)

        pause = network._transport.pause
        with mock.patch.object(network.brands._listing._transport, "pause", waits):
            thread = threading.Thread(target=call)
            thread.start()
            failing.wait(60)
        network.close()
        thread.join()
        self.assertEqual([str(error) for error in raised], ["The client is closed."])
        with self.assertRaisesRegex(PartnerNetworkError, "^The client is closed.$"), network:
            ids(network)

    def test_close_ends_a_wait_for_the_rate(self) -> None:
        network = self.connect(max_retries=0)

        def refuse(handler: Handler, body: bytes) -> None:
            handler.send_response(429)
            handler.send_header("Retry-After", "50")
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        self.server.answer = refuse
        with self.assertRaises(RateLimitError):
            ids(network)
        raised: list[str] = []

        def call() -> None:
            try:
                ids(network)
            except PartnerNetworkError as error:
                raised.append(str(error))

        thread = threading.Thread(target=call)
        started = time.monotonic()
        thread.start()
        network.close()
        thread.join()
        self.assertEqual(raised, ["The client is closed."])
        self.assertLess(time.monotonic() - started, 40)


class Rate(WithServer):
    def test_threads_share_the_rate(self) -> None:
        network = self.connect(max_rate=4)
        asked: list[float] = []
        answered: list[float] = []

        def note(handler: Handler, body: bytes) -> None:
            asked.append(time.monotonic())
            answered.append(time.monotonic())
            handler.reply(body)

        self.server.answer = note
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: ids(network), range(8)))
        for later, earlier in zip(asked[4:], answered):
            self.assertGreaterEqual(later - earlier, 1.0)

    def test_the_rate_of_the_service_is_the_default(self) -> None:
        for rate, brands, balances in ((None, 50, math.inf), (7, 7, 7), (0, math.inf, math.inf)):
            network = self.connect(max_rate=rate)
            self.assertEqual(network.brands._listing.pace._most, brands)
            self.assertEqual(network.balances._listing.pace._most, balances)
