"""Small logs to put in a store, for the conformance suite. Knows no store in particular; everything is what it says it is
(digests are arbitrary bytes: a store does not compute them).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from keepline.errors import Moved
from keepline.ports.store import (
    Expect,
    GetRows,
    GetSession,
    GetUser,
    IndexRow,
    PutRows,
    PutSession,
    PutUser,
    Read,
    Row,
    Store,
    Write,
)
from keepline.values.context import Entry, Fate, Ledger, Section
from keepline.values.message import Category, Message, Retention
from keepline.values.scope import Scope
from keepline.values.session import Session, Span
from keepline.values.tag import Pin, Tag

NOW = datetime(2026, 8, 12, 9, 30, 0, 123457, tzinfo=UTC)
_NEW: dict[str, Any] = {"number": -1, "started": NOW}
EVERYTHING = Span(number=0, lo=0, hi=1 << 40)
"""All rows of an owner's first session, however many."""


def who(user: str = "ann", session: str = "s", tenant: str = "default") -> Scope:
    """A scope."""
    return Scope(user=user, session=session, tenant=tenant)


def message(seq: int, text: str = "", **fields: Any) -> Message:
    """A message of the user at `seq`, with the id `m<seq>` unless another is given."""
    body = fields.pop("body", {"role": "user", "content": text or f"message {seq}"})
    defaults: dict[str, Any] = {"id": f"m{seq}", "at": NOW + timedelta(seconds=seq), "counts": {"o200k_base": 7}}
    return Message(**({"body": body, "seq": seq} | defaults | fields))


def row(said: Message) -> Row:
    """A chained row."""
    name = said.id.encode("utf-8", "replace")
    return Row(message=said, digest=name.ljust(32, b"d"), salt=b"salt of " + name[-8:])


def session_of(store: Store, scope: Scope) -> Session | None:
    """The session that the scope names."""
    found: Session | None = store.read(Read((GetSession(scope),)))[0]
    return found


def start(store: Store, scope: Scope, **fields: Any) -> Session:
    """Make the owner, if need be, and the session; `fields` of `Session` as for a fork. Raises `Moved` if it is there."""
    new = Session(**(_NEW | {"name": scope.need_session("a test")} | fields))
    store.write(Write((PutUser(scope, b"key of " + scope.user.encode()), PutSession(scope, new))))
    made = session_of(store, scope)
    assert made is not None
    return made


def append(store: Store, scope: Scope, messages: Sequence[Message]) -> int:
    """Append messages at the head, as the log does; returns the version. Raises `Moved` if another was faster."""
    found = session_of(store, scope) or start(store, scope)
    rows = tuple(row(said) for said in messages)
    count = found.count + len(rows)
    put = Session(name=found.name, number=found.number, started=found.started, path=found.path, start=found.start,
                  count=count, head=rows[-1].digest)  # fmt: skip
    expect = Expect(scope, count=found.count, head=found.head)
    return store.write(Write((PutSession(scope, put), PutRows(scope, rows)), (expect,)))


def say(store: Store, scope: Scope, *texts: str) -> tuple[str, ...]:
    """Append texts of the user, whatever the head is, until it is done; returns the messages' ids."""
    while True:
        try:
            count = (session_of(store, scope) or start(store, scope)).count
            base = f"{scope.user}/{scope.session}"
            said = [message(count + i, text, id=f"{base}/{count + i}") for i, text in enumerate(texts)]
            append(store, scope, said)
        except Moved:
            continue
        return tuple(m.id for m in said)


def read_log(store: Store, scope: Scope) -> tuple[Row, ...]:
    """All rows of the session's path."""
    found = session_of(store, scope)
    rows: tuple[Row, ...] = store.read(Read((GetRows(scope, found.spans),)))[0] if found else ()
    return rows


def texts(store: Store, scope: Scope) -> list[str]:
    """The words of the session's log, in order; an erased one is empty."""
    return [r.message.text for r in read_log(store, scope)]


def counters(store: Store, scope: Scope) -> tuple[int, int]:
    """The owner's version and epoch; (0, 0) without one."""
    user = store.read(Read((GetUser(scope),)))[0]
    return (user.version, user.epoch) if user else (0, 0)


def pin(seq: int, start: int = 0, end: int = 5, **fields: Any) -> Pin:
    """A standing rule in the first session."""
    defaults: dict[str, Any] = {"number": 0, "kind": Category.CONSTRAINT, "certainty": 0.75}
    return Pin(**(defaults | {"seq": seq, "start": start, "end": end} | fields))


def tag(seq: int, *pins: Pin, ends: tuple[Pin, ...] = (), **fields: Any) -> Tag:
    """What a tagger might say of message `seq`."""
    defaults: dict[str, Any] = {"number": 0, "category": Category.CONSTRAINT, "retention": Retention.IMPORTANT}
    return Tag(**(defaults | {"seq": seq, "pins": pins, "ends": ends} | fields))


def index_row(seq: int, chunk: int = 0, **fields: Any) -> IndexRow:
    """A row of the recall index, with a vector of 8 dimensions."""
    values: dict[str, Any] = {
        "number": 0, "seq": seq, "chunk": chunk, "start": 0, "end": 9, "role": 2, "at": 1.5e9 + seq, "length": 9,
        "terms": np.array([3, 1 << 63, (1 << 64) - 1], np.uint64), "counts": np.array([1, 2, 65535], np.uint16),
        "vector": np.linspace(-1, 1, 8).astype(np.float16) * (seq + 1),
    }  # fmt: skip
    return IndexRow(**(values | fields))


def ledger(name: str, at: str = "2026-08-12T09:30:00Z") -> Ledger:
    """A build's account with one line."""
    entry = Entry(section=Section.RECENT, fate=Fate.KEPT, rule="recent", ids=("m0",), seqs=(0,), tokens=7)
    return Ledger(
        id=name, at=at, session="s", mode="full", asked="auto", why="small", vocabulary="o200k_base", exact=True,
        window=100, reserve=20, margin=0, limit=80, tokens=7, sections={"recent": 7}, entries=(entry,),
    )  # fmt: skip
