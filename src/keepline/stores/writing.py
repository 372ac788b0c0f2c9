"""A write as steps: what it rested on is checked, then each operation becomes statements. Pure; executes nothing.

The owner's row is read first and written last, once, with the new version. Knows nothing of transactions: whoever drives
the steps makes them one. What erases is in `erasing`.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import and_, bindparam, case, delete, func, insert, select, update

from keepline.errors import Moved
from keepline.ports import store as ops
from keepline.ports.store import CATEGORIES, ROLES, UNKNOWN, IndexRow, Row
from keepline.stores import erasing
from keepline.stores.reading import (
    F16,
    SESSION,
    U16,
    U64,
    batches,
    micros,
    owned,
    owner,
    to_sessions,
)
from keepline.stores.schema import bodies, endings, ledgers, messages, pins, positions, recall, sessions, users
from keepline.stores.steps import Account, Step, Steps, Written, many
from keepline.values.scope import Scope
from keepline.values.session import Session, Span
from keepline.values.tag import Pin, Tag

_ERASERS = (ops.EraseRows, ops.EraseSession, ops.EraseUser)


def write(need: ops.Write) -> Steps[Written]:
    """The steps of one write. Raises `Moved`."""
    scopes = [part.scope for part in (*need.expects, *need.ops)]
    if not scopes:
        return Written(0, False)
    account = yield from _account(scopes[0])
    for expect in need.expects:
        yield from _check(expect, account)
    if not need.ops:
        return Written(account.version, False)
    account.version += account.exists
    for op in need.ops:
        if not account.exists and not isinstance(op, (ops.PutUser, *_ERASERS)):
            raise Moved(what="this user has nothing here any more")
        yield from _WRITERS[type(op)](op, account)
    if account.exists:
        counters = {"version": account.version, "epoch": account.epoch + account.erased, "numbers": account.numbers}
        yield Step(_SAVE_USER, account.who | counters)
    return Written(account.version, account.words_gone)


_USER = select(users.c.version, users.c.epoch, users.c.numbers).where(owned(users))
_SAVE_USER = update(users).where(owned(users)).values(
    version=bindparam("version"), epoch=bindparam("epoch"), numbers=bindparam("numbers"),
)  # fmt: skip


def _account(scope: Scope) -> Steps[Account]:
    who = owner(scope)
    rows = yield Step(_USER, who)
    if not rows:
        return Account(who=who, exists=False)
    version, epoch, numbers = rows[0]
    return Account(who=who, exists=True, version=version, epoch=epoch, numbers=numbers)


def _met(name: str, account: Account) -> Steps[Session | None]:
    """The session as it is inside this write, read at most once."""
    if name not in account.sessions:
        rows = yield Step(SESSION, account.who | {"name": name})
        account.sessions[name] = next(iter(to_sessions(rows)), None)
    return account.sessions[name]


def _need(scope: Scope, account: Account) -> Steps[Session]:
    found = yield from _met(scope.need_session("writing"), account)
    if found is None:
        raise Moved(what=f"session {scope.session!r} is gone")
    return found


def _check(expect: ops.Expect, account: Account) -> Steps[None]:
    if expect.epoch is not None and expect.epoch != account.epoch:
        raise Moved(what="messages of this user were erased")
    if expect.count is None and expect.head is None and expect.view is None:
        return
    found = yield from _met(expect.scope.need_session("a write's expectation"), account)
    count, head = (found.count, found.head) if found else (0, b"")
    if expect.count is not None and expect.count != count:
        raise Moved(what=f"session {expect.scope.session!r} has {count} messages, not {expect.count}")
    if expect.head is not None and expect.head != head:
        raise Moved(what=f"session {expect.scope.session!r} has another last message")
    if expect.view is not None and expect.position is not None:
        reached = found.positions.get(expect.view, 0) if found else 0
        if expect.position != reached:
            raise Moved(what=f"view {expect.view!r} of session {expect.scope.session!r} has come to {reached}")


# ---------------------------------------------------------------- owner and sessions


def _put_user(op: ops.PutUser, account: Account) -> Steps[None]:
    if account.exists:
        return
    # random, so that a copy kept from before an erasure never matches the counters of whoever has the name afterwards
    account.exists, account.version, account.epoch, account.numbers = True, _random(), _random(), 0
    counters = {"version": account.version, "epoch": account.epoch, "numbers": 0}
    yield Step(insert(users), [_key(account) | {"key": op.key} | counters])


def _random() -> int:
    return secrets.randbits(47) + 1


def _key(account: Account) -> dict[str, Any]:
    return {"tenant": account.who["t"], "user": account.who["u"]}


_SAVE_SESSION = (
    update(sessions).where(owned(sessions), sessions.c.name == bindparam("s"))
    .values(count=bindparam("count"), head=bindparam("head"))
)  # fmt: skip
_LENGTH = select(func.count()).where(
    owned(messages), messages.c.number == bindparam("n"),
    messages.c.seq >= bindparam("lo"), messages.c.seq < bindparam("hi"),
)  # fmt: skip


def _put_session(op: ops.PutSession, account: Account) -> Steps[None]:
    name, given = op.scope.need_session("writing a session"), op.session
    known = yield from _met(name, account)
    number = known.number if known else account.numbers
    if known and given.number != number:
        raise Moved(what=f"session {name!r} is another one by now")
    if not known and given.number != -1:
        raise Moved(what=f"session {name!r} was erased")
    if known is None:
        account.numbers += 1
        for span in given.path:
            yield from _exists(span, account)
        yield Step(insert(sessions), [_key(account) | {
            "name": name, "number": number, "started": micros(given.started),
            "path": json.dumps([[s.number, s.lo, s.hi] for s in given.path]),
            "start": given.start, "count": given.count, "head": given.head,
        }])  # fmt: skip
    elif (known.count, known.head) != (given.count, given.head):
        yield Step(_SAVE_SESSION, account.who | {"s": name, "count": given.count, "head": given.head})
    reached = dict(known.positions) if known else {}
    for view, seq in given.positions.items():
        if seq > reached.get(view, -1):  # another writer's settling is never undone by an append that had not seen it
            yield from _reach(number, view, seq, account)
            reached[view] = seq
    base = known or given
    account.sessions[name] = Session(
        name=name, number=number, started=base.started, path=base.path, start=base.start, count=given.count,
        head=given.head, positions=reached,
    )  # fmt: skip


def _exists(span: Span, account: Account) -> Steps[None]:
    rows = yield Step(_LENGTH, account.who | {"n": span.number, "lo": span.lo, "hi": span.hi})
    if rows[0][0] != span.hi - span.lo:
        raise Moved(what="the session that this fork stands on was erased")


_FORGET_POSITION = delete(positions).where(
    owned(positions), positions.c.number == bindparam("n"), positions.c.view == bindparam("v")
)


def _reach(number: int, view: str, seq: int, account: Account) -> Steps[None]:
    yield Step(_FORGET_POSITION, account.who | {"n": number, "v": view})
    yield Step(insert(positions), [_key(account) | {"number": number, "view": view, "seq": seq}])


def _set_position(op: ops.SetPosition, account: Account) -> Steps[None]:
    found = yield from _need(op.scope, account)
    yield from _reach(found.number, op.view, op.seq, account)
    account.sessions.pop(found.name)


# ---------------------------------------------------------------- the log


def packed(value: Any) -> bytes:
    """JSON in bytes, exact for whatever a Python string may hold."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _put_rows(op: ops.PutRows, account: Account) -> Steps[None]:
    found = yield from _need(op.scope, account)
    base = _key(account) | {"number": found.number}
    yield from many(insert(messages), [base | _narrow(row) | {"rev": account.version} for row in op.rows])
    yield from many(insert(bodies), [base | _wide(row) for row in op.rows])


