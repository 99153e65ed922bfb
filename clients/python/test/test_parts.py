"""Tests of the pace, waits, options and records, without a server."""

import dataclasses
import math
import os
import pickle
import unittest
from typing import Any
from unittest import mock

from partner_network import (
    ApiError,
    Balance,
    Brand,
    ErrorRecord,
    GrantError,
    NetworkError,
    PartnerNetwork,
    PartnerNetworkError,
)
from partner_network._pace import Pace
from partner_network._retry import with_retries

KEY = "pn_test_0123456789012345678901234567890123456789012"


class PaceTest(unittest.TestCase):
    """The pace on a clock that the test moves."""

    def setUp(self) -> None:
        self.clock = mock.Mock(return_value=100.0)
        patch = mock.patch("partner_network._pace.time.monotonic", self.clock)
        patch.start()
        self.addCleanup(patch.stop)

    def at_once(self, pace: Pace) -> int:
        """How many requests may be sent now. Sends them."""
        sent = 0
        while self.wait(pace) == 0:
            pace.take(is_retry=False)
            sent += 1
        return sent

    def wait(self, pace: Pace) -> float | None:
        ticket = object()
        pace._waiting[1].append(ticket)
        wait = pace._wait_of(ticket)
        pace._waiting[1].remove(ticket)
        return wait

    def test_a_slot_becomes_free_one_second_after_the_response(self) -> None:
        pace = Pace(2)
        self.assertEqual(self.at_once(pace), 2)
        self.clock.return_value = 105.0
        self.assertIsNone(self.wait(pace), "no slot becomes free before a response")
        pace.release(True, None)
        self.assertAlmostEqual(self.wait(pace) or 0, 1.01)
        self.clock.return_value = 106.02
        self.assertEqual(self.at_once(pace), 1)

    def test_retries_go_before_first_attempts(self) -> None:
        pace = Pace(1)
        pace._waiting[0].append(object())
        self.assertIsNone(self.wait(pace))

    def test_a_429_holds_all_calls_and_halves_the_rate_once(self) -> None:
        pace = Pace(8)
        self.at_once(pace)
        for _ in range(8):
            pace.release(False, 3.0)
        self.assertEqual(self.wait(pace), 3.0)
        self.clock.return_value = 103.0
        self.assertEqual(self.at_once(pace), 4)
        for _ in range(4):
            pace.release(True, None)
        self.clock.return_value = 105.0
        self.assertEqual(self.at_once(pace), 8, "each page raises the rate")
        for _ in range(8):
            pace.release(True, None)
        self.clock.return_value = 107.0
        self.assertEqual(self.at_once(pace), 8, "the rate does not rise further")

    def test_a_429_does_not_limit_a_listing_without_a_rate(self) -> None:
        pace = Pace(0)
        pace.take(is_retry=False)
        pace.release(False, 0.0)
        self.assertEqual(self.wait(pace), 0)


class Waits(unittest.TestCase):
    def test_waits_at_random_up_to_twice_as_long_each_time_and_never_over_8_seconds(self) -> None:
        for chance, expected in ((max, [0.5, 1, 2, 4, 8, 8, 8]), (min, [0.1] * 7)):
            waits: list[float] = []
            with mock.patch("random.uniform", chance), self.assertRaises(NetworkError):
                with_retries(7, waits.append, mock.Mock(side_effect=NetworkError))
            self.assertEqual(waits, expected)

    def test_adds_a_tenth_of_a_second_at_most_to_the_time_that_is_asked_for(self) -> None:
        waits: list[float] = []
        busy = ApiError(status=503, retry_after=60.0)
        with mock.patch("random.uniform", max), self.assertRaises(ApiError):
            with_retries(1, waits.append, mock.Mock(side_effect=busy))
        self.assertEqual(waits, [60.1])


class Options(unittest.TestCase):
    def refused(self, message: str, **options: Any) -> None:
        good: dict[str, Any] = {"api_key": KEY, "base_url": "https://network.example/network/v1"}
        with self.assertRaisesRegex(PartnerNetworkError, message) as caught:
            PartnerNetwork(**{**good, **options})
        self.assertNotIn(KEY, str(caught.exception))

    def test_reads_the_environment(self) -> None:
        variables = {"PARTNER_NETWORK_API_KEY": KEY, "PARTNER_NETWORK_BASE_URL": "https://network.example/v1"}
        with mock.patch.dict(os.environ, variables):
            PartnerNetwork().close()
            self.refused("^api_key is empty. Pass it, or set .* PARTNER_NETWORK_API_KEY.$", api_key="")
        with mock.patch.dict(os.environ, {"PARTNER_NETWORK_BASE_URL": ""}):
            self.refused("^base_url is empty. .* PARTNER_NETWORK_BASE_URL.$", base_url=None)

    def test_says_in_a_sentence_what_is_wrong(self) -> None:
        for key in (" ", "a b", f"{KEY}\n", f"{KEY}é", 7):
            self.refused("^api_key must be a complete API key, without spaces or line breaks.$", api_key=key)
        for url in (
            *("network.example/v1", "/v1", "ftp://network.example/v1", "https://", "https://x:99999/v1", 7),
            *(f"https://{KEY}@network.example/v1", f"https://x/v1?key={KEY}", "https://x/v1#top"),
            *("https://x/ v1", "https://[x/v1", "https://x/v1\n", "https://x\x7f/v1"),
        ):
            self.refused("^base_url must be a URL like https://HOST/network/v1, without", base_url=url)
        for timeout in (0, -1, math.nan, math.inf, "5", True, None):
            self.refused("^timeout must be a number of seconds above 0, up to 2147483.$", timeout=timeout)
        for number in (-1, 0.5, 2_000_000, "5", True):
            self.refused(r"^max_retries must be a whole number from 0 to 100\.$", max_retries=number)
            self.refused(r"^max_rate must be a whole number from 0 to 1000000\.$", max_rate=number)

    def test_a_key_in_the_path_of_the_address_is_not_repeated(self) -> None:
        network = PartnerNetwork(KEY, f"http://127.0.0.1:1/{KEY}", max_retries=0)
        said = r"^http://127.0.0.1:1/\[API key\] did not answer: "
        with self.assertRaisesRegex(NetworkError, said) as caught:
            list(network.brands.list())
        self.assertIsInstance(caught.exception.__cause__, ConnectionRefusedError)
        self.assertNotIn(KEY, repr(vars(network)) + repr(network._transport._settings))


class Records(unittest.TestCase):
    def test_records_are_frozen_and_can_be_compared_hashed_and_pickled(self) -> None:
        brand = Brand("b", "n", "c", "u", "r", metadata={"a": "b"}, extra={"x": [1]})
        balance = Balance("l", "c", "CHECKING", "USD", -1)
        for record in (brand, balance):
            self.assertEqual(pickle.loads(pickle.dumps(record)), record)
            self.assertEqual(len({record, dataclasses.replace(record)}), 1)
            with self.assertRaises(dataclasses.FrozenInstanceError):
                setattr(record, "id", "other")

    def test_errors_can_be_pickled(self) -> None:
        error = GrantError("403 X.", status=403, retry_after=1.0, errors=[ErrorRecord("GRANT_ERROR", "X")])
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copy), str(copy), vars(copy)), (GrantError, "403 X.", vars(error)))
