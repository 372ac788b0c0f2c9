"""Files of conversations as values, and how a conversation comes in: parsing lines that somebody else reads, and the flow
that adds only what is missing.

Knows the shapes of files; opens none. What a file says of a message beside the message is taken out of it: `id` or `msg_id`,
`ts` (also `timestamp`, `created_at`), `category`, `retention`, and on a line of its own the session (`session`,
`session_id`, `conversation_id`, `thread_id`). Whatever else a message holds is kept.

    JSON Lines, one message a line        {"role": "user", "content": "…", "session": "c1", "ts": "2026-08-12T09:00:00Z"}
    JSON Lines, one conversation a line   {"conversation_id": "c1", "messages": [{"role": …}, …]}, or [{"role": …}, …]
    one JSON array of either, on any number of lines
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from keepline.errors import BadMessage, InputError
from keepline.memory.extend import Fresh
from keepline.memory.intake import Given, intake
from keepline.memory.sync import sync
from keepline.ports.flow import Flow
from keepline.ports.tokens import TokenCounter
from keepline.values.message import Message, canonical
from keepline.values.scope import Scope

SESSION_KEYS = ("session", "session_id", "conversation_id", "thread_id")
ID_KEYS = ("id", "msg_id")
TIME_KEYS = ("ts", "timestamp", "created_at")
BOM = "\ufeff"

_DECODER = json.JSONDecoder(strict=False)  # a raw NUL or tab inside a string is a flaw of the writer, not of the words


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """One conversation of a file: its name (None: the file gives none), its messages, and the line where it begins."""

    line: int
    name: str | None
    messages: tuple[Message, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A line that cannot be used, and why. Nothing of it came in."""

    line: int
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """What an import of one conversation did: messages that were new, the same, and changed since (these are in a fork;
    the older words stay). `session` is where the conversation is now."""

    session: str
    new: int
    unchanged: int
    changed: int
    notes: tuple[str, ...] = ()


def parse_lines(lines: Iterable[str], *, now: datetime, zone: str | None = None) -> Iterator[Conversation | Fault]:
    """The conversations of a file, given as its lines (with or without their ends), and its faults, each with its line.

    Conversations on lines of their own come as they are read; messages on lines of their own are gathered by session and
    come at the end. After a fault the next line is tried; in an array that spans lines, nothing after the fault can be
    read. `now` is the time of messages without one, `zone` the IANA name for times without a zone.
    """
    gathered: dict[str | None, tuple[int, list[Message]]] = {}
    for line, value in _values(lines):
        if isinstance(value, Fault):
            yield value
            continue
        try:
            if isinstance(value, Mapping) and "role" in value:
                name = _name(value, SESSION_KEYS)
                messages = _messages([value], "the message", now, zone, drop=SESSION_KEYS)
                gathered.setdefault(name, (line, []))[1].extend(messages)
            else:
                yield _conversation(line, value, now, zone)
        except InputError as error:
            yield Fault(line=line, why=str(error).rstrip("."))
    for name, (line, said) in gathered.items():
        yield Conversation(line=line, name=name, messages=tuple(said))


def _conversation(line: int, value: Any, now: datetime, zone: str | None) -> Conversation:
    if isinstance(value, Mapping) and isinstance(value.get("messages"), list):
        messages = _messages(value["messages"], "messages", now, zone)
        return Conversation(line=line, name=_name(value, (*SESSION_KEYS, "id")), messages=messages)
    if isinstance(value, list):
        return Conversation(line=line, name=None, messages=_messages(value, "messages", now, zone))
    why = "it is neither a message (a dict with a role) nor a conversation (a dict with a list of messages)"
    raise BadMessage(where="the line", why=why)


