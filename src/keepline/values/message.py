"""A chat message, kept as it came, with what keepline knows of it. Knows nothing of storage, tokens or prompts.

Two shapes of content are understood and neither is rewritten: OpenAI chat (`content` text, null or parts; `tool_calls`;
role `tool` with `tool_call_id`) and Anthropic blocks (`tool_use`, `tool_result`, signed `thinking`).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any


class Role(StrEnum):
    """Who speaks, in OpenAI's words."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"

    @property
    def instructs(self) -> bool:
        """System and developer text: the operator's words, sent first and never dropped."""
        return self in (Role.SYSTEM, Role.DEVELOPER)


class Category(StrEnum):
    """What a message is for; found automatically, or given by the caller."""

    CHAT = "chat"
    CONSTRAINT = "constraint"
    FACT = "fact"
    TOOL_RESULT = "tool_result"
    GREETING = "greeting"


class Retention(IntEnum):
    """How hard a message is held: 0 may be dropped, 1 default, 2 important, 3 never dropped."""

    DROPPABLE = 0
    DEFAULT = 1
    IMPORTANT = 2
    NEVER_DROPPED = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message.

    `body` is the caller's dict, verbatim (unknown keys too). `id` is the caller's or ours; `at` the time it was said
    (UTC). `seq` is its place in its session's log (-1: not in the log). `category` and `retention` are None until found
    or given; `given` says that the caller gave them. `counts` holds tokens per vocabulary, the message's own overhead
    included. `erased` marks a tombstone: its body is gone.
    """

    body: Mapping[str, Any]
    id: str
    at: datetime
    seq: int = -1
    category: Category | None = None
    retention: Retention | None = None
    given: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    erased: bool = False

    @property
    def role(self) -> Role:
        return Role(self.body["role"])

    @property
    def text(self) -> str:
        """The words a person would read: text content or the text parts and tool results, joined by newlines."""
        return content_text(self.body.get("content"))

    @property
    def calls(self) -> tuple[str, ...]:
        """The ids of the tool calls that this message makes (OpenAI `tool_calls`, Anthropic `tool_use`)."""
        made = self.body.get("tool_calls") or ()
        if not made and isinstance(self.body.get("content"), str):  # nearly every message
            return ()
        ids = [str(c.get("id", "")) for c in made if isinstance(c, Mapping)]
        ids += [str(b.get("id", "")) for b in self._blocks("tool_use")]
        return tuple(ids)

    @property
    def answers(self) -> tuple[str, ...]:
        """The ids of the tool calls that this message answers (role `tool`, Anthropic `tool_result`)."""
        if self.body.get("role") == Role.TOOL:
            return (str(self.body.get("tool_call_id", "")),)
        return tuple(str(b.get("tool_use_id", "")) for b in self._blocks("tool_result"))

    @property
    def only_answers(self) -> bool:
        """Whether the message is nothing but tool results (role `tool`, or a user message of `tool_result` blocks)."""
        content = self.body.get("content")
        if self.body.get("role") == Role.TOOL:
            return True
        return isinstance(content, list) and bool(content) and len(self._blocks("tool_result")) == len(content)

    def _blocks(self, kind: str) -> list[Mapping[str, Any]]:
        content = self.body.get("content")
        if not isinstance(content, list):
            return []
        return [b for b in content if isinstance(b, Mapping) and b.get("type") == kind]

    def to_dict(self) -> dict[str, Any]:
        """A deep copy of the body: what is sent. The caller may change it freely."""
        return copy.deepcopy(dict(self.body))

    def evolve(self, **changes: Any) -> Message:
        """The same message with some fields changed."""
        return replace(self, **changes)


def content_text(content: Any) -> str:
    """The readable text of a `content` value (str, None, or a list of parts and blocks); never image or file data."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    pieces: list[str] = []
    for part in content:
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part, Mapping):
            if isinstance(part.get("text"), str):
                pieces.append(part["text"])
            elif part.get("type") == "tool_result":
                pieces.append(content_text(part.get("content")))
    return "\n".join(p for p in pieces if p)


def canonical(body: Mapping[str, Any]) -> bytes:
    """The bytes a digest covers: role, content (a lone text part equals its string), name, tool_call_id, tool_calls,
    without nulls, as sorted UTF-8 JSON. Two dicts that a provider would read alike give the same bytes."""
    content = body.get("content")
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        part = content[0]
        if part.get("type") == "text" and set(part) <= {"type", "text"} and isinstance(part.get("text"), str):
            content = part["text"]
    covered = {k: v for k in _COVERED if (v := body.get(k)) is not None}
    if content is not None:
        covered["content"] = content
    return _COMPACT(_without_nulls(covered)).encode()


_COVERED = ("role", "name", "tool_call_id", "tool_calls")
_COMPACT = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def _without_nulls(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_without_nulls(v) for v in value]
    return value
