"""The log's verbs: append at its head, erase, check. Re-sent histories are in `sync`, files of them in `imports`.

Flows: they yield reads and writes and are run by whoever has a store. A write says which head it rested on; if somebody
else was faster, the flow reads again and decides anew, so that many writers lose nothing and double nothing. Knows no SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from keepline.errors import BadMessage, Moved
from keepline.memory import chain
from keepline.memory.extend import TRIES, Fresh, extend, newcomer
from keepline.memory.life import stale_checkpoints
from keepline.memory.sync import Synced, sync
from keepline.ports.derived import DropDerived
from keepline.ports.flow import Flow
from keepline.ports.store import (
    ROLES,
    EraseRows,
    EraseSession,
    EraseUser,
    FindRows,
    GetOutline,
    GetRows,
    GetSession,
    GetUser,
    ListSessions,
    Read,
    Row,
    Write,
)
from keepline.ports.tokens import TokenCounter
from keepline.values.message import Message, canonical
from keepline.values.scope import Scope
from keepline.values.session import CHECKPOINTS, Session, Span, User

__all__ = ["Synced", "append", "erase", "sync", "verify_log"]

NEAR = 64
"""Messages before the head among which a tool result's call is looked for first; it nearly always is the last one."""


def append(
    scope: Scope, messages: Sequence[Message], counter: TokenCounter, now: datetime, fresh: Fresh, *, strict: bool = True
) -> Flow[tuple[Message, ...]]:
    """Add `messages` (from `intake`) at the head of the scope's session → as stored, one for each given, in their order.

    A message whose id this session already has is not added again: the stored one is returned. `counter` counts each
    once. `now` is when a new session starts; `fresh` makes secrets. `strict` refuses a tool result without its call.
    Raises `EmptySession`; `BadMessage` for an id that stands for another message, or a result without a call.
    """
    scope.need_session("append")
    if not messages:
        return ()
    counted = tuple(m.evolve(counts={counter.name: counter.message(m.body)}) for m in messages)
    ids = tuple(dict.fromkeys(m.id for m in counted if m.id))
    tried = 0
    while True:
        user, session, found = yield Read((GetUser(scope), GetSession(scope), FindRows(scope, ids)))
        known = yield from _known(scope, session, found, counted)
        new = _unknown(counted, known)
        if strict:
            yield from _check_answers(scope, session, counted, new)
        if not new:
            return tuple(known[m.id] for m in counted)
        base, number = yield from _base(scope, user, session, now)
        added = tuple(counted[i] for i in new)
        try:
            stored = yield from extend(scope, user or newcomer(fresh), base, added, fresh, number=number, careful=tried > 0)
        except Moved:
            tried += 1
            if tried == TRIES:
                raise
            continue
        known |= {m.id: m for m in stored}
        placed = dict(zip(new, stored, strict=True))
        return tuple(placed[i] if i in placed else known[m.id] for i, m in enumerate(counted))


def _base(scope: Scope, user: User | None, session: Session | None, now: datetime) -> Flow[tuple[Session, int]]:
    """The session to extend, and the number that its ids are named after."""
    if session is not None:
        return session, session.number
    number = 0
    if user is not None:
        (sessions,) = yield Read((ListSessions(scope),))
        number = max((s.number for s in sessions), default=-1) + 1
    return Session(name=scope.need_session("append"), number=-1, started=now), number


def _known(
    scope: Scope, session: Session | None, found: Sequence[Row], messages: Sequence[Message]
) -> Flow[dict[str, Message]]:
    """The stored messages that `messages` name by id."""
    if not found:
        return {}
    mine: set[str] = set()
    if session is not None:
        (rows,) = yield Read((GetRows(scope, session.spans, tuple(r.message.seq for r in found)),))
        mine = {r.message.id for r in rows}
    stored = {r.message.id: r.message for r in found}
    for i, message in enumerate(messages):
        there = stored.get(message.id)
        if there is None:
            continue
        if there.id not in mine:
            why = f'a message of another conversation of this user has the id "{there.id}"; give one that is used only once'
            raise BadMessage(where=_place(i, messages), why=why)
        if not _same(there, message):
            raise BadMessage(where=_place(i, messages), why=_OTHER.format(id=message.id))
    return stored


_OTHER = 'another message has the id "{id}", and messages are never rewritten; give this one an id of its own'


