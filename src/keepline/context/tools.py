"""Which tool definitions a question can need, when the caller lets keepline choose. Chooses; changes no definition.

By meaning and words of name, description and parameters. Pinned tools and those that the current turn has called always stay.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from keepline.context.draft import Call, Log
from keepline.memory.text.topics import topics
from keepline.memory.tools import call_names
from keepline.ports.encoder import Embed
from keepline.ports.flow import Flow
from keepline.ports.view import Words
from keepline.values.context import Entry, Fate, Section
from keepline.values.message import Message, Role

Tool = Mapping[str, Any]
WORDS = 0.5
"""What shared words weigh beside the cosine."""
NOT_NEEDED = "the question does not need it"


def choose_tools(call: Call, log: Log) -> Flow[tuple[tuple[Tool, ...] | None, tuple[Entry, ...]]]:
    """The tools to send, in the caller's order, and an entry of the ledger for each left out."""
    tools = call.tools
    if tools is None or call.tool_limit is None or len(tools) <= call.tool_limit:
        return (None if tools is None else tuple(tools)), ()
    turn: tuple[Message, ...] = tuple(
        (yield Words(log.view, tuple(i for i in range(log.current, len(log.view)) if log.live[i]))).values()
    )
    said = (*turn, *log.own)
    used = {name for m in said for name in call_names(m).values()}
    question = call.query or "\n".join(m.text for m in said if m.role is Role.USER)
    scores = yield from _scores(question, [_shown(t) for t in tools], log.view.memo.setdefault(NOT_NEEDED, {}))
    order = sorted(range(len(tools)), key=lambda i: (_name(tools[i]) not in {*call.pinned_tools, *used}, -scores[i], i))
    must = sum(_name(t) in {*call.pinned_tools, *used} for t in tools)
    kept = set(order[: max(call.tool_limit, must)])
    gone = tuple(
        Entry(section=Section.TOOLS, fate=Fate.LEFT_OUT, rule=NOT_NEEDED, ids=(_name(t),), scores={"need": round(scores[i], 3)})
        for i, t in enumerate(tools) if i not in kept
    )  # fmt: skip
    return tuple(t for i, t in enumerate(tools) if i in kept), gone


def _scores(question: str, texts: Sequence[str], known: dict[str, Any]) -> Flow[list[float]]:
    """How much the question may need each tool; vectors of definitions are kept in `known`."""
    missing = tuple(t for t in dict.fromkeys(texts) if t not in known)
    vectors = yield Embed((question, *missing))
    asked = topics(question)
    shared = [sum(w for t, w in topics(text).items() if t in asked) / (1 + len(asked)) for text in texts]
    if vectors is None:
        return shared
    known.update(zip(missing, vectors[1:], strict=True))
    near = np.stack([known[t] for t in texts]) @ vectors[0]
    return [float(a) + WORDS * b for a, b in zip(near, shared, strict=True)]


def _function(tool: Tool) -> Mapping[str, Any]:
    inner = tool.get("function")
    return inner if isinstance(inner, Mapping) else tool


def _name(tool: Tool) -> str:
    return str(_function(tool).get("name") or tool.get("type") or "")


def _shown(tool: Tool) -> str:
    """Name, description and parameters of a definition, as text."""
    own = _function(tool)
    schema = own.get("parameters") or own.get("input_schema") or {}
    names = " ".join(schema.get("properties") or ()) if isinstance(schema, Mapping) else json.dumps(schema)
    return f"{_name(tool).replace('_', ' ')}. {own.get('description') or ''} {names}"[:600]
