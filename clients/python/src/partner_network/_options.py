"""Checks the options of a client, also where the caller does not check types."""

import dataclasses
import os
import re
from urllib.parse import quote, urlsplit

from ._errors import PartnerNetworkError

# Replaces the key wherever others might read it.
_MASK = "[API key]"

# A shorter text is a test's placeholder, which would be masked in unrelated words.
_MIN_KEY_LENGTH = 16

# More would be cut off by the timers of some systems.
_MAX_TIMEOUT = 2_147_483


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Settings:
    """Valid options. They do not show the key when they are printed."""

    api_key: str
    scheme: str
    host: str
    port: int
    path: str
    #: The base URL without the key, for messages.
    address: str
    timeout: float
    max_retries: int
    max_rate: int | None


def check_options(
    api_key: str | None, base_url: str | None, timeout: float, max_retries: int, max_rate: int | None
) -> Settings:
    key = _check_key(_given("api_key", api_key))
    scheme, host, port, path, address = _check_base_url(_given("base_url", base_url))
    return Settings(
        api_key=key,
        scheme=scheme,
        host=host,
        port=port,
        path=path,
        address=without_key(address, key),
        timeout=_check_timeout(timeout),
        max_retries=_check_whole("max_retries", max_retries, 100),
        max_rate=None if max_rate is None else _check_whole("max_rate", max_rate, 1_000_000),
    )


def without_key(text: str, api_key: str) -> str:
    return text if len(api_key) < _MIN_KEY_LENGTH else text.replace(api_key, _MASK)


def _given(name: str, value: str | None) -> str:
    variable = f"PARTNER_NETWORK_{name.upper()}"
    text = os.environ.get(variable, "") if value is None else value
    if text == "":
        raise PartnerNetworkError(f"{name} is empty. Pass it, or set the variable {variable}.")
    return text


def _check_key(api_key: str) -> str:
    """Rejects a key that is not a valid header value, without repeating it."""
    if isinstance(api_key, str) and re.fullmatch(r"[\x21-\x7e]+", api_key):
        return api_key
    raise PartnerNetworkError("api_key must be a complete API key, without spaces or line breaks.")


def _check_base_url(base_url: str) -> tuple[str, str, int, str, str]:
    """Scheme, host, port, path, and the URL without a trailing slash. The error does not repeat it."""
    if isinstance(base_url, str) and not re.search(r"[?#@\s\x00-\x1f\x7f]", base_url):
        try:
            url = urlsplit(base_url)
            port = url.port or (443 if url.scheme == "https" else 80)
        except ValueError:
            url = urlsplit("")
        if url.scheme in ("http", "https") and url.hostname:
            path = quote(url.path.rstrip("/"), safe="/%!$&'()*+,:;=~")
            return url.scheme, url.hostname, port, path, f"{url.scheme}://{url.netloc}{path}"
    # Without the reason, which would repeat the URL: it may contain a key.
    raise PartnerNetworkError(
        "base_url must be a URL like https://HOST/network/v1, without user, password, query or fragment."
    )


def _check_timeout(value: float) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= _MAX_TIMEOUT:
        return value
    raise PartnerNetworkError(f"timeout must be a number of seconds above 0, up to {_MAX_TIMEOUT}.")


def _check_whole(name: str, value: int, maximum: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= maximum:
        return value
    raise PartnerNetworkError(f"{name} must be a whole number from 0 to {maximum}.")
