"""Bring the entity table of one session forward: what each message names, word for word, with its message and time.

A row a thing and place; things are never merged. Looked up exactly, by kind and value; no model is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from keepline.memory.text.entities import entities
from keepline.ports.derived import Derived, PutDerived
from keepline.ports.flow import Flow
from keepline.ports.store import Expect, GetRows, GetSession, Read, SetPosition, Write
from keepline.values.entity import Entity, Kind
from keepline.values.message import Message
from keepline.values.scope import Scope
from keepline.values.session import ENTITIES, Span


def settle_entities(scope: Scope, limit: int) -> Flow[int]:
    """Read the next at most `limit` messages of the scope's session → how many (0: none was left). Raises `Moved` if the view has
    meanwhile come further; nothing is written then."""
    (session,) = yield Read((GetSession(scope),))
    if session is None:
        return 0
    position = session.positions.get(ENTITIES, 0)
    at = max(position, session.start)
    end = min(session.count, at + limit)
    if end <= at:
        return 0
    (rows,) = yield Read((GetRows(scope, (Span(number=session.number, lo=at, hi=end),)),))
    found = tuple(d for row in rows for d in _rows(row.message, session.number))
    expect = Expect(scope, view=ENTITIES, position=position)
    yield Write((PutDerived(scope, found), SetPosition(scope, ENTITIES, end)), (expect,))
    taken: int = end - at
    return taken


def entity_of(row: Derived) -> Entity:
    """The entity that a derived row keeps."""
    body = row.body
    return Entity(
        kind=Kind(body["kind"]), surface=body["surface"], value=body["value"], id=body["id"], seq=row.lo, role=body["role"],
        at=body["at"],
    )  # fmt: skip


def key_of(kind: Kind, value: str = "") -> str:
    """What a row is looked up by; without a value, what all keys of the kind begin with."""
    return f"{kind}:{value}"


CODES = (Kind.ORDER, Kind.ID)
"""Kinds that only the word beside it tells apart: a code without one is looked up as either."""


def keys_in(text: str, said: date) -> tuple[str, ...]:
    """The keys of what `text`, said on `said`, names."""
    found = [(kind, e.value) for e in entities(text, said) for kind in (CODES if e.kind in CODES else (e.kind,))]
    return tuple(dict.fromkeys(key_of(kind, value) for kind, value in found))


def _rows(message: Message, number: int) -> Iterator[Derived]:
    """The rows of one message; instructions and erased messages have none."""
    if message.erased or message.role.instructs:
        return
    for named in entities(message.text, message.at.date()):
        yield Derived(
            kind=ENTITIES, id=f"{number}.{message.seq}.{named.start:08}", number=number, lo=message.seq, hi=message.seq + 1,
            key=key_of(named.kind, named.value), at=message.at.timestamp(), sources=((number, message.seq),),
            body={
                "kind": str(named.kind), "surface": named.surface, "value": named.value, "id": message.id,
                "role": str(message.role), "at": message.at.isoformat(),
            },
        )  # fmt: skip