def _unknown(messages: Sequence[Message], known: dict[str, Message]) -> tuple[int, ...]:
    """Which messages to add: those not known, and each id once."""
    new: list[int] = []
    named: dict[str, Message] = {}
    for i, message in enumerate(messages):
        if message.id in named and not _same(named[message.id], message):
            raise BadMessage(where=_place(i, messages), why=_OTHER.format(id=message.id))
        if message.id in known or message.id in named:
            continue
        if message.id:
            named[message.id] = message
        new.append(i)
    return tuple(new)


def _same(stored: Message, given: Message) -> bool:
    """A tombstone stands for any message of its role: what was erased does not come back by being sent again."""
    if stored.erased:
        return stored.role is given.role
    return canonical(stored.body) == canonical(given.body)


def _check_answers(
    scope: Scope, session: Session | None, messages: Sequence[Message], new: Sequence[int]
) -> Flow[None]:
    """Raise `BadMessage` for a new tool result whose call stands neither before it here nor in the log."""
    called: set[str] = set()
    open_ends: list[tuple[str, int]] = []
    added = set(new)
    for i, message in enumerate(messages):
        if i in added:
            open_ends += [(call, i) for call in message.answers if call not in called]
        called |= set(message.calls)
    if not open_ends:
        return
    in_log, trusting = yield from _calls(scope, session, {call for call, _ in open_ends})
    for call, i in open_ends:
        if call not in in_log and not trusting:
            why = f'no call "{call}" stands before this result; append the assistant message that makes the call first'
            raise BadMessage(where=_place(i, messages), why=why)


def _calls(scope: Scope, session: Session | None, wanted: set[str]) -> Flow[tuple[set[str], bool]]:
    """Which of the calls the log has; and whether an assistant's message was erased, which may have been the one."""
    if session is None:
        return set(), False
    near = tuple(range(max(0, session.count - NEAR), session.count))
    (rows,) = yield Read((GetRows(scope, session.spans, near),))
    found = {call for row in rows for call in row.message.calls}
    if wanted <= found:
        return found, False
    (outline,) = yield Read((GetOutline(scope, session.spans, ""),))
    found = {call for calls, _ in outline.links.values() for call in calls}
    return found, bool((outline.erased & (outline.role == ROLES.index("assistant"))).any())


def _place(i: int, messages: Sequence[Message]) -> str:
    return "message" if len(messages) == 1 else f"messages[{i}]"


# ---------------------------------------------------------------- erasing


def erase(scope: Scope, ids: Sequence[str] | None) -> Flow[int]:
    """Erase messages by id; without ids (None) the scope's session; without a session all of the user. Returns how many
    messages lost their words. No ids at all (an empty sequence) erase nothing."""
    if ids is not None:
        if not ids:
            return 0
        (found,) = yield Read((FindRows(scope, tuple(ids)),))
        living = tuple(row.message.id for row in found if not row.message.erased)
        if living:
            stale = yield from stale_checkpoints(scope, living)
            drop = (DropDerived(scope, CHECKPOINTS, stale),) if stale else ()
            yield Write((EraseRows(scope, living), *drop))
        return len(living)
    user, sessions = yield Read((GetUser(scope), ListSessions(scope)))
    if user is None:
        return 0
    gone = [s for s in sessions if scope.session in (None, s.name)]
    outlines = yield Read(tuple(GetOutline(scope, _own(s), "") for s in gone))
    if scope.session is None:
        yield Write((EraseUser(scope),))
    elif gone:
        yield Write((EraseSession(scope),))
    return sum(int((~outline.erased).sum()) for outline in outlines)


def _own(session: Session) -> tuple[Span, ...]:
    return session.spans[len(session.path) :]


# ---------------------------------------------------------------- checking


def verify_log(scope: Scope) -> Flow[int]:
    """Check the chain of the scope's session, or of all the user's sessions; returns messages checked, each counted once.
    Raises `ChainBroken`."""
    while True:
        user, sessions = yield Read((GetUser(scope), ListSessions(scope)))
        mine = [s for s in sessions if scope.session in (None, s.name)]
        if user is None:
            return 0
        later, *logs = yield Read((GetUser(scope), *(GetRows(scope, s.spans) for s in mine)))
        if later is None or later.epoch != user.epoch:
            continue  # something was erased between the two snapshots
        checked: dict[str, None] = {}
        for session, rows in zip(mine, logs, strict=True):
            chain.verify(user.key, rows, session)
            checked |= dict.fromkeys(row.message.id for row in rows)
        return len(checked)

