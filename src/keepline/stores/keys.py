"""How statements name an owner's rows, and how times and JSON are kept. Knows no table and no operation."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import and_, bindparam

from keepline.stores.steps import Rows
from keepline.values.scope import Scope
from keepline.values.session import Span

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BATCH = 512  # ids or seqs in one IN: well under SQLite's oldest limit of 999 variables


def micros(at: datetime) -> int:
    """Whole microseconds since 1970 UTC: exact, where a float of seconds is not."""
    return (at - EPOCH) // timedelta(microseconds=1)


def instant(value: int) -> datetime:
    """The UTC time of `micros`."""
    return EPOCH + timedelta(microseconds=value)


def packed(value: Any) -> bytes:
    """JSON in bytes, exact for whatever a Python string may hold."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def unpacked(kept: bytes) -> Any:
    """What `packed` was given."""
    return json.loads(kept.decode("utf-8", "surrogatepass"))


def owner(scope: Scope) -> dict[str, Any]:
    """The parameters that name the owner in every statement."""
    return {"t": scope.tenant, "u": scope.user}


def owned(table: Any) -> Any:
    """The condition that begins every WHERE."""
    return and_(table.c.tenant == bindparam("t"), table.c.user == bindparam("u"))


def at(table: Any) -> Any:
    """The condition for the one row of an owner at (number, seq)."""
    return and_(owned(table), table.c.number == bindparam("n"), table.c.seq == bindparam("s"))


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


def within(span: Span) -> dict[str, Any]:
    """The parameters that name a span."""
    return {"n": span.number, "lo": span.lo, "hi": span.hi}


def in_span(table: Any) -> Any:
    """The condition for the rows of a span."""
    return and_(
        owned(table), table.c.number == bindparam("n"),
        table.c.seq >= bindparam("lo"), table.c.seq < bindparam("hi"),
    )  # fmt: skip


def owners(rows: Rows) -> frozenset[tuple[str, str]]:
    """Whose rows these are: each begins with tenant and user."""
    return frozenset((row[0], row[1]) for row in rows)


def inside(number: int, seq: int, spans: tuple[Span, ...]) -> bool:
    """Whether row `seq` of session `number` lies in one of `spans`."""
    return any(number == s.number and s.lo <= seq < s.hi for s in spans)
