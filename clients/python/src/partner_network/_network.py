"""The client."""

from types import TracebackType
from typing import Literal

from ._listing import Listing, PageList
from ._options import check_options
from ._transport import Transport
from ._wire import Balance, Brand

# The service's rate limits, per listing; a test compares them with the contract.
_BRANDS_PER_SECOND = 50
_UNBOUNDED = 0


class PartnerNetwork:
    """A client of the service. Create one and share it between threads: its calls keep to the rate limit.

    Without arguments it reads PARTNER_NETWORK_API_KEY and PARTNER_NETWORK_BASE_URL. `timeout` is in seconds
    and applies to one attempt. `max_rate` is the number of requests per second of each listing; 0 means no
    limit. Raises a `PartnerNetworkError` if an option is missing or invalid. It sends no request.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 10.0,
        max_retries: int = 3,
        max_rate: int | None = None,
    ) -> None:
        settings = check_options(api_key, base_url, timeout, max_retries, max_rate)
        self._transport = Transport(settings)
        brands = Listing(self._transport, settings, "brands", _BRANDS_PER_SECOND)
        balances = Listing(self._transport, settings, "balances", _UNBOUNDED)
        self.brands, self.balances = Brands(brands), Balances(balances)

    def close(self) -> None:
        """Closes the connections. Later calls raise a `PartnerNetworkError`."""
        self._transport.close()

    def __enter__(self) -> "PartnerNetwork":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Brands:
    """Your brands."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    def list(
        self, reference_id: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> PageList[Brand]:
        """Lists your brands, sorted by id. The key needs the scope `BRANDS_READ`."""
        return self._listing.list(Brand, reference_id=reference_id, limit=limit, cursor=cursor)


class Balances:
    """The balances of customers who gave you a grant. Beta: it may change."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing

    def list(
        self,
        customer_id: str,
        type: Literal["CHECKING"] = "CHECKING",
        grant_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> PageList[Balance]:
        """Lists the balances of a customer, sorted by id. The key needs the scope `BALANCES_READ`."""
        return self._listing.list(
            Balance, customer_id=customer_id, type=type, grant_id=grant_id, limit=limit, cursor=cursor
        )
