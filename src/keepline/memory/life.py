"""The life of a session beside its log: contexts that begin anew and can be taken back, forks by hand, checkpoints, an end.

Nothing here rewrites a log. Flows, as in `log`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from keepline.errors import BadMessage, NotFound
from keepline.memory.extend import Fresh, extend, newcomer
from keepline.ports.derived import Derived, DropDerived, GetDerived, PutDerived
from keepline.ports.flow import Flow
from keepline.ports.store import (
    Expect,
    GetOutline,
    GetRows,
    GetSession,
    GetUser,
    ListSessions,
    Read,
    SetPosition,
    SetSession,
    Write,
)
from keepline.values.checkpoint import Checkpoint, Reset
from keepline.values.scope import Scope
from keepline.values.session import CHECKPOINTS, DROPPED, RESETS, Session

STATE_BYTES = 8_000_000
"""The most that a checkpoint's state may take as JSON."""


def reset(scope: Scope, now: datetime, *, drop: bool) -> Flow[Reset]:
    """Let the session's contexts begin at its head; with `drop`, let rules and recall begin there too. What it was is kept for
    `undo`. Raises `NotFound`."""
    session = yield from _session(scope)
    dropped = session.positions.get(DROPPED, 0)
    earlier = yield from _resets(scope, session)
    was = Derived(
        kind=RESETS, id=f"{session.number}.{len(earlier):06}", number=session.number, lo=session.count, hi=session.count,
        at=now.timestamp(), body={"cleared": session.cleared, "dropped": dropped},
    )  # fmt: skip
    done = Reset(cleared=session.count, dropped=session.count if drop else dropped)
    yield Write(
        (SetSession(scope, cleared=done.cleared), SetPosition(scope, DROPPED, done.dropped), PutDerived(scope, (was,))),
        (Expect(scope, count=session.count, head=session.head),),
    )
    return done


def undo(scope: Scope) -> Flow[Reset]:
    """Take the last reset back → how it is now. Raises `NotFound` when there is none."""
    session = yield from _session(scope)
    earlier = yield from _resets(scope, session)
    if not earlier:
        raise NotFound(what="reset", id=f"of session {session.name}")
    last = earlier[-1]
    back = Reset(cleared=last.body["cleared"], dropped=last.body["dropped"])
    done = DropDerived(scope, RESETS, (last.id,))
    yield Write((SetSession(scope, cleared=back.cleared), SetPosition(scope, DROPPED, back.dropped), done))
    return back


def fork(scope: Scope, name: str | None, at: int | None, now: datetime, fresh: Fresh) -> Flow[Session]:
    """A new session that shares the first `at` messages of the scope's (None: all); `name` is free, or made. Raises `NotFound`,
    `BadMessage` for a name that is taken or a place that is not there."""
    user, parent, sessions = yield Read((GetUser(scope), GetSession(scope), ListSessions(scope)))
    if parent is None:
        raise NotFound(what="session", id=scope.session or "")
    names = {s.name for s in sessions}
    if name in names:
        raise BadMessage(where="fork", why=f"there is a session {name!r} already; give another name, or none")
    cut = parent.count if at is None else at
    if not 0 < cut <= parent.count:
        raise BadMessage(where="fork", why=f"{cut} is no place in a log of {parent.count} messages; give 1 to {parent.count}")
    (rows,) = yield Read((GetRows(scope, parent.upto(cut)),))
    head = next((row.digest for row in reversed(rows) if row.digest), b"")
    free = name or next(f"{parent.name}~{n}" for n in range(2, len(names) + 3) if f"{parent.name}~{n}" not in names)
    made = Session(
        name=free, number=-1, started=now, path=parent.upto(cut), start=cut, count=cut, head=head,
        cleared=min(parent.cleared, cut), expires=parent.expires,
        positions={view: min(reached, cut) for view, reached in parent.positions.items()},
    )  # fmt: skip
    yield from extend(scope, user or newcomer(fresh), made, (), fresh, number=0, careful=False)
    (session,) = yield Read((GetSession(scope.at(free)),))
    found: Session = session
    return found


def save(scope: Scope, state: Mapping[str, Any], following: str | None, now: datetime, fresh: Fresh) -> Flow[Checkpoint]:
    """Keep `state` beside the session as it is now. Raises `NotFound`, `BadMessage` for a state that is no JSON or too large."""
    session = yield from _session(scope)
    try:
        size = len(json.dumps(state, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass"))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadMessage(where="checkpoint", why=f"the state is no JSON: {error}") from None
    if size > STATE_BYTES:
        raise BadMessage(where="checkpoint", why=f"the state takes {size} bytes, at most {STATE_BYTES} are kept")
    row = Derived(
        kind=CHECKPOINTS, id=f"k{fresh(8).hex()}", number=session.number, lo=0, hi=session.count, key=session.name,
        at=now.timestamp(), body={"state": dict(state), "next": following, "at": now.isoformat()},
    )  # fmt: skip
    yield Write((PutDerived(scope, (row,)),), (Expect(scope, count=session.count, head=session.head),))
    return _checkpoint(row)


def checkpoints(scope: Scope, id: str | None, limit: int) -> Flow[tuple[Checkpoint, ...]]:
    """The session's checkpoints, newest first, at most `limit`; with `id`, that one."""
    (rows,) = yield Read((GetDerived(scope, CHECKPOINTS, keys=(scope.session or "",), limit=None if id else limit),))
    found = sorted(rows, key=lambda row: (-row.at, -row.hi, row.id))
    return tuple(_checkpoint(row) for row in found if id in (None, row.id))


def expire(scope: Scope, after: timedelta, now: datetime) -> Flow[datetime]:
    """Let the session be erased `after` from now → when. Raises `NotFound`."""
    session = yield from _session(scope)
    at = now + after
    yield Write((SetSession(scope, expires=at),), (Expect(scope, count=session.count, head=session.head),))
    return at


def stale_checkpoints(scope: Scope, ids: tuple[str, ...]) -> Flow[tuple[str, ...]]:
    """Checkpoints of the owner that may hold words of these messages: those of their sessions, made when they were there. Whose
    words a state has nobody can tell, so they go with the messages."""
    sessions, rows = yield Read((ListSessions(scope), GetDerived(scope, CHECKPOINTS)))
    if not rows:
        return ()
    wanted, gone = set(ids), []
    for session in sessions:
        (outline,) = yield Read((GetOutline(scope.at(session.name), session.spans, ""),))
        first = min((int(seq) for seq, id in zip(outline.seq, outline.ids, strict=True) if id in wanted), default=None)
        if first is not None:
            gone += [row.id for row in rows if row.number == session.number and row.hi > first]
    return tuple(gone)


def _resets(scope: Scope, session: Session) -> Flow[list[Derived]]:
    """What the session's resets changed, oldest first."""
    (rows,) = yield Read((GetDerived(scope, RESETS),))
    return sorted((row for row in rows if row.number == session.number), key=lambda row: row.id)


def _session(scope: Scope) -> Flow[Session]:
    (session,) = yield Read((GetSession(scope),))
    if session is None:
        raise NotFound(what="session", id=scope.session or "")
    found: Session = session
    return found


def _checkpoint(row: Derived) -> Checkpoint:
    body = row.body
    return Checkpoint(id=row.id, session=row.key, state=body["state"], next=body["next"], count=row.hi, at=body["at"])
