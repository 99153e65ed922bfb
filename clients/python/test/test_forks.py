"""Tests of forks beside threads, with a server."""

import math
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

from test_connections import Handler, WithServer, ids


class Forks(WithServer):
    """Processes that fork while other threads use the client."""

    def setUp(self) -> None:
        super().setUp()
        self.seen, self.released = threading.Event(), threading.Event()
        self.server.answer = self.late
        self.pool = ThreadPoolExecutor()
        self.addCleanup(self.pool.shutdown)
        self.addCleanup(self.released.set)

    def late(self, handler: Handler, body: bytes) -> None:
        """Answers a request of "slow" only when the test says so."""
        if b"slow" in body:
            self.seen.set()
            self.released.wait(60)
        handler.reply(body)

    def in_child(self, work: Callable[[], object]) -> str:
        """What a forked process finds. Empty if it needs more than 20 seconds."""
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            # Python 3.12 and later warn of forks beside other threads.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            try:
                signal.alarm(20)
                os.write(writing, repr(work()).encode())
            except BaseException as error:
                os.write(writing, repr(error).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with open(reading) as found:
            text = found.read()
        os.waitpid(child, 0)
        return text

    def test_a_child_does_not_wait_for_requests_and_waits_of_threads_that_it_does_not_have(self) -> None:
        network = self.connect(max_rate=1)
        waiting = network.brands._listing.pace._waiting[1]
        calls = [self.pool.submit(ids, network, "slow")]
        self.assertTrue(self.seen.wait(60))
        calls.append(self.pool.submit(ids, network, "later"))
        while not waiting and not calls[1].done():
            time.sleep(0.001)
        self.assertEqual(self.in_child(lambda: ids(network, "child")), "['reference_id=child']")
        self.released.set()
        self.assertEqual([call.result() for call in calls], [["reference_id=slow"], ["reference_id=later"]])

    def test_a_child_does_not_wait_for_locks_of_threads_that_it_does_not_have(self) -> None:
        network = self.connect()
        closed: Any = network._transport._closed

        def hold() -> None:
            with network.brands._listing.pace._changed, network._transport._lock, closed._cond:
                self.seen.set()
                self.released.wait(60)

        holding = self.pool.submit(hold)
        self.assertTrue(self.seen.wait(60))
        self.assertEqual(self.in_child(lambda: ids(network, "child")), "['reference_id=child']")
        self.released.set()
        holding.result()

    def test_a_child_closes_the_connections_that_it_inherits_and_opens_its_own(self) -> None:
        network = self.connect()
        slow = self.pool.submit(ids, network, "slow")
        self.assertTrue(self.seen.wait(60))
        ids(network)
        numbers = [connection._http.sock.fileno() for connection in network._transport._all]
        self.assertEqual(len(numbers), 2)

        def still_open() -> list[str]:
            opened = [str(number) for number in numbers if os.path.exists(f"/dev/fd/{number}")]
            return opened + ids(network, "child")

        self.assertEqual(self.in_child(still_open), "['reference_id=child']")
        self.assertEqual(self.server.connections, 3)
        self.released.set()
        self.assertEqual(slow.result(), ["reference_id=slow"])
        with mock.patch("partner_network._transport._MAX_IDLE", math.inf):
            self.assertEqual(ids(network, "parent"), ["reference_id=parent"])
        self.assertEqual(self.server.connections, 3)

    def test_a_child_of_a_closed_client_has_a_closed_client(self) -> None:
        network = self.connect()
        network.close()
        self.assertIn("The client is closed.", self.in_child(lambda: ids(network)))
