"""Atomic groups: a user message and all up to the next one; a tool call and all its results never part.

Works on roles and call ids; knows no budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from keepline.context.draft import SYSTEM_CODES, USER_CODE, Log
from keepline.ports.store import ROLES
from keepline.ports.view import View
from keepline.values.message import Message, Retention
from keepline.values.session import DROPPED


def join(view: View, own: tuple[Message, ...], tokens: Sequence[int]) -> Log:
    """The log of `view` with this call's messages (`tokens` each) after it.

    The current turn begins at the last user message that is not a tool result; with none, at the end of the log. When the
    call brings instructions of its own, those of the log no longer count.
    """
    outline, n = view.outline, len(view)
    role = np.concatenate([outline.role, np.array([ROLES.index(m.role) for m in own], dtype=np.uint8)])
    counts = np.concatenate([outline.tokens, np.array(tokens, dtype=np.int64)])
    live = np.concatenate([~outline.erased, np.ones(len(own), dtype=bool)])
    answering = np.concatenate([view.answering, np.array([m.only_answers for m in own], dtype=bool)])
    instructs = np.isin(role, SYSTEM_CODES)
    replaced = instructs.copy()
    replaced[n:] = False
    if not instructs[n:].any():
        replaced[:n] &= outline.retention == Retention.DROPPABLE
    live &= ~replaced
    cleared = dropped = 0
    if view.session is not None:
        cleared, dropped = view.session.cleared, view.session.positions.get(DROPPED, 0)
    held = live.copy()
    held[:dropped] = False
    live[:cleared] &= instructs[:cleared] & held[:cleared]
    counts = np.where(live, np.maximum(counts, 0), 0)
    asks = (role == USER_CODE) & ~answering & live
    starts = np.flatnonzero(asks)
    current = int(starts[-1]) if len(starts) else n
    while current > n and asks[current - 1]:  # user messages sent together are one question
        current -= 1
    starts = starts[starts <= current]
    first = np.flatnonzero(live & ~instructs)
    if len(first) and (not len(starts) or first[0] < starts[0]):
        starts = np.concatenate([first[:1], starts])
    system = tuple(int(i) for i in np.flatnonzero(instructs & live))
    return Log(
        view=view, own=own, tokens=counts, whole=counts, answering=answering, role=role, live=live, starts=starts,
        current=current, system=system, held=held, cleared=cleared,
    )  # fmt: skip


def rounds(log: Log) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The current turn as (its head, its rounds): the head is the question up to the first assistant message; a round is
    an assistant message with all that follows it up to the next assistant message."""
    assistant = ROLES.index("assistant")
    head: list[int] = []
    groups: list[tuple[int, ...]] = []
    for i in range(log.current, len(log)):
        if not log.live[i] or log.role[i] in SYSTEM_CODES:
            continue
        if log.role[i] == assistant:
            groups.append((i,))
        elif groups:
            groups[-1] = (*groups[-1], i)
        else:
            head.append(i)
    return tuple(head), groups


def must_send(log: Log) -> tuple[int, ...]:
    """Indices of the current turn that are sent whatever it costs: its head and its last round."""
    head, groups = rounds(log)
    return head + (groups[-1] if groups else ())


def repair(messages: Sequence[tuple[int, Message]]) -> tuple[list[tuple[int, Message]], list[int]]:
    """Messages in which every result directly follows its call and every call is answered once.

    A result found later is moved behind its call; a second result of a call and a result without a call are left out; a
    call without a result is taken out of its message, and a message that has nothing else is left out. Nothing is
    invented. Whole messages are the very objects that came. Returns the messages and the indices that were touched.
    """
    if not any(m.calls or m.answers for _, m in messages):
        return list(messages), []
    answer_at: dict[str, tuple[int, Message]] = {}
    called: set[str] = set()
    for i, m in messages:
        called.update(m.calls)
        for call in m.answers:
            if call in called:
                answer_at.setdefault(call, (i, m))
    out: list[tuple[int, Message]] = []
    touched: list[int] = []
    placed: set[int] = set()
    for i, m in messages:
        if m.answers:
            if i not in placed:
                rest = _without(m, set(m.answers), "tool_result")
                touched.append(i)
                if rest is not None:
                    out.append((i, rest))
            continue
        missing = {c for c in m.calls if c not in answer_at}
        kept = m if not missing else _without(m, missing, "tool_use")
        if missing:
            touched.append(i)
        if kept is None:
            continue
        out.append((i, kept))
        for call in kept.calls:
            j, result = answer_at[call]
            if j not in placed:
                placed.add(j)
                out.append((j, result))
    order = [i for i, _ in out]
    touched += [b for a, b in pairwise(order) if b < a]
    return out, sorted(set(touched))


def _without(message: Message, calls: set[str], block: str) -> Message | None:
    """The message without these calls or results; None when nothing else is in it."""
    body: dict[str, Any] = dict(message.body)
    key = "id" if block == "tool_use" else "tool_use_id"
    if body.get("role") == "tool":
        return None
    if "tool_calls" in body:
        left = [c for c in body["tool_calls"] or () if str(c.get("id", "")) not in calls]
        if left:
            body["tool_calls"] = left
        else:
            del body["tool_calls"]
    content = body.get("content")
    if isinstance(content, list):
        body["content"] = [
            b for b in content if not (isinstance(b, Mapping) and b.get("type") == block and str(b.get(key, "")) in calls)
        ]
    return message.evolve(body=body) if body.get("content") or body.get("tool_calls") else None

