"""A write as steps: what it rested on is checked, then each operation becomes statements. Pure; executes nothing.

The owner's row is read first and written last, once, with the new version. Knows nothing of transactions: whoever drives
the steps makes them one. What erases is in `erasing`; what is derived in
`writing_views`.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, update

from keepline.errors import Moved
from keepline.ports import store as ops
from keepline.ports.derived import DropDerived, PutDerived
from keepline.ports.store import CATEGORIES, ROLES, UNKNOWN, Row
from keepline.stores import erasing, writing_views
from keepline.stores.keys import at, batches, micros, owned, owner, packed
from keepline.stores.reading import SESSION, to_sessions
from keepline.stores.schema import bodies, messages, positions, sessions, users
from keepline.stores.steps import Account, Step, Steps, Written, many
from keepline.values.scope import Scope
from keepline.values.session import Session, Span

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
    yield Step(insert(users), [account.key | {"key": op.key} | counters])


def _random() -> int:
    return secrets.randbits(47) + 1


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
        yield Step(insert(sessions), [account.key | {
            "name": name, "number": number, "started": micros(given.started),
            "path": json.dumps([[s.number, s.lo, s.hi] for s in given.path]),
            "start": given.start, "count": given.count, "head": given.head,
            "cleared": given.cleared, "expires": None if given.expires is None else micros(given.expires),
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
        head=given.head, positions=reached, cleared=base.cleared, expires=base.expires,
    )  # fmt: skip


_SET_SESSION = (
    update(sessions).where(owned(sessions), sessions.c.name == bindparam("s"))
    .values(cleared=bindparam("cleared"), expires=bindparam("expires"))
)  # fmt: skip


def _set_session(op: ops.SetSession, account: Account) -> Steps[None]:
    found = yield from _need(op.scope, account)
    expires = op.expires or found.expires
    changed: dict[str, int | None] = {"cleared": found.cleared if op.cleared is None else op.cleared}
    changed |= {"expires": None if expires is None else micros(expires)}
    yield Step(_SET_SESSION, account.who | {"s": found.name} | changed)
    account.sessions.pop(found.name)


def _exists(span: Span, account: Account) -> Steps[None]:
    rows = yield Step(_LENGTH, account.who | {"n": span.number, "lo": span.lo, "hi": span.hi})
    if rows[0][0] != span.hi - span.lo:
        raise Moved(what="the session that this fork stands on was erased")


_FORGET_POSITION = delete(positions).where(
    owned(positions), positions.c.number == bindparam("n"), positions.c.view == bindparam("v")
)


def _reach(number: int, view: str, seq: int, account: Account) -> Steps[None]:
    yield Step(_FORGET_POSITION, account.who | {"n": number, "v": view})
    yield Step(insert(positions), [account.key | {"number": number, "view": view, "seq": seq}])


def _set_position(op: ops.SetPosition, account: Account) -> Steps[None]:
    found = yield from _need(op.scope, account)
    yield from _reach(found.number, op.view, op.seq, account)
    account.sessions.pop(found.name)


# ---------------------------------------------------------------- the log


def _put_rows(op: ops.PutRows, account: Account) -> Steps[None]:
    found = yield from _need(op.scope, account)
    base = account.key | {"number": found.number}
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


_COUNTS = select(messages.c.seq, messages.c.counts).where(
    owned(messages), messages.c.number == bindparam("n"), messages.c.seq.in_(bindparam("seqs", expanding=True)),
    messages.c.erased == 0,
)  # fmt: skip
_SAVE_COUNTS = update(messages).where(at(messages)).values(counts=bindparam("c"), rev=bindparam("r"))


def _put_counts(op: ops.PutCounts, account: Account) -> Steps[None]:
    changed: list[dict[str, Any]] = []
    for piece in batches(op.counts):
        rows = yield Step(_COUNTS, account.who | {"n": op.number, "seqs": piece})
        for seq, text in rows:
            counts = json.dumps(json.loads(text) | {op.vocabulary: op.counts[seq]})
            changed.append(account.who | {"n": op.number, "s": seq, "c": counts, "r": account.version})
    yield from many(_SAVE_COUNTS, changed)


_WRITERS: dict[type, Callable[[Any, Account], Steps[None]]] = {
    ops.PutUser: _put_user,
    ops.PutSession: _put_session,
    ops.SetSession: _set_session,
    ops.PutRows: _put_rows,
    ops.PutTags: writing_views.put_tags,
    ops.PutIndex: writing_views.put_index,
    ops.PutCounts: _put_counts,
    ops.SetPosition: _set_position,
    ops.PutLedger: writing_views.put_ledger,
    PutDerived: writing_views.put_derived,
    DropDerived: writing_views.drop_derived,
    ops.EraseRows: erasing.rows,
    ops.EraseSession: erasing.session,
    ops.EraseUser: erasing.user,
}
