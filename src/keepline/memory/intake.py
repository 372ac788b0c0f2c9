"""The door for messages: a caller's dict is checked, copied and parsed once, here; past it nobody doubts its shape.

Knows roles, JSON and times; knows no store and no tokenizer. What a provider may add to a message (unknown keys, parts,
images, files) is kept as it came; the caller's objects are never changed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from keepline.errors import BadChoice, BadMessage, BadTime
from keepline.values.message import Category, Message, Retention, Role
from keepline.values.text import clean

DEPTH = 64
"""Levels of lists and dicts inside a message; what is nested deeper is a mistake or an attack."""
NUMBER_BITS = 1024
"""Bits of a whole number; Python refuses to print numbers of some thousand digits."""
ID_LENGTH = 200
"""Characters of a caller's message id."""
AHEAD = timedelta(days=1)
"""How far a clock may run ahead: the zones' difference at most, so that a local time taken for UTC still passes."""
MILLISECONDS_FROM = 1e11
"""An epoch of this size is in milliseconds: as seconds it would lie in the year 5138, as milliseconds in 1973."""

_ROLES = ", ".join(Role)
_ROLE_NAMES = frozenset(str(role) for role in Role)
_EPOCH = re.compile(r"\d{9,}(\.\d+)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What the caller says of the messages, beside the messages: each a scalar for one message, or a sequence with one
    value (or None) a message. A scalar `ts`, `category` or `retention` also holds for all of several messages.

    `msg_id` makes an append idempotent; `ts` is when it was said: ISO 8601, a datetime, or an epoch in seconds (or
    milliseconds, told by its size); `zone` the IANA name for times without one; `category` and `retention` override
    what would be found.
    """

    msg_id: Any = None
    ts: Any = None
    category: Any = None
    retention: Any = None
    zone: str | None = None


NOTHING = Given()


def intake(
    messages: Mapping[str, Any] | Iterable[Mapping[str, Any]],
    *, given: Given = NOTHING, now: datetime, where: str = "messages", loose: bool = False,
) -> tuple[Message, ...]:
    """Check `messages` (a chat dict or several) and return them as values, not yet in any log (`seq` -1).

    `now` is the time of those without `ts`, with its zone. `where` names the messages in errors. An `id` is empty unless
    the caller gave one. Lone surrogates become U+FFFD; nothing else is changed. `loose` lets through what a provider would
    refuse but a build can mend (a tool message without `tool_call_id` or content): histories of other programs.
    Raises `BadMessage`, `BadTime`, `BadChoice`, each naming the place.
    """
    if isinstance(messages, Mapping):
        places, bodies = ["message" if where == "messages" else where], [messages]
    elif isinstance(messages, Iterable) and not isinstance(messages, str | bytes | bytearray):
        bodies = list(messages)
        places = [f"{where}[{i}]" for i in range(len(bodies))]
    else:
        raise BadMessage(where=where, why=f"{_kind(messages)} is neither a message (a dict with a role) nor a list of them")
    ids = _spread("msg_id", given.msg_id, len(bodies), alike=False)
    times = _spread("ts", given.ts, len(bodies))
    categories = _spread("category", given.category, len(bodies))
    retentions = _spread("retention", given.retention, len(bodies))
    found = []
    for n, (place, body) in enumerate(zip(places, bodies, strict=True)):
        found.append(Message(
            body=parse_body(body, place, loose=loose),
            id="" if ids[n] is None else parse_id(ids[n], f"the msg_id of {place}"),
            at=now if times[n] is None else parse_time(times[n], f"the ts of {place}", now=now, zone=given.zone),
            category=None if categories[n] is None else _category(categories[n], place),
            retention=None if retentions[n] is None else _retention(retentions[n], place),
            given=categories[n] is not None or retentions[n] is not None,
        ))  # fmt: skip
    return tuple(found)


def _spread(what: str, value: Any, n: int, *, alike: bool = True) -> list[Any]:
    """One value a message, from a scalar or a sequence."""
    if isinstance(value, list | tuple):
        if len(value) != n:
            raise BadMessage(where=what, why=f"{len(value)} values for {n} messages; give one for each, None for none")
        return list(value)
    if value is not None and n > 1 and not alike:
        raise BadMessage(where=what, why=f"one value for {n} messages; give a list with one for each")
    return [value] * n


# ---------------------------------------------------------------- the body


def parse_body(body: Any, where: str, *, loose: bool = False) -> dict[str, Any]:
    """A chat message as a fresh dict of JSON values. Raises `BadMessage` naming the place inside `where`."""
    if not isinstance(body, Mapping):
        remedy = "; give its model_dump()" if hasattr(body, "model_dump") else '; give {"role": …, "content": …}'
        raise BadMessage(where=where, why=f"{_kind(body)} is not a message (a dict){remedy}")
    if "role" not in body:
        raise BadMessage(where=f"{where}.role", why=f"it is missing; use one of {_ROLES}")
    role = body["role"]
    if not isinstance(role, str) or role not in _ROLE_NAMES:
        raise BadMessage(where=f"{where}.role", why=f"{_shown(role)} is not a role; use one of {_ROLES}")
    copied: dict[str, Any] = _copy(body, where, 0)
    _check_content(copied, where, loose)
    _check_calls(copied, where, loose)
    return copied


def _check_content(body: dict[str, Any], where: str, loose: bool) -> None:
    content = body.get("content")
    if content is None:
        if "content" not in body and body["role"] != Role.ASSISTANT and not (loose and body["role"] == Role.TOOL):
            raise BadMessage(where=f"{where}.content", why="it is missing; give text, null, or a list of parts")
        return
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        why = f"{_kind(content)} is not content; give text, null, or a list of parts"
        raise BadMessage(where=f"{where}.content", why=why)
    for i, part in enumerate(content):
        if not isinstance(part, str | dict):
            raise BadMessage(where=f"{where}.content[{i}]", why=f"{_kind(part)} is not a part; give a dict with a type")
        if isinstance(part, dict) and part.get("type") == "text" and not isinstance(part.get("text"), str):
            raise BadMessage(where=f"{where}.content[{i}].text", why="a text part needs its text as a string")


def _check_calls(body: dict[str, Any], where: str, loose: bool) -> None:
    calls = body.get("tool_calls")
    if calls is not None and not (isinstance(calls, list) and all(isinstance(c, dict) for c in calls)):
        raise BadMessage(where=f"{where}.tool_calls", why="it must be a list of dicts, or null")
    if body["role"] == Role.TOOL and not loose:
        call = body.get("tool_call_id")
        if not isinstance(call, str) or not call:
            why = "a tool message needs the id of the call that it answers, as a string"
            raise BadMessage(where=f"{where}.tool_call_id", why=why)


def _copy(value: Any, where: str, depth: int) -> Any:
    """A deep copy in plain JSON types."""
    if isinstance(value, str):
        return str.__str__(clean(value))  # an enum's member, or another kind of str, becomes plain text
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > NUMBER_BITS:
            raise BadMessage(where=where, why="this number is too large; give it as a string")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadMessage(where=where, why=f"{value} cannot be written as JSON; give a finite number or null")
        return float(value)
    if depth >= DEPTH:
        raise BadMessage(where=where, why=f"it is nested deeper than {DEPTH} levels")
    if isinstance(value, Mapping):
        copied = {}
        for key, inner in value.items():
            if not isinstance(key, str):
                raise BadMessage(where=where, why=f"the key {_shown(key)} is {_kind(key)}; keys must be strings")
            copied[clean(key)] = _copy(inner, f"{where}.{key}", depth + 1)
        return copied
    if isinstance(value, list | tuple):
        return [_copy(inner, f"{where}[{i}]", depth + 1) for i, inner in enumerate(value)]
    raise BadMessage(where=where, why=f"{_kind(value)} cannot be written as JSON; give text, numbers, lists and dicts")


# ---------------------------------------------------------------- what is said of it


def parse_id(value: Any, where: str) -> str:
    """A caller's message id: a string without white space or control characters, for it is shown in prompts as `#id`."""
    if not isinstance(value, str):
        raise BadMessage(where=where, why=f"{_kind(value)} is not an id; give a string")
    if not value or len(value) > ID_LENGTH:
        raise BadMessage(where=where, why=f"an id has 1 to {ID_LENGTH} characters; this one has {len(value)}")
    if clean(value) != value or not value.isprintable() or any(c.isspace() for c in value):
        raise BadMessage(where=where, why=f"{_shown(value)} holds white space or control characters; use letters and digits")
    return value


def parse_time(value: Any, where: str, *, now: datetime, zone: str | None = None) -> datetime:
    """The UTC time that `value` says: ISO 8601 text, a datetime, or an epoch in seconds or milliseconds (also as text).

    A time without a zone is of `zone` (IANA name). Raises `BadTime` when it cannot be read, lies more than a day after
    `now`, or has no zone.
    """
    at = _read_time(value, where)
    if at.tzinfo is None:
        if zone is None:
            raise BadTime(where=where, value=value, why="it has no zone")
        try:
            at = at.replace(tzinfo=ZoneInfo(zone))
        except (ZoneInfoNotFoundError, ValueError):
            raise BadTime(where=where, value=value, why=f"{zone!r} is not the name of a time zone") from None
    try:
        at = at.astimezone(UTC)
    except OverflowError:
        raise BadTime(where=where, value=value, why="it lies outside the calendar") from None
    if at > now + AHEAD:
        raise BadTime(where=where, value=value, why=f"it lies in the future (now: {now.isoformat(timespec='seconds')})")
    return at


def _read_time(value: Any, where: str) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str) and _EPOCH.fullmatch(value):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            seconds = value / 1000 if abs(value) >= MILLISECONDS_FROM else float(value)
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
        except (OverflowError, ValueError):
            raise BadTime(where=where, value=value, why="it lies outside the calendar") from None
    if not isinstance(value, str):
        raise BadTime(where=where, value=value, why=f"{_kind(value)} is not a time")
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise BadTime(where=where, value=value, why="it is not ISO 8601") from None


def _category(value: Any, place: str) -> Category:
    if isinstance(value, str) and value in list(Category):
        return Category(value)
    raise BadChoice(what=f"the category of {place}", value=value, choices=", ".join(Category))


def _retention(value: Any, place: str) -> Retention:
    if isinstance(value, int) and not isinstance(value, bool) and value in list(Retention):
        return Retention(value)
    raise BadChoice(what=f"the retention of {place}", value=value, choices=", ".join(str(int(r)) for r in Retention))


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _shown(value: Any) -> str:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return clean(text if len(text) <= 60 else f"{text[:57]}…")
