"""What a step of a case left behind, in one shape that every check can read. Judges nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from keepline.values.message import Message, content_text


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A memory, a hit or a standing rule: its words, the id of the message that it is or came from, and what is known of it
    (`source` are that message's words; `subject` whom it is about; `certain` whether it is stated as a fact)."""

    text: str
    id: str
    at: datetime | None = None
    subject: str = ""
    source: str | None = None
    certain: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """A step's outcome. What does not apply is None (or empty).

    `given` are the caller's messages (or text) as they were before the step; `messages` those that came out; `items` what was
    found, listed or stored; `number` a count of tokens; `text` a text; `limit` and `tokens` what may be sent and what is, by
    the engine's count (`recount`: by counting the result anew). `report` holds the figures and words of the account. `error`
    is what it raised, `crash` that this is no error of keepline's own, `effect` that something changed all the same. `lines` are
    those of a process or file, `sent` and `received` a proxy's bytes to the client and from upstream.
    """

    op: str
    given: Any = None
    messages: tuple[Mapping[str, Any], ...] | None = None
    items: tuple[Item, ...] | None = None
    number: int | None = None
    text: str | None = None
    summary: str = ""
    limit: int | None = None
    tokens: int | None = None
    recount: int | None = None
    query: str = ""
    report: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    crash: bool = False
    effect: bool = False
    lines: tuple[str, ...] = ()
    sent: bytes = b""
    received: bytes = b""

    @property
    def id(self) -> str:
        """The id of the one memory that the step stored (`$name.id` in a case)."""
        return self.items[0].id if self.items else ""

    @property
    def rendered(self) -> str:
        """All that a reader would see of it."""
        parts = [self.text or "", *(words(m) for m in self.messages or ()), *(i.text for i in self.items or ()), *self.lines]
        return "\n".join(p for p in parts if p)


def words(message: Mapping[str, Any]) -> str:
    """A message's text, and as JSON what is not text: calls, blocks, pictures."""
    content = message.get("content")
    other = [p for p in content if not (isinstance(p, Mapping) and p.get("type") == "text")] if isinstance(content, list) else []
    shown = [content_text(content)]
    if other:
        shown.append(json.dumps(other, ensure_ascii=False))
    if message.get("tool_calls"):
        shown.append(json.dumps(message["tool_calls"], ensure_ascii=False))
    return "\n".join(s for s in shown if s)


def item_of(message: Message) -> Item:
    """A stored message as a memory."""
    return Item(
        text=message.text, id=message.id, at=message.at, subject=str(message.body.get("name") or ""), source=message.text,
        metadata=message.body.get("metadata") or {},
        flags=frozenset(k for k, v in message.body.items() if v is True),
    )


def items_of(messages: Sequence[Message]) -> tuple[Item, ...]:
    """Stored messages as memories, erased ones left out."""
    return tuple(item_of(m) for m in messages if not m.erased)
