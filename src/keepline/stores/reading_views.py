"""Reading what is derived: pins, rows of the recall index, other derived rows; and the ledgers. Pure, as `reading` is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sqlalchemy import Select, bindparam, literal, select, tuple_
from sqlalchemy.sql.base import Executable

from keepline.ports import derived as derived_ops
from keepline.ports import store as ops
from keepline.ports.derived import Derived
from keepline.ports.store import CATEGORIES, IndexRow
from keepline.stores import schema
from keepline.stores.keys import batches, in_span, inside, owned, owner, owners, same, unpacked, within
from keepline.stores.steps import Owned, Rows, Step, Steps
from keepline.values.message import Category
from keepline.values.tag import Pin

_p, _e = schema.pins.c, schema.endings.c
PINS: Select[Any] = (
    select(_p.tenant, _p.user, _p.number, _p.seq, _p.start, _p.end, _p.kind, _p.certainty, _p.given, _p.until,
           _e.by_number, _e.by_seq)
    .select_from(schema.pins.outerjoin(schema.endings, same(schema.pins, schema.endings, "number", "seq", "start", "end")))
    .where(in_span(schema.pins), _p.rev > bindparam("since")).order_by(_p.seq, _p.start, _p.end)
)  # fmt: skip


def pins(op: ops.GetPins) -> Steps[Owned]:
    found: Rows = []
    for span in op.spans:
        found += yield Step(PINS, owner(op.scope) | within(span) | {"since": op.since})
    ended: dict[tuple[int, ...], int] = {}
    rows: dict[tuple[int, ...], tuple[Any, ...]] = {}
    for row in found:
        place, by_number, by_seq = row[2:6], row[10], row[11]
        rows[place] = row
        if by_number is not None and inside(by_number, by_seq, op.spans):
            ended[place] = min(by_seq, ended.get(place, by_seq))
    return Owned(tuple(_to_pin(row, ended.get(place)) for place, row in rows.items()), owners(found))


def _to_pin(row: tuple[Any, ...], by: int | None) -> Pin:
    _, _, number, seq, start, end, kind, certainty, given, until, _, _ = row
    return Pin(
        number=number, seq=seq, start=start, end=end, kind=Category(CATEGORIES[kind]), certainty=certainty,
        given=bool(given), ended_by=by, until=until,
    )  # fmt: skip


_r = schema.recall.c
_INDEX = select(
    _r.tenant, _r.user, _r.number, _r.seq, _r.chunk, _r.start, _r.end, _r.role, _r.at, _r.length,
    _r.terms, _r.counts, _r.vector,
)  # fmt: skip
INDEX = _INDEX.where(owned(schema.recall)).order_by(_r.number, _r.seq, _r.chunk)
INDEX_PAGE = (
    _INDEX.where(owned(schema.recall), tuple_(_r.number, _r.seq) > tuple_(bindparam("an"), bindparam("as")))
    .order_by(_r.number, _r.seq, _r.chunk).limit(bindparam("most"))
)  # fmt: skip
INDEX_SINCE = _INDEX.where(owned(schema.recall), _r.rev > bindparam("since"))
U64, U16, F16 = np.dtype("<u8"), np.dtype("<u2"), np.dtype("<f2")


def index(op: ops.GetIndex) -> Steps[Owned]:
    if op.limit is not None:
        place = {"an": op.after[0], "as": op.after[1], "most": op.limit}
        rows = yield Step(INDEX_PAGE, owner(op.scope) | place)
    elif op.since:
        rows = yield Step(INDEX_SINCE, owner(op.scope) | {"since": op.since})
        rows.sort(key=lambda row: row[2:5])
    else:
        rows = yield Step(INDEX, owner(op.scope))
    return Owned(tuple(map(_to_index, rows)), owners(rows))


def _to_index(row: tuple[Any, ...]) -> IndexRow:
    _, _, number, seq, chunk, start, end, role, at, length, terms, counts, vector = row
    return IndexRow(
        number=number, seq=seq, chunk=chunk, start=start, end=end, role=role, at=at, length=length,
        terms=np.frombuffer(terms, U64), counts=np.frombuffer(counts, U16),
        vector=None if vector is None else np.frombuffer(vector, F16),
    )  # fmt: skip


_LEDGERS = select(schema.ledgers.c.tenant, schema.ledgers.c.user, schema.ledgers.c.body).where(owned(schema.ledgers))
LEDGERS = _LEDGERS.order_by(schema.ledgers.c.rev.desc(), schema.ledgers.c.at.desc(), schema.ledgers.c.id).limit(bindparam("most"))
LEDGER = _LEDGERS.where(schema.ledgers.c.id == bindparam("id"))


def ledgers(op: ops.GetLedgers) -> Steps[Owned]:
    if op.id is None:
        rows = yield Step(LEDGERS, owner(op.scope) | {"most": op.limit})
    else:
        rows = yield Step(LEDGER, owner(op.scope) | {"id": op.id})
    return Owned(tuple(unpacked(row[2]) for row in rows), owners(rows))


_d = schema.derived.c
_DERIVED = select(
    _d.tenant, _d.user, _d.kind, _d.id, _d.number, _d.lo, _d.hi, _d.key, _d.at, _d.body
).where(owned(schema.derived), _d.kind == bindparam("kind"), _d.rev > bindparam("since"))  # fmt: skip
DERIVED = _DERIVED.order_by(_d.at.desc(), _d.id).limit(bindparam("most"))
DERIVED_WITHIN = _DERIVED.where(_d.number == bindparam("n"), _d.lo >= bindparam("lo"), _d.hi <= bindparam("hi"))
DERIVED_NAMED = _DERIVED.where(_d.id.in_(bindparam("ids", expanding=True)))
DERIVED_KEYED = _DERIVED.where(_d.key.in_(bindparam("keys", expanding=True)))
DERIVED_KEYED_WITHIN = DERIVED_WITHIN.where(_d.key.in_(bindparam("keys", expanding=True))).order_by(_d.lo.desc()).limit(
    bindparam("most")
)
DERIVED_BEGUN = _DERIVED.where(_d.key >= bindparam("begin"), _d.key < bindparam("end")).order_by(_d.at.desc(), _d.id).limit(
    bindparam("most")
)
# Found by the place: of a frequent prefix the key's index would read every row of the owner. The appended nothing keeps it out.
_key = _d.key + literal("")
DERIVED_BEGUN_WITHIN = DERIVED_WITHIN.where(_key >= bindparam("begin"), _key < bindparam("end")).order_by(_d.lo.desc()).limit(
    bindparam("most")
)
_l = schema.lineage.c
LINEAGE = select(_l.kind, _l.id, _l.number, _l.seq).where(
    owned(schema.lineage), _l.kind == bindparam("kind"), _l.id.in_(bindparam("ids", expanding=True))
)
EVERY = 1 << 62  # SQLite's LIMIT is a signed 64-bit number


def derived(op: derived_ops.GetDerived) -> Steps[Owned]:
    """Found by the narrowest of ids, keys, a prefix and spans; what else was asked is looked at here."""
    asked = owner(op.scope) | {"kind": op.kind, "since": op.since}
    rows: Rows = []
    for statement, params in _statements(op, EVERY if op.limit is None else op.limit):
        rows += yield Step(statement, asked | params)
    rows = [row for row in rows if _asked_for(row, op)]
    if op.limit is not None:
        rows = sorted(rows, key=lambda row: (-row[8], row[3]))[: op.limit]
    sources: dict[str, list[tuple[int, int]]] = {}
    for piece in batches([row[3] for row in rows]):
        for _, name, number, seq in (yield Step(LINEAGE, owner(op.scope) | {"kind": op.kind, "ids": piece})):
            sources.setdefault(name, []).append((number, seq))
    rows.sort(key=lambda row: (row[4], row[5], row[3]))
    return Owned(tuple(_to_derived(row, sources.get(row[3], [])) for row in rows), owners(rows))


def _statements(op: derived_ops.GetDerived, most: int) -> Iterator[tuple[Executable, dict[str, Any]]]:
    """What to execute, with the parameters beyond the owner's."""
    if op.ids is not None:
        yield from ((DERIVED_NAMED, {"ids": piece}) for piece in batches(dict.fromkeys(op.ids)))
    elif op.keys is not None:
        for piece in batches(dict.fromkeys(op.keys)):
            if op.spans is None or op.limit is None:
                yield DERIVED_KEYED, {"keys": piece}
                continue
            for span in op.spans:  # a value named everywhere has thousands of rows
                yield DERIVED_KEYED_WITHIN, within(span) | {"keys": piece, "most": most}
    elif op.prefix is not None:
        begun = {"begin": op.prefix, "end": f"{op.prefix}\U0010ffff", "most": most}
        if op.spans is None:
            yield DERIVED_BEGUN, begun
        yield from ((DERIVED_BEGUN_WITHIN, begun | within(span)) for span in op.spans or ())
    elif op.spans is not None:
        yield from ((DERIVED_WITHIN, within(span)) for span in op.spans)
    else:
        yield DERIVED, {"most": most}


def _asked_for(row: tuple[Any, ...], op: derived_ops.GetDerived) -> bool:
    _, _, _, name, number, lo, hi, key, _, _ = row
    within = op.spans is None or any(number == s.number and s.lo <= lo and hi <= s.hi for s in op.spans)
    begun = op.prefix is None or key.startswith(op.prefix)
    return within and begun and (op.keys is None or key in op.keys) and (op.ids is None or name in op.ids)


def _to_derived(row: tuple[Any, ...], sources: list[tuple[int, int]]) -> Derived:
    _, _, kind, name, number, lo, hi, key, at, body = row
    return Derived(
        kind=kind, id=name, number=number, lo=lo, hi=hi, key=key, at=at, body=unpacked(body), sources=tuple(sorted(set(sources)))
    )