def _narrow(row: Row) -> dict[str, Any]:
    message = row.message
    calls, answers = message.calls, message.answers
    return {
        "seq": message.seq, "id": message.id, "at": micros(message.at), "role": ROLES.index(message.role),
        "category": UNKNOWN if message.category is None else CATEGORIES.index(message.category),
        "retention": UNKNOWN if message.retention is None else int(message.retention),
        "given": int(message.given), "erased": int(message.erased), "counts": json.dumps(dict(message.counts)),
        "links": json.dumps([calls, answers]) if calls or answers else None,
    }  # fmt: skip


def _wide(row: Row) -> dict[str, Any]:
    body = b"" if row.message.erased else packed(dict(row.message.body))
    return {"seq": row.message.seq, "body": body, "digest": row.digest, "salt": row.salt}


_AT = and_(owned(messages), messages.c.number == bindparam("n"), messages.c.seq == bindparam("s"))
_COUNTS = select(messages.c.seq, messages.c.counts).where(
    owned(messages), messages.c.number == bindparam("n"), messages.c.seq.in_(bindparam("seqs", expanding=True)),
    messages.c.erased == 0,
)  # fmt: skip
_SAVE_COUNTS = update(messages).where(_AT).values(counts=bindparam("c"), rev=bindparam("r"))


