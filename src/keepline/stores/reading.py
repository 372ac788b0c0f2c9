"""Read operations as statements, and rows as values. Pure: what executes the statements is elsewhere.

Every statement but `Behind`'s selects tenant and user first, so that an answer carries the owners of its rows. Statements
are built once; SQLAlchemy then finds their compiled form by identity. An outline and an index are converted column by
column: a Python object a row is what would make them slow.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from sqlalchemy import and_, bindparam, func, select

from keepline.ports import store as ops
from keepline.ports.derived import GetDerived
from keepline.ports.store import CATEGORIES, ROLES, UNKNOWN, Outline, Row
from keepline.stores import reading_views
from keepline.stores.keys import batches, in_span, inside, instant, micros, owned, owner, owners, same, within
from keepline.stores.schema import bodies, messages, positions, sessions, users
from keepline.stores.steps import Owned, Rows, Step, Steps
from keepline.values.message import Category, Message, Retention
from keepline.values.scope import Scope
from keepline.values.session import Session, Span, User

# ---------------------------------------------------------------- owner and sessions

USER = select(users.c.tenant, users.c.user, users.c.key, users.c.version, users.c.epoch).where(owned(users))


def _user(op: ops.GetUser) -> Steps[Owned]:
    rows = yield Step(USER, owner(op.scope))
    return Owned(User(key=rows[0][2], version=rows[0][3], epoch=rows[0][4]) if rows else None, owners(rows))


_s = sessions.c
SESSIONS = (
    select(_s.tenant, _s.user, _s.name, _s.number, _s.started, _s.path, _s.start, _s.count, _s.head,
           positions.c.view, positions.c.seq, _s.cleared, _s.expires)
    .select_from(sessions.outerjoin(positions, same(sessions, positions, "number")))
    .where(owned(sessions)).order_by(_s.started, _s.number)
)  # fmt: skip
SESSION = SESSIONS.where(_s.name == bindparam("name"))


def to_sessions(rows: Rows) -> tuple[Session, ...]:
    """Sessions from rows of `SESSIONS`, which repeat a session for each of its positions."""
    found: dict[int, tuple[Any, ...]] = {}
    reached: dict[int, dict[str, int]] = {}
    for row in rows:
        found.setdefault(row[3], row)
        if row[9] is not None:
            reached.setdefault(row[3], {})[row[9]] = row[10]
    return tuple(
        Session(
            name=row[2], number=number, started=instant(row[4]), path=to_path(row[5]), start=row[6], count=row[7],
            head=row[8], positions=reached.get(number, {}), cleared=row[11],
            expires=None if row[12] is None else instant(row[12]),
        )
        for number, row in found.items()
    )  # fmt: skip


def to_path(text: str) -> tuple[Span, ...]:
    """Spans from their JSON; most sessions are no forks."""
    return () if text == "[]" else tuple(Span(number=number, lo=lo, hi=hi) for number, lo, hi in json.loads(text))


def _session(op: ops.GetSession) -> Steps[Owned]:
    rows = yield Step(SESSION, owner(op.scope) | {"name": op.scope.need_session("reading a session")})
    return Owned(next(iter(to_sessions(rows)), None), owners(rows))


def _sessions(op: ops.ListSessions) -> Steps[Owned]:
    rows = yield Step(SESSIONS, owner(op.scope))
    return Owned(to_sessions(rows), owners(rows))


BEHIND = (
    select(_s.tenant, _s.user, _s.name)
    .select_from(sessions.outerjoin(
        positions, and_(same(sessions, positions, "number"), positions.c.view == bindparam("view")),
    ))
    .where(_s.count > func.coalesce(positions.c.seq, 0))
    .limit(bindparam("most"))
)  # fmt: skip


def _behind(op: ops.Behind) -> Steps[Owned]:
    rows = yield Step(BEHIND, {"view": op.view, "most": op.limit})
    return Owned(tuple(Scope(tenant=t, user=u, session=name) for t, u, name in rows), frozenset())


EXPIRED = select(_s.tenant, _s.user, _s.name).where(_s.expires <= bindparam("now")).limit(bindparam("most"))


def _expired(op: ops.Expired) -> Steps[Owned]:
    rows = yield Step(EXPIRED, {"now": micros(op.now), "most": op.limit})
    return Owned(tuple(Scope(tenant=t, user=u, session=name) for t, u, name in rows), frozenset())


# ---------------------------------------------------------------- the log

_m, _b = messages.c, bodies.c
_ROWS = select(
    _m.tenant, _m.user, _m.seq, _m.id, _m.at, _m.role, _m.category, _m.retention, _m.given, _m.erased, _m.counts,
    _b.body, _b.digest, _b.salt,
).select_from(messages.join(bodies, same(messages, bodies, "number", "seq")))  # fmt: skip
ROWS_IN_SPAN = _ROWS.where(in_span(messages)).order_by(_m.seq)
ROWS_AT = _ROWS.where(owned(messages), _m.number == bindparam("n"), _m.seq.in_(bindparam("seqs", expanding=True)))
ROWS_NAMED = _ROWS.where(owned(messages), _m.id.in_(bindparam("ids", expanding=True)))


def _to_row(row: tuple[Any, ...]) -> Row:
    _, _, seq, name, at, role, category, retention, given, erased, counts, body, digest, salt = row
    message = Message(
        body={"role": ROLES[role]} if erased else _to_body(body, ROLES[role]),
        id=name, at=instant(at), seq=seq,
        category=None if category == UNKNOWN else Category(CATEGORIES[category]),
        retention=None if retention == UNKNOWN else Retention(retention),
        given=bool(given), counts=json.loads(counts), erased=bool(erased),
    )  # fmt: skip
    return Row(message=message, digest=digest, salt=salt)


def _to_body(kept: Any, role: str) -> dict[str, Any]:
    """The body as it was written, in bytes. What somebody changed by hand may be of another type, or no message at all: it is
    read as it stands, so that the chain can tell that it is not what was said."""
    try:
        body = json.loads(kept.decode("utf-8", "surrogatepass") if isinstance(kept, bytes) else str(kept))
    except (json.JSONDecodeError, UnicodeDecodeError):
        body = None
    if isinstance(body, dict) and body.get("role") in ROLES:
        return body
    return {"role": role, "content": kept.decode("utf-8", "replace") if isinstance(kept, bytes) else str(kept)}


def _rows(op: ops.GetRows) -> Steps[Owned]:
    found: Rows = []
    for span in op.spans:
        if op.seqs is None:
            found += yield Step(ROWS_IN_SPAN, owner(op.scope) | within(span))
            continue
        for piece in batches(sorted({seq for seq in op.seqs if span.lo <= seq < span.hi})):
            found += yield Step(ROWS_AT, owner(op.scope) | {"n": span.number, "seqs": piece})
    found.sort(key=lambda row: row[2])
    return Owned(tuple(map(_to_row, found)), owners(found))


def _find(op: ops.FindRows) -> Steps[Owned]:
    found: Rows = []
    for piece in batches(dict.fromkeys(op.ids)):
        found += yield Step(ROWS_NAMED, owner(op.scope) | {"ids": piece})
    return Owned(tuple(map(_to_row, found)), owners(found))


_OUTLINE = select(
    _m.tenant, _m.user, _m.seq, _m.number, _m.at, _m.role, _m.category, _m.retention, _m.given, _m.erased, _m.counts,
    _m.id, _m.links,
)  # fmt: skip
OUTLINE = _OUTLINE.where(in_span(messages)).order_by(_m.seq)
# without the session's number: with it, a planner that has no statistics would scan the session instead of the new rows
OUTLINE_SINCE = _OUTLINE.where(owned(messages), _m.rev > bindparam("since"))


def _outline(op: ops.GetOutline) -> Steps[Owned]:
    found: Rows = []
    if op.since:
        new = yield Step(OUTLINE_SINCE, owner(op.scope) | {"since": op.since})
        found = sorted((row for row in new if inside(row[3], row[2], op.spans)), key=lambda row: row[2])
    else:
        for span in op.spans:
            found += yield Step(OUTLINE, owner(op.scope) | within(span))
    return Owned(_to_outline(found, op.vocabulary), owners(found))


def _to_outline(rows: Rows, vocabulary: str) -> Outline:
    columns = list(zip(*rows, strict=True)) if rows else [()] * 13
    _, _, seq, number, at, role, category, retention, given, erased, counts, ids, links = columns
    counted = json.loads(f"[{','.join(counts)}]")  # one call of the parser instead of one a row
    return Outline(
        seq=np.array(seq, np.int64), number=np.array(number, np.int64), at=np.array(at, np.int64) / 1e6,
        role=np.array(role, np.uint8), category=np.array(category, np.uint8), retention=np.array(retention, np.uint8),
        given=np.array(given, np.bool_), erased=np.array(erased, np.bool_),
        tokens=np.array([c.get(vocabulary, -1) for c in counted], np.int64), ids=tuple(ids),
        links={s: _links(text) for s, text in zip(seq, links, strict=True) if text},
    )  # fmt: skip


def _links(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    calls, answers = json.loads(text)
    return tuple(calls), tuple(answers)


_READERS: dict[type, Callable[[Any], Steps[Owned]]] = {
    ops.GetUser: _user,
    ops.GetSession: _session,
    ops.ListSessions: _sessions,
    ops.GetRows: _rows,
    ops.FindRows: _find,
    ops.GetOutline: _outline,
    ops.GetPins: reading_views.pins,
    ops.GetIndex: reading_views.index,
    ops.GetLedgers: reading_views.ledgers,
    GetDerived: reading_views.derived,
    ops.Behind: _behind,
    ops.Expired: _expired,
}


def answer(op: ops.ReadOp) -> Steps[Owned]:
    """The steps that answer `op`; their result is the value of `op`'s docstring with the owners of its rows."""
    return _READERS[type(op)](op)
