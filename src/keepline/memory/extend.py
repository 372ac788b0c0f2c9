"""Messages become rows at a log's head: their ids, their place in the chain, one write.

Knows neither where the messages come from nor which of them are new; that is decided in `log` and `sync`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from keepline.memory import chain
from keepline.ports.flow import Flow
from keepline.ports.store import Expect, FindRows, PutRows, PutSession, PutUser, Read, Row, Write
from keepline.values.message import Message
from keepline.values.scope import Scope
from keepline.values.session import Session, User

Fresh = Callable[[int], bytes]
"""n → n unpredictable bytes (`secrets.token_bytes`)."""

TRIES = 500
"""How often a write is decided anew. Each failure is another writer's success: of w writers, one fails n times in a row with
probability (1 − 1/w)^n, at w = 16 and n = 500 under 10⁻¹³."""


def newcomer(fresh: Fresh) -> User:
    """A user who has nothing yet, with a new key. Should another writer make the same user first, with another key, then
    the epoch is no longer 0 and the write is refused."""
    return User(key=fresh(chain.SIZE), version=0, epoch=0)


def extend(
    scope: Scope, user: User, session: Session, messages: Sequence[Message], fresh: Fresh, *, number: int, careful: bool
) -> Flow[tuple[Message, ...]]:
    """Write `messages` at the head of `session` → as stored, with ids and seqs.

    `user` and `session` are as they were read; a `session` whose number is −1 is made (a fork, if it has a path), and so
    is a user that is not there yet (`newcomer`). `number` is what ids of a new session are named after. `careful` asks the
    store first whether the ids made here are free: they nearly always are, so only a second try needs it. Raises `Moved`
    if somebody was faster.
    """
    made = session.number < 0
    if not made:
        number = session.number
    named = yield from _name(scope, session, messages, fresh, number=number, careful=careful)
    rows = _chained(user.key, session, named, fresh)
    head = next((row.digest for row in reversed(rows) if row.digest), session.head)
    grown = replace(session, count=session.count + len(rows), head=head)
    here = scope.at(session.name)
    puts = (PutRows(here, rows),) if rows else ()
    expect = Expect(here, count=0 if made else session.count, head=b"" if made else session.head, epoch=user.epoch)
    yield Write((PutUser(here, user.key), PutSession(here, grown), *puts), (expect,))
    return tuple(row.message for row in rows)


def _name(
    scope: Scope, session: Session, messages: Sequence[Message], fresh: Fresh, *, number: int, careful: bool
) -> Flow[list[Message]]:
    """Give each message its seq, and an id where the caller gave none: `m17` for seq 17 of the owner's first session,
    `s3m17` in session number 3: short, sortable in a session, unique for the owner. Should a caller have used such an id
    for a message of his own, ours gets a random tail."""
    prefix = f"s{number}m" if number else "m"
    placed = [m.evolve(seq=session.count + i) for i, m in enumerate(messages)]
    ours = {m.seq: f"{prefix}{m.seq}" for m in placed if not m.id}
    taken = {m.id for m in placed if m.id}
    if careful and ours:
        (found,) = yield Read((FindRows(scope, tuple(ours.values())),))
        taken |= {row.message.id for row in found}
    if not taken.isdisjoint(ours.values()):
        tail = fresh(4).hex()
        ours = {seq: f"{name}-{tail}" for seq, name in ours.items()}
    return [m.evolve(id=ours.get(m.seq, m.id)) for m in placed]


def _chained(key: bytes, session: Session, messages: Sequence[Message], fresh: Fresh) -> tuple[Row, ...]:
    parent, rows = session.head, []
    for message in messages:
        if message.role.instructs:
            rows.append(Row(message=message))
            continue
        salt = fresh(chain.SALT)
        parent = chain.link(key, parent, salt, message.body)
        rows.append(Row(message=message, digest=parent, salt=salt))
    return tuple(rows)