def _name(value: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    found = next((value[k] for k in keys if value.get(k) not in (None, "")), None)
    if found is None or isinstance(found, str):
        return found
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    raise BadMessage(where="the session", why=f"{found!r} is not a name; give text or a number")


def _messages(
    bodies: Sequence[Any], where: str, now: datetime, zone: str | None, *, drop: Sequence[str] = ()
) -> tuple[Message, ...]:
    """Messages from their dicts, with what the dicts say of them beside. `drop` are further keys to take out, for the one
    message of a line."""
    beside = (*ID_KEYS, *TIME_KEYS, "category", "retention", *drop)
    bare = [{k: v for k, v in b.items() if k not in beside} if isinstance(b, Mapping) else b for b in bodies]
    given = Given(
        msg_id=[_first(b, ID_KEYS) for b in bodies], ts=[_first(b, TIME_KEYS) for b in bodies],
        category=[_first(b, ("category",)) for b in bodies], retention=[_first(b, ("retention",)) for b in bodies], zone=zone,
    )  # fmt: skip
    return intake(bare[0] if drop else bare, given=given, now=now, where=where, loose=True)


def _first(body: Any, keys: Sequence[str]) -> Any:
    if not isinstance(body, Mapping):
        return None
    value = next((body[k] for k in keys if body.get(k) not in (None, "")), None)
    number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if number and keys is ID_KEYS else value


# ---------------------------------------------------------------- JSON, line by line or across lines


def _values(lines: Iterable[str]) -> Iterator[tuple[int, Any]]:
    """(line, JSON value or `Fault`) of a file. Values that begin on one line and end on another are read too, if the
    file's first line is no value by itself."""
    numbered = ((n, text.strip().removeprefix(BOM)) for n, text in enumerate(lines, 1))  # files are joined, marks and all
    first = True
    for line, text in numbered:
        if not text:
            continue
        value = _decode(line, text)
        if first and isinstance(value, Fault) and (text[0] == "[" or text == "{"):
            yield from _spread(line, text, numbered)
            return
        first = False
        yield from _items(line, value)


def _items(line: int, value: Any) -> Iterator[tuple[int, Any]]:
    """An array of conversations is several values; an array of messages is one conversation."""
    if isinstance(value, list) and value and all(_is_conversation(v) for v in value):
        yield from ((line, v) for v in value)
    else:
        yield line, value


def _is_conversation(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, Mapping) and "messages" in value)


def _decode(line: int, text: str) -> Any:
    if not text.strip("\0 "):
        return Fault(line=line, why="it holds nothing but NUL characters")
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        return Fault(line=line, why=_why(error, text))
    except (ValueError, RecursionError):  # a number of thousands of digits; brackets without end
        return Fault(line=line, why="it holds a number too long, or brackets too deep, to be read")


def _why(error: json.JSONDecodeError, text: str) -> str:
    cut = error.pos >= len(text) or error.msg.startswith("Unterminated string")
    return "it is not whole JSON: the end is missing" if cut else f"it is not JSON: {error.msg} at character {error.pos + 1}"


def _spread(line: int, text: str, numbered: Iterator[tuple[int, str]]) -> Iterator[tuple[int, Any]]:
    """One array or object over many lines. The items of an array that were read before a fault are kept."""
    whole = "\n".join([text, *(more for _, more in numbered)])
    if text[0] == "{":
        value = _decode(line, whole)
        yield from _items(line, value)
        return
    items: list[tuple[int, Any]] = []
    fault: Fault | None = None
    at, here, counted = 1, line, 0
    while True:
        while at < len(whole) and whole[at] in " \t\r\n,":
            at += 1
        here, counted = here + whole.count("\n", counted, at), at
        if whole[at : at + 1] == "]":
            break
        try:
            value, at = _DECODER.raw_decode(whole, at)
        except json.JSONDecodeError as error:
            fault = Fault(line=line + whole.count("\n", 0, error.pos), why=_why(error, whole))
            break
        except (ValueError, RecursionError):
            fault = Fault(line=here, why="it holds a number too long, or brackets too deep, to be read")
            break
        items.append((here, value))
    if items and all(isinstance(v, Mapping) and "role" in v and not _names_session(v) for _, v in items):
        yield items[0][0], [v for _, v in items]
    else:
        yield from items
    if fault is not None:
        yield fault.line, fault


def _names_session(value: Mapping[str, Any]) -> bool:
    return any(k in value for k in SESSION_KEYS)


# ---------------------------------------------------------------- coming in


def import_conversation(
    scope: Scope, name: str | None, messages: Sequence[Message], counter: TokenCounter, now: datetime, fresh: Fresh
) -> Flow[Imported]:
    """Add what is missing of one conversation, under `name` (None: where its words are already, else a name of its own).

    A message is the same if the log has its words at its place; running again, or an older export, adds nothing. A message
    that the file has twice, with the same id and words, comes in once. Changed words fork the conversation: what was said
    first is kept. A tool result without its call is accepted, with a note.
    """
    once: dict[tuple[str, bytes], None] = {}
    history = []
    for message in messages:
        mark = (message.id, canonical(message.body))
        if message.id and mark in once:
            continue
        once[mark] = None
        history.append(message)
    if not history:
        return Imported(session=name or "", new=0, unchanged=0, changed=0)
    where = scope if name is None else scope.at(name)
    synced = yield from sync(where, history, counter, now, fresh, branch=False)
    return Imported(
        session=synced.session, new=len(synced.added) - synced.changed - synced.repeated,
        unchanged=synced.known + synced.repeated, changed=synced.changed, notes=synced.notes,
    )  # fmt: skip
