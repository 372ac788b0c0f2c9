"""Read operations as statements, and rows as values. Pure: what executes the statements is elsewhere.

Every statement but `Behind`'s selects tenant and user first, so that an answer carries the owners of its rows. Statements
are built once; SQLAlchemy then finds their compiled form by identity. An outline and an index are converted column by
column: a Python object a row is what would make them slow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Select, and_, bindparam, func, select, tuple_

from keepline.ports import store as ops
from keepline.ports.store import CATEGORIES, ROLES, UNKNOWN, IndexRow, Outline, Row
from keepline.stores.schema import bodies, endings, ledgers, messages, pins, positions, recall, sessions, users
from keepline.stores.steps import Owned, Rows, Step, Steps
from keepline.values.message import Category, Message, Retention
from keepline.values.scope import Scope
from keepline.values.session import Session, Span, User
from keepline.values.tag import Pin

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BATCH = 512  # ids or seqs in one IN: well under SQLite's oldest limit of 999 variables


def micros(at: datetime) -> int:
    """Whole microseconds since 1970 UTC: exact, where a float of seconds is not."""
    return (at - EPOCH) // timedelta(microseconds=1)


def instant(value: int) -> datetime:
    """The UTC time of `micros`."""
    return EPOCH + timedelta(microseconds=value)


def owner(scope: Scope) -> dict[str, Any]:
    """The parameters that name the owner in every statement."""
    return {"t": scope.tenant, "u": scope.user}


def owned(table: Any) -> Any:
    """The condition that begins every WHERE."""
    return and_(table.c.tenant == bindparam("t"), table.c.user == bindparam("u"))


def same(left: Any, right: Any, *names: str) -> Any:
    """Join two tables on owner and `names`."""
    return and_(*(left.c[name] == right.c[name] for name in ("tenant", "user", *names)))


def batches(values: Iterable[Any]) -> Iterable[list[Any]]:
    """Pieces of at most `BATCH`, each filled up to a power of two by repeating its last: few distinct statements."""
    given = list(values)
    for i in range(0, len(given), BATCH):
        piece = given[i : i + BATCH]
        size = 1 << (len(piece) - 1).bit_length()
        yield piece + [piece[-1]] * (size - len(piece))


def _within(span: Span) -> dict[str, Any]:
    return {"n": span.number, "lo": span.lo, "hi": span.hi}


def _in_span(table: Any) -> Any:
    return and_(
        owned(table), table.c.number == bindparam("n"),
        table.c.seq >= bindparam("lo"), table.c.seq < bindparam("hi"),
    )  # fmt: skip


def _owners(rows: Rows) -> frozenset[tuple[str, str]]:
    return frozenset((row[0], row[1]) for row in rows)


# ---------------------------------------------------------------- owner and sessions

USER = select(users.c.tenant, users.c.user, users.c.key, users.c.version, users.c.epoch).where(owned(users))


def _user(op: ops.GetUser) -> Steps[Owned]:
    rows = yield Step(USER, owner(op.scope))
    return Owned(User(key=rows[0][2], version=rows[0][3], epoch=rows[0][4]) if rows else None, _owners(rows))


_s = sessions.c
SESSIONS = (
    select(_s.tenant, _s.user, _s.name, _s.number, _s.started, _s.path, _s.start, _s.count, _s.head,
           positions.c.view, positions.c.seq)
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
            head=row[8], positions=reached.get(number, {}),
        )
        for number, row in found.items()
    )  # fmt: skip


def to_path(text: str) -> tuple[Span, ...]:
    """Spans from their JSON; most sessions are no forks."""
    return () if text == "[]" else tuple(Span(number=number, lo=lo, hi=hi) for number, lo, hi in json.loads(text))


def _session(op: ops.GetSession) -> Steps[Owned]:
    rows = yield Step(SESSION, owner(op.scope) | {"name": op.scope.need_session("reading a session")})
    return Owned(next(iter(to_sessions(rows)), None), _owners(rows))


def _sessions(op: ops.ListSessions) -> Steps[Owned]:
    rows = yield Step(SESSIONS, owner(op.scope))
    return Owned(to_sessions(rows), _owners(rows))


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


# ---------------------------------------------------------------- the log

_m, _b = messages.c, bodies.c
_ROWS = select(
    _m.tenant, _m.user, _m.seq, _m.id, _m.at, _m.role, _m.category, _m.retention, _m.given, _m.erased, _m.counts,
    _b.body, _b.digest, _b.salt,
).select_from(messages.join(bodies, same(messages, bodies, "number", "seq")))  # fmt: skip
ROWS_IN_SPAN = _ROWS.where(_in_span(messages)).order_by(_m.seq)
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
            found += yield Step(ROWS_IN_SPAN, owner(op.scope) | _within(span))
            continue
        for piece in batches(sorted({seq for seq in op.seqs if span.lo <= seq < span.hi})):
            found += yield Step(ROWS_AT, owner(op.scope) | {"n": span.number, "seqs": piece})
    found.sort(key=lambda row: row[2])
    return Owned(tuple(map(_to_row, found)), _owners(found))


def _find(op: ops.FindRows) -> Steps[Owned]:
    found: Rows = []
    for piece in batches(dict.fromkeys(op.ids)):
        found += yield Step(ROWS_NAMED, owner(op.scope) | {"ids": piece})
    return Owned(tuple(map(_to_row, found)), _owners(found))


_OUTLINE = select(
    _m.tenant, _m.user, _m.seq, _m.number, _m.at, _m.role, _m.category, _m.retention, _m.given, _m.erased, _m.counts,
    _m.id, _m.links,
)  # fmt: skip
OUTLINE = _OUTLINE.where(_in_span(messages)).order_by(_m.seq)
# without the session's number: with it, a planner that has no statistics would scan the session instead of the new rows
OUTLINE_SINCE = _OUTLINE.where(owned(messages), _m.rev > bindparam("since"))


def _outline(op: ops.GetOutline) -> Steps[Owned]:
    found: Rows = []
    if op.since:
        new = yield Step(OUTLINE_SINCE, owner(op.scope) | {"since": op.since})
        found = sorted((row for row in new if _inside(row[3], row[2], op.spans)), key=lambda row: row[2])
    else:
        for span in op.spans:
            found += yield Step(OUTLINE, owner(op.scope) | _within(span))
    return Owned(_to_outline(found, op.vocabulary), _owners(found))


def _inside(number: int, seq: int, spans: tuple[Span, ...]) -> bool:
    return any(number == s.number and s.lo <= seq < s.hi for s in spans)


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


# ---------------------------------------------------------------- derived views

_p, _e = pins.c, endings.c
PINS: Select[Any] = (
    select(_p.tenant, _p.user, _p.number, _p.seq, _p.start, _p.end, _p.kind, _p.certainty, _p.given, _p.until,
           _e.by_number, _e.by_seq)
    .select_from(pins.outerjoin(endings, same(pins, endings, "number", "seq", "start", "end")))
    .where(_in_span(pins), _p.rev > bindparam("since")).order_by(_p.seq, _p.start, _p.end)
)  # fmt: skip


def _pins(op: ops.GetPins) -> Steps[Owned]:
    found: Rows = []
    for span in op.spans:
        found += yield Step(PINS, owner(op.scope) | _within(span) | {"since": op.since})
    ended: dict[tuple[int, ...], int] = {}
    rows: dict[tuple[int, ...], tuple[Any, ...]] = {}
    for row in found:
        place, by_number, by_seq = row[2:6], row[10], row[11]
        rows[place] = row
        if by_number is not None and _inside(by_number, by_seq, op.spans):
            ended[place] = min(by_seq, ended.get(place, by_seq))
    return Owned(tuple(_to_pin(row, ended.get(place)) for place, row in rows.items()), _owners(found))


def _to_pin(row: tuple[Any, ...], by: int | None) -> Pin:
    _, _, number, seq, start, end, kind, certainty, given, until, _, _ = row
    return Pin(
        number=number, seq=seq, start=start, end=end, kind=Category(CATEGORIES[kind]), certainty=certainty,
        given=bool(given), ended_by=by, until=until,
    )  # fmt: skip


_r = recall.c
_INDEX = select(
    _r.tenant, _r.user, _r.number, _r.seq, _r.chunk, _r.start, _r.end, _r.role, _r.at, _r.length,
    _r.terms, _r.counts, _r.vector,
)  # fmt: skip
INDEX = _INDEX.where(owned(recall)).order_by(_r.number, _r.seq, _r.chunk)
INDEX_PAGE = (
    _INDEX.where(owned(recall), tuple_(_r.number, _r.seq) > tuple_(bindparam("an"), bindparam("as")))
    .order_by(_r.number, _r.seq, _r.chunk).limit(bindparam("most"))
)  # fmt: skip
INDEX_SINCE = _INDEX.where(owned(recall), _r.rev > bindparam("since"))
U64, U16, F16 = np.dtype("<u8"), np.dtype("<u2"), np.dtype("<f2")


def _index(op: ops.GetIndex) -> Steps[Owned]:
    if op.limit is not None:
        place = {"an": op.after[0], "as": op.after[1], "most": op.limit}
        rows = yield Step(INDEX_PAGE, owner(op.scope) | place)
    elif op.since:
        rows = yield Step(INDEX_SINCE, owner(op.scope) | {"since": op.since})
        rows.sort(key=lambda row: row[2:5])
    else:
        rows = yield Step(INDEX, owner(op.scope))
    return Owned(tuple(map(_to_index, rows)), _owners(rows))


def _to_index(row: tuple[Any, ...]) -> IndexRow:
    _, _, number, seq, chunk, start, end, role, at, length, terms, counts, vector = row
    return IndexRow(
        number=number, seq=seq, chunk=chunk, start=start, end=end, role=role, at=at, length=length,
        terms=np.frombuffer(terms, U64), counts=np.frombuffer(counts, U16),
        vector=None if vector is None else np.frombuffer(vector, F16),
    )  # fmt: skip


_LEDGERS = select(ledgers.c.tenant, ledgers.c.user, ledgers.c.body).where(owned(ledgers))
LEDGERS = _LEDGERS.order_by(ledgers.c.rev.desc(), ledgers.c.at.desc(), ledgers.c.id).limit(bindparam("most"))
LEDGER = _LEDGERS.where(ledgers.c.id == bindparam("id"))


def _ledgers(op: ops.GetLedgers) -> Steps[Owned]:
    if op.id is None:
        rows = yield Step(LEDGERS, owner(op.scope) | {"most": op.limit})
    else:
        rows = yield Step(LEDGER, owner(op.scope) | {"id": op.id})
    return Owned(tuple(json.loads(row[2].decode("utf-8", "surrogatepass")) for row in rows), _owners(rows))


_READERS: dict[type, Callable[[Any], Steps[Owned]]] = {
    ops.GetUser: _user,
    ops.GetSession: _session,
    ops.ListSessions: _sessions,
    ops.GetRows: _rows,
    ops.FindRows: _find,
    ops.GetOutline: _outline,
    ops.GetPins: _pins,
    ops.GetIndex: _index,
    ops.GetLedgers: _ledgers,
    ops.Behind: _behind,
}


def answer(op: ops.ReadOp) -> Steps[Owned]:
    """The steps that answer `op`; their result is the value of `op`'s docstring with the owners of its rows."""
    return _READERS[type(op)](op)
