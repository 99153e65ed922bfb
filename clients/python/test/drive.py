"""Runs the calls of scenarios with this client. Its counterpart is packages/testkit/clients/drive.ts.

Reads a list of runs as JSON from standard input, and writes their outcomes as JSON. Runs all at once, or
the number at once that is its argument.
"""

import dataclasses
import json
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import partner_network
from partner_network import ApiError, Balance, Brand, PageList, PartnerNetwork, PartnerNetworkError

Json = dict[str, Any]


def drive(run: Json) -> list[Json]:
    with client_of(run) as network:
        return [outcome_of(network, **call) for call in run["calls"]]


def client_of(run: Json) -> PartnerNetwork:
    names = {"timeoutMs": "timeout", "maxRetries": "max_retries", "maxRate": "max_rate"}
    options = {names[name]: value for name, value in run["options"].items()}
    if "timeout" in options:
        options["timeout"] /= 1_000
    return PartnerNetwork(run["apiKey"], run["baseUrl"], **options)


def outcome_of(network: PartnerNetwork, listing: str = "brands", params: Json | None = None) -> Json:
    outcome: Json = {"pages": [], "records": [], "cursor": None, "error": None, "shown": ""}
    resource: Any = getattr(network, listing)
    found: PageList[Brand] | PageList[Balance] = resource.list(**(params or {}))
    try:
        for page in found.pages():
            outcome["pages"].append([item.id for item in page.items])
            outcome["records"] += map(wire_of, page.items)
            outcome["cursor"] = page.cursor
    except PartnerNetworkError as error:
        outcome["error"] = error_of(error)
        outcome["shown"] = shown_of(error, found, network)
    return outcome


def wire_of(record: Brand | Balance | partner_network.ErrorRecord) -> Json:
    """A record as it is on the wire."""
    fields = dataclasses.asdict(record)
    extra: Json = fields.pop("extra", {})
    return {name: value for name, value in fields.items() if value is not None} | extra


def error_of(error: PartnerNetworkError) -> Json:
    common: Json = {"kind": type(error).__name__, "message": str(error)}
    if not isinstance(error, ApiError):
        return common
    after = error.retry_after
    return common | {
        "status": error.status,
        "category": error.category,
        "code": error.code,
        "field": error.field,
        "detail": error.detail,
        "requestId": error.request_id,
        "retryAfterMs": None if after is None else round(after * 1_000),
        "errors": [wire_of(record) for record in error.errors],
    }


def shown_of(error: BaseException, *others: object) -> str:
    """The traceback with all local variables, and everything that printing shows."""
    lines = traceback.TracebackException.from_exception(error, capture_locals=True).format()
    # A chained error is shown by tools even where Python hides it.
    chained = [repr(each) for each in (error.__context__, error.__cause__)]
    return "\n".join([*lines, repr(error), repr(vars(error)), *chained, *map(repr, others)])


if __name__ == "__main__":
    runs: list[Json] = json.load(sys.stdin)
    with ThreadPoolExecutor(int(sys.argv[1]) if sys.argv[1:] else len(runs)) as pool:
        json.dump(list(pool.map(drive, runs)), sys.stdout)