def _put_counts(op: ops.PutCounts, account: Account) -> Steps[None]:
    changed: list[dict[str, Any]] = []
    for piece in batches(op.counts):
        rows = yield Step(_COUNTS, account.who | {"n": op.number, "seqs": piece})
        for seq, text in rows:
            counts = json.dumps(json.loads(text) | {op.vocabulary: op.counts[seq]})
            changed.append(account.who | {"n": op.number, "s": seq, "c": counts, "r": account.version})
    yield from many(_SAVE_COUNTS, changed)


# ---------------------------------------------------------------- derived views

_PRESENT = select(messages.c.seq).where(
    owned(messages), messages.c.number == bindparam("n"), messages.c.seq.in_(bindparam("seqs", expanding=True)),
    messages.c.erased == 0,
)  # fmt: skip


def _present(places: Iterable[tuple[int, int]], account: Account) -> Steps[set[tuple[int, int]]]:
    """Which of the (number, seq) have a message whose words are still there."""
    by_number: dict[int, list[int]] = {}
    for number, seq in dict.fromkeys(places):
        by_number.setdefault(number, []).append(seq)
    found: set[tuple[int, int]] = set()
    for number, seqs in by_number.items():
        for piece in batches(seqs):
            rows = yield Step(_PRESENT, account.who | {"n": number, "seqs": piece})
            found |= {(number, row[0]) for row in rows}
    return found


def _keeping(column: Any, parameter: str) -> Any:
    """`parameter`, unless the caller gave a value for this column."""
    kept = and_(messages.c.given == 1, column != UNKNOWN)
    return case((kept, column), else_=bindparam(parameter))


_SAVE_TAG = update(messages).where(_AT).values(
    category=_keeping(messages.c.category, "c"), retention=_keeping(messages.c.retention, "k"), rev=bindparam("r"),
)  # fmt: skip
_DROP_PINS = delete(pins).where(owned(pins), pins.c.number == bindparam("n"), pins.c.seq == bindparam("s"))
_DROP_ENDINGS_BY = delete(endings).where(
    owned(endings), endings.c.by_number == bindparam("n"), endings.c.by_seq == bindparam("s")
)
_ENDED_BY = select(*(endings.c[name] for name in ("number", "seq", "start", "end"))).where(
    owned(endings), endings.c.by_number == bindparam("n"), endings.c.by_seq.in_(bindparam("seqs", expanding=True))
)
_PLACE = ("number", "seq", "start", "end")
_TOUCH_PIN = (
    update(pins).where(owned(pins), *(pins.c[name] == bindparam(f"b_{name}") for name in _PLACE))
    .values(rev=bindparam("r"))
)  # fmt: skip
_DROP_ENDING = delete(endings).where(
    owned(endings), *(endings.c[name] == bindparam(f"b_{name}") for name in _PLACE),
    endings.c.by_number == bindparam("bn"), endings.c.by_seq == bindparam("bs"),
)  # fmt: skip


def _put_tags(op: ops.PutTags, account: Account) -> Steps[None]:
    here = yield from _present(((tag.number, tag.seq) for tag in op.tags), account)
    tags = [tag for tag in op.tags if (tag.number, tag.seq) in here]
    yield from many(_SAVE_TAG, [_tag_params(tag, account) for tag in tags])
    changed = yield from _ended_by(tags, account)
    places = [account.who | {"n": tag.number, "s": tag.seq} for tag in tags]
    yield from many(_DROP_PINS, places)
    yield from many(_DROP_ENDINGS_BY, places)
    yield from many(insert(pins), [_pin_values(pin, account) for tag in tags for pin in tag.pins])
    ends = [(_place(pin), tag.number, pin.ended_by) for tag in tags for pin in (*tag.ends, *tag.pins)]
    for place, by_number, by_seq in ends:
        if by_seq is None:
            continue
        yield Step(_DROP_ENDING, account.who | _named(place) | {"bn": by_number, "bs": by_seq})
        values = dict(zip(_PLACE, place, strict=True)) | {"by_number": by_number, "by_seq": by_seq}
        yield Step(insert(endings), [_key(account) | values])
        changed.add(place)
    yield from many(_TOUCH_PIN, [account.who | _named(place) | {"r": account.version} for place in sorted(changed)])


