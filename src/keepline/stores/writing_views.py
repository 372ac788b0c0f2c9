"""Writing what is derived: tags and pins, rows of the recall index, other derived rows; and the ledgers. Pure; executes nothing.

What belongs to a message whose words are gone meanwhile is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import and_, bindparam, case, delete, insert, select, update

from keepline.ports import derived as derived_ops
from keepline.ports import store as ops
from keepline.ports.derived import Derived
from keepline.ports.store import CATEGORIES, UNKNOWN, IndexRow
from keepline.stores.keys import at, batches, owned, packed
from keepline.stores.reading_views import F16, U16, U64
from keepline.stores.schema import derived, endings, ledgers, lineage, messages, pins, recall
from keepline.stores.steps import Account, Step, Steps, many
from keepline.values.tag import Pin, Tag

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


_SAVE_TAG = update(messages).where(at(messages)).values(
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


def put_tags(op: ops.PutTags, account: Account) -> Steps[None]:
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
        yield Step(insert(endings), [account.key | values])
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
    return account.key | {
        "number": pin.number, "seq": pin.seq, "start": pin.start, "end": pin.end, "rev": account.version,
        "kind": CATEGORIES.index(pin.kind), "certainty": pin.certainty, "given": int(pin.given), "until": pin.until,
    }  # fmt: skip


_DROP_INDEX = delete(recall).where(
    owned(recall), recall.c.number == bindparam("n"), recall.c.seq == bindparam("s"), recall.c.chunk == bindparam("c")
)


def put_index(op: ops.PutIndex, account: Account) -> Steps[None]:
    here = yield from _present(((row.number, row.seq) for row in op.rows), account)
    rows = [row for row in op.rows if (row.number, row.seq) in here]
    yield from many(_DROP_INDEX, [account.who | {"n": r.number, "s": r.seq, "c": r.chunk} for r in rows])
    yield from many(insert(recall), [_index_values(row, account) for row in rows])


def _index_values(row: IndexRow, account: Account) -> dict[str, Any]:
    return account.key | {
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


def put_ledger(op: ops.PutLedger, account: Account) -> Steps[None]:
    yield Step(_DROP_LEDGER, account.who | {"l": op.ledger.id})
    body = {"rev": account.version, "at": op.ledger.at, "body": packed(op.ledger.to_dict())}
    yield Step(insert(ledgers), [account.key | {"id": op.ledger.id} | body])
    rows = yield Step(_OLD_LEDGERS, account.who | {"keep": op.keep})
    yield from many(_DROP_LEDGER, [account.who | {"l": row[0]} for row in rows])


# ---------------------------------------------------------------- other derived rows

AT_NAME = and_(owned(derived), derived.c.kind == bindparam("k"), derived.c.id == bindparam("i"))
_SOURCES = and_(owned(lineage), lineage.c.kind == bindparam("k"), lineage.c.id == bindparam("i"))
_DROP = (delete(derived).where(AT_NAME), delete(lineage).where(_SOURCES))


def put_derived(op: derived_ops.PutDerived, account: Account) -> Steps[None]:
    """Insert or replace rows whose sources are all there."""
    here = yield from _present((place for row in op.rows for place in row.sources), account)
    rows = [row for row in op.rows if here.issuperset(row.sources)]
    yield from drop_rows([(row.kind, row.id) for row in rows], account)
    yield from many(insert(derived), [_values(row, account) for row in rows])
    yield from many(insert(lineage), [
        account.key | {"number": number, "seq": seq, "kind": row.kind, "id": row.id}
        for row in rows for number, seq in dict.fromkeys(row.sources)
    ])  # fmt: skip


def drop_derived(op: derived_ops.DropDerived, account: Account) -> Steps[None]:
    """Delete rows by id, and their bytes."""
    if op.ids:
        account.erased = account.words_gone = True
        yield from drop_rows([(op.kind, name) for name in dict.fromkeys(op.ids)], account)


def _values(row: Derived, account: Account) -> dict[str, Any]:
    return account.key | {
        "kind": row.kind, "id": row.id, "rev": account.version, "number": row.number, "lo": row.lo, "hi": row.hi,
        "key": row.key, "at": row.at, "body": packed(dict(row.body)),
    }  # fmt: skip


def drop_rows(names: list[tuple[str, str]], account: Account) -> Steps[None]:
    """Delete the derived rows of (kind, id), with their lineage."""
    keys = [account.who | {"k": kind, "i": name} for kind, name in names]
    for statement in _DROP:
        yield from many(statement, keys)
