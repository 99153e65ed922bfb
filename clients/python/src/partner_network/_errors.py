"""The errors that a call raises."""

from collections.abc import Sequence

from ._wire import ErrorRecord


class PartnerNetworkError(Exception):
    """The base class of all errors. By itself: an invalid option, a repeated cursor, a closed client."""


class NetworkError(PartnerNetworkError):
    """No complete response: the connection failed or broke, or the response is not JSON."""


class RequestTimeout(PartnerNetworkError):
    """No complete response within the timeout."""


class ApiError(PartnerNetworkError):
    """A response that is not a page. It has the values of the first error record. `errors` has all."""

    def __init__(
        self,
        message: str = "",
        *,
        status: int = 0,
        request_id: str | None = None,
        retry_after: float | None = None,
        errors: Sequence[ErrorRecord] = (),
    ) -> None:
        super().__init__(message)
        first = errors[0] if errors else None
        #: HTTP status.
        self.status = status
        #: None, like code, field and detail, if another server responded, for example a proxy.
        self.category = first and first.category
        #: The specific error. Base decisions on it, not on detail.
        self.code = first and first.code
        #: The parameter that caused the error.
        self.field = first and first.field
        #: What happened and what to do, for a person. Its wording may change.
        self.detail = first and first.detail
        #: Identifies the response. Quote it when you ask for help.
        self.request_id = request_id
        #: How long the service asks you to wait before the next request, in seconds.
        self.retry_after = retry_after
        #: All error records of the response.
        self.errors = tuple(errors)


class InvalidRequestError(ApiError):
    """The request is invalid. `field` names the parameter."""


class AuthenticationError(ApiError):
    """No valid key, a disabled partner, or a missing scope."""


class ApiKeyError(ApiError):
    """The key is expired, revoked, or belongs to the other environment."""


class GrantError(ApiError):
    """No active grant lets you read this customer's balances."""


class RateLimitError(ApiError):
    """The rate limit was still exceeded after all retries."""


class ServerError(ApiError):
    """Any status of 500 or above: a failure of the service or of a proxy."""


_BY_CATEGORY: dict[str | None, type[ApiError]] = {
    "INVALID_REQUEST_ERROR": InvalidRequestError,
    "AUTHENTICATION_ERROR": AuthenticationError,
    "API_KEY_ERROR": ApiKeyError,
    "GRANT_ERROR": GrantError,
    "RATE_LIMIT_ERROR": RateLimitError,
    "API_ERROR": ServerError,
}

# For an unknown category, or a response of another server.
_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    429: RateLimitError,
}


def class_of(status: int, errors: Sequence[ErrorRecord]) -> type[ApiError]:
    """The class of the error for a response with this status and these records."""
    if status >= 500:
        return ServerError
    category = errors[0].category if errors else None
    return _BY_CATEGORY.get(category, _BY_STATUS.get(status, ApiError))