def _ended_by(tags: list[Tag], account: Account) -> Steps[set[tuple[int, ...]]]:
    """The pins that these messages had ended so far: they may stand again."""
    by_number: dict[int, list[int]] = {}
    for tag in tags:
        by_number.setdefault(tag.number, []).append(tag.seq)
    found: set[tuple[int, ...]] = set()
    for number, seqs in by_number.items():
        for piece in batches(seqs):
            found |= set((yield Step(_ENDED_BY, account.who | {"n": number, "seqs": piece})))
    return found


def _place(pin: Pin) -> tuple[int, ...]:
    return pin.number, pin.seq, pin.start, pin.end


def _named(place: tuple[int, ...]) -> dict[str, int]:
    return {f"b_{name}": value for name, value in zip(_PLACE, place, strict=True)}


def _tag_params(tag: Tag, account: Account) -> dict[str, Any]:
    found = {"c": CATEGORIES.index(tag.category), "k": int(tag.retention), "r": account.version}
    return account.who | {"n": tag.number, "s": tag.seq} | found


def _pin_values(pin: Pin, account: Account) -> dict[str, Any]:
    return _key(account) | {
        "number": pin.number, "seq": pin.seq, "start": pin.start, "end": pin.end, "rev": account.version,
        "kind": CATEGORIES.index(pin.kind), "certainty": pin.certainty, "given": int(pin.given), "until": pin.until,
    }  # fmt: skip


_DROP_INDEX = delete(recall).where(
    owned(recall), recall.c.number == bindparam("n"), recall.c.seq == bindparam("s"), recall.c.chunk == bindparam("c")
)


def _put_index(op: ops.PutIndex, account: Account) -> Steps[None]:
    here = yield from _present(((row.number, row.seq) for row in op.rows), account)
    rows = [row for row in op.rows if (row.number, row.seq) in here]
    yield from many(_DROP_INDEX, [account.who | {"n": r.number, "s": r.seq, "c": r.chunk} for r in rows])
    yield from many(insert(recall), [_index_values(row, account) for row in rows])


def _index_values(row: IndexRow, account: Account) -> dict[str, Any]:
    return _key(account) | {
        "number": row.number, "seq": row.seq, "chunk": row.chunk, "rev": account.version, "start": row.start,
        "end": row.end, "role": row.role, "at": row.at, "length": row.length,
        "terms": row.terms.astype(U64).tobytes(), "counts": row.counts.astype(U16).tobytes(),
        "vector": None if row.vector is None else row.vector.astype(F16).tobytes(),
    }  # fmt: skip


_DROP_LEDGER = delete(ledgers).where(owned(ledgers), ledgers.c.id == bindparam("l"))
_OLD_LEDGERS = (
    select(ledgers.c.id).where(owned(ledgers))
    .order_by(ledgers.c.rev.desc(), ledgers.c.at.desc(), ledgers.c.id)
    .limit(1_000_000).offset(bindparam("keep"))
)  # fmt: skip


def _put_ledger(op: ops.PutLedger, account: Account) -> Steps[None]:
    yield Step(_DROP_LEDGER, account.who | {"l": op.ledger.id})
    body = {"rev": account.version, "at": op.ledger.at, "body": packed(op.ledger.to_dict())}
    yield Step(insert(ledgers), [_key(account) | {"id": op.ledger.id} | body])
    rows = yield Step(_OLD_LEDGERS, account.who | {"keep": op.keep})
    yield from many(_DROP_LEDGER, [account.who | {"l": row[0]} for row in rows])


_WRITERS: dict[type, Callable[[Any, Account], Steps[None]]] = {
    ops.PutUser: _put_user,
    ops.PutSession: _put_session,
    ops.PutRows: _put_rows,
    ops.PutTags: _put_tags,
    ops.PutIndex: _put_index,
    ops.PutCounts: _put_counts,
    ops.SetPosition: _set_position,
    ops.PutLedger: _put_ledger,
    ops.EraseRows: erasing.rows,
    ops.EraseSession: erasing.session,
    ops.EraseUser: erasing.user,
}
