"""Records of the API. A test keeps their fields equal to the service's contract."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar


@dataclasses.dataclass(frozen=True, slots=True)
class Brand:
    """A brand: the entity that a customer perceives they are transacting with. Times are RFC 3339, UTC."""

    id: str
    name: str
    created_at: str
    updated_at: str
    reference_id: str
    color: str | None = None
    profile_image_url: str | None = None
    metadata: Mapping[str, str] | None = dataclasses.field(default=None, hash=False)
    #: Fields that this version of the client does not know.
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict, hash=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Balance:
    """A balance of a customer. The amount is in the smallest unit of the currency (cents for USD)."""

    id: str
    customer_id: str
    type: str
    currency: str
    amount: int
    created_at: str | None = None
    updated_at: str | None = None
    #: Fields that this version of the client does not know.
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict, hash=False)


@dataclasses.dataclass(frozen=True, slots=True)
class ErrorRecord:
    """One error of a response. A newer service may send other categories and codes."""

    category: str | None
    code: str
    detail: str | None = None
    field: str | None = None


Record = TypeVar("Record", Brand, Balance)


def record_of(kind: type[Record], item: dict[str, Any]) -> Record:
    """Makes a record of an object on the wire."""
    names = [field.name for field in dataclasses.fields(kind) if field.name != "extra"]
    known: dict[str, Any] = {name: item.get(name) for name in names}
    return kind(**known, extra={name: value for name, value in item.items() if name not in names})
