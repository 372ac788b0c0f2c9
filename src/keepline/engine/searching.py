"""Messages by query and by id. Knows no ranking: it asks the desk, and drops what does not hold the keywords as they are
written, or was erased meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keepline.engine.desk import Desk
from keepline.memory.segment import holds
from keepline.ports.store import FindRows, GetRows, Read
from keepline.ports.view import Find, Hit
from keepline.values.message import Message
from keepline.values.report import Found
from keepline.values.scope import Scope
from keepline.values.session import Span


def search(desk: Desk, need: Find) -> tuple[Found, ...]:
    """What `need` finds, best first, at most `need.k`."""
    k = need.k
    while True:
        hits = desk.find(replace(need, k=k))
        found = [f for f in _messages(desk, need, hits) if holds(f.message.text, need.keywords)]
        if len(found) >= need.k or len(hits) < k:
            return tuple(found[: need.k])
        k *= 4


def named(desk: Desk, scope: Scope, ids: Sequence[str]) -> tuple[Message, ...]:
    """The user's messages with these ids, in their order; unknown ids are left out. `#m17`, as ids are shown, is `m17` unless
    a message has that very id."""
    (rows,) = desk.store.read(Read((FindRows(scope, (*ids, *(id.removeprefix("#") for id in ids))),)))
    known = {row.message.id: row.message for row in rows}
    found = (known.get(id, known.get(id.removeprefix("#"))) for id in ids)
    return tuple(message for message in found if message is not None)


def _messages(desk: Desk, need: Find, hits: tuple[Hit, ...]) -> list[Found]:
    """The messages of `hits` that are still there."""
    if not hits:
        return []
    names = {s.number: s.name for s in desk.sessions(need.scope)}
    rows = desk.store.read(Read(tuple(
        GetRows(need.scope, (Span(number=h.number, lo=h.seq, hi=h.seq + 1),)) for h in hits
    )))
    return [
        Found(message=row.message, session=names[h.number], score=h.score, start=h.start, end=h.end, scores=h.scores)
        for h, found in zip(hits, rows, strict=True) for row in found if h.number in names and not row.message.erased
    ]
