"""Reads the pages and the errors in responses."""

import dataclasses
import json
import re
from typing import Any, NoReturn

from ._errors import ApiError, NetworkError, PartnerNetworkError, RequestTimeout, class_of
from ._options import Settings, without_key
from ._retry import retry_after
from ._transport import Reply
from ._wire import ErrorRecord


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    items: list[dict[str, Any]]
    #: Empty on the last page.
    cursor: str
    request_id: str | None


def answer_in(reply: Reply, name: str, settings: Settings) -> Answer:
    """The page in a reply. Raises the error in any other reply.

    No error is raised while another is handled: that error holds the request, and so the key.
    """
    if reply.headers is None:
        raise _lost(reply, settings, "did not answer", " Check base_url, and that the service runs.")
    status = reply.status
    request_id = without_key(reply.headers.get("x-request-id", ""), settings.api_key) or None
    if 300 <= status < 400:
        raise _refused(reply, request_id, "the client does not follow redirects; check base_url.")
    if not 200 <= status < 300:
        arrived = reply.body is not None
        foreign = "the response is not from the service; check base_url and any proxy in between."
        otherwise = foreign if arrived else "the body of the response did not arrive."
        errors = _error_records_in(_json_of(reply.body or b""), settings.api_key)
        raise _refused(reply, request_id, otherwise, errors)
    if reply.failure is not None:
        raise _lost(reply, settings, "did not complete its response", "")
    if reply.body is None:
        raise _refused(reply, request_id, "the response is too long to be a page; check base_url.")
    page = _json_of(reply.body)
    if page is _NOT_JSON:
        # Without the cause, which holds the text and so perhaps an amount.
        raise NetworkError(
            f"{settings.address} answered with status {status}, but the body is not complete JSON."
        )
    if isinstance(page, dict):
        items, cursor = page.get(name), page.get("cursor")
        is_list = isinstance(items, list) and all(isinstance(item, dict) for item in items)
        if is_list and isinstance(cursor, (str, type(None))):
            return Answer(items or [], cursor or "", request_id)
    raise _refused(reply, request_id, f"the response is not a page of {name}; check base_url.")


def _lost(reply: Reply, settings: Settings, what: str, remedy: str) -> PartnerNetworkError:
    failure = reply.failure
    if isinstance(failure, TimeoutError):
        late = f"did not send a complete response within {settings.timeout:g} s."
        return RequestTimeout(f"{settings.address} {late}")
    # The text of other failures may repeat the response.
    reason = getattr(failure, "strerror", None) or type(failure).__name__
    error = NetworkError(f"{settings.address} {what}: {without_key(str(reason), settings.api_key)}.{remedy}")
    if isinstance(failure, OSError):
        # Without its traceback, whose frames hold the request.
        failure.__context__ = failure.__cause__ = None
        error.__cause__ = failure.with_traceback(None)
    return error


def _refused(
    reply: Reply, request_id: str | None, otherwise: str, errors: tuple[ErrorRecord, ...] = ()
) -> ApiError:
    said = f": {otherwise}"
    if errors:
        said = f" {errors[0].code}" + (f": {errors[0].detail}" if errors[0].detail is not None else ".")
    asked = None if reply.headers is None else retry_after(reply.headers)
    quoted = "" if request_id is None else f" (request {request_id})"
    # A line break or an escape code of another server must not reach a log.
    message = re.sub(r"[\x00-\x1f\x7f-\x9f]", "\ufffd", f"{reply.status}{said}{quoted}")
    return class_of(reply.status, errors)(
        message,
        status=reply.status,
        request_id=request_id,
        retry_after=asked,
        errors=errors,
    )


_NOT_JSON = object()


def _json_of(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_reject)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _reject(constant: str) -> NoReturn:
    """JSON has no NaN and no Infinity, although Python's parser accepts them."""
    raise ValueError(constant)


def _error_records_in(body: Any, api_key: str) -> tuple[ErrorRecord, ...]:
    """The error records of the service; empty if another server answered. A proxy may have echoed the key."""
    errors = body.get("errors") if isinstance(body, dict) else None
    records = []
    for error in errors if isinstance(errors, list) else ():
        given = error if isinstance(error, dict) else {}
        known = [given.get(name) for name in ("category", "code", "detail", "field")]
        category, code, *rest = (without_key(v, api_key) if isinstance(v, str) else None for v in known)
        if code is not None:
            records.append(ErrorRecord(category, code, *rest))
    return tuple(records)
