"""Asking a language model. Knows no vendor and no prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What a call cost, in tokens as the provider counted them. `cached` of `input` came from its prefix cache."""

    input: int
    output: int
    cached: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """Need: → `Reply`. One question to the configured model; raises `ModelDown` or `BadReply`, never anything else.

    `purpose` names the work, for meters and traces ("summarise"). `system` instructs, `text` is data. `schema`: the JSON
    schema that the reply must satisfy (None: plain text). `most`: the largest reply, in tokens.
    """

    purpose: str
    system: str
    text: str
    schema: Mapping[str, Any] | None = None
    most: int = 1024
    temperature: float = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What the model said. `value` is the parsed JSON when a schema was given (else None); `complete` is False when it stopped
    at `most`."""

    text: str
    value: Any = None
    complete: bool = True
    usage: Usage | None = None


_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


def json_in(text: str) -> Any:
    """The JSON value of a reply: all of it, what stands in its code fence, or its outermost braces; None if there is none."""
    fenced = _FENCED.search(text)
    braces = text[text.find("{") : text.rfind("}") + 1]
    for part in (text, fenced.group(1) if fenced else "", braces):
        try:
            return json.loads(part)
        except (ValueError, RecursionError):
            continue
    return None


class Model(Protocol):
    """Answers an `Ask`. `name` is the provider's name for it; `window` the most tokens, question and reply together, that it
    takes (0: not known). Thread-safe."""

    name: str
    window: int

    def reply(self, ask: Ask) -> Reply: ...
