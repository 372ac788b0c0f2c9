"""Things named in a conversation, word for word: who, what, where, when, how much. Never merged on doubt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What is named."""

    ORDER = "order"
    AMOUNT = "amount"
    DATE = "date"
    TIME = "time"
    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    PHONE = "phone"
    EMAIL = "email"
    ID = "id"
    PLATE = "plate"
    VERSION = "version"


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A thing named in a text at [`start`, `end`): `surface` as it stands there, `value` in one form for looking it up: a date in
    ISO 8601, an amount as currency and number, a phone as digits; people and other names as they are written."""

    kind: Kind
    start: int
    end: int
    surface: str
    value: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A thing named in message `id` (position `seq`), said by `role` at `at` (ISO 8601, UTC)."""

    kind: Kind
    surface: str
    value: str
    id: str
    seq: int
    role: str
    at: str
