"""The client of the Partner Network API: lists brands and balances."""

from ._errors import (
    ApiError,
    ApiKeyError,
    AuthenticationError,
    GrantError,
    InvalidRequestError,
    NetworkError,
    PartnerNetworkError,
    RateLimitError,
    RequestTimeout,
    ServerError,
)
from ._listing import Page, PageList
from ._network import PartnerNetwork
from ._wire import Balance, Brand, ErrorRecord

__version__ = "0.4.0.dev0"

__all__ = [
    "ApiError",
    "ApiKeyError",
    "AuthenticationError",
    "Balance",
    "Brand",
    "ErrorRecord",
    "GrantError",
    "InvalidRequestError",
    "NetworkError",
    "Page",
    "PageList",
    "PartnerNetwork",
    "PartnerNetworkError",
    "RateLimitError",
    "RequestTimeout",
    "ServerError",
]

# Tracebacks and pickles name the public module.
for _name in __all__:
    globals()[_name].__module__ = __name__
