"""From the log to the recall index and back: a settling step, and the warm index of one owner.

The rows in the store are the index; what is kept warm is a copy, used only when it equals what one snapshot says. Knows no
store and no encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from keepline.memory.chunk import chunks
from keepline.memory.index import RecallIndex
from keepline.memory.query import read_query
from keepline.memory.segment import term_ids
from keepline.ports.encoder import Embed
from keepline.ports.flow import Flow
from keepline.ports.store import (
    ROLES,
    Expect,
    GetIndex,
    GetRows,
    GetSession,
    GetUser,
    IndexRow,
    PutIndex,
    Read,
    SetPosition,
    Write,
)
from keepline.ports.view import Find, Hit
from keepline.values.message import Message
from keepline.values.scope import Scope
from keepline.values.session import RECALL, Span

PATH_END = 1 << 62
PAGE = 8_000
"""Rows read at a time when an index is warmed: more than one message can have."""


def settle_recall(scope: Scope, start: int, limit: int, dense: bool) -> Flow[tuple[int, bool]]:
    """Index the session's messages from seq `start`, at most `limit` → (messages taken, whether the view moved).

    The view moves when the rows have their vectors, or when `dense` says that none are wanted. While the encoder fails, rows
    are kept for their words and the view stays behind, so that they are embedded later.
    """
    (session,) = yield Read((GetSession(scope),))
    if session is None:
        return 0, True
    position = session.positions.get(RECALL, 0)
    start = max(start, position, session.start)
    end = min(session.count, start + limit)
    if end <= start:
        return 0, True
    (rows,) = yield Read((GetRows(scope, (Span(number=session.number, lo=start, hi=end),)),))
    pieces = [
        (r.message, n, span)
        for r in rows
        if not r.message.erased and not r.message.role.instructs
        for n, span in enumerate(chunks(r.message.text))
    ]
    texts = tuple(m.text[a:b] for m, _, (a, b) in pieces)
    vectors: NDArray[np.float32] | None = (yield Embed(texts)) if texts and dense else None
    done = vectors is not None or not dense or not texts
    found = tuple(
        _row(session.number, message, n, span, None if vectors is None else vectors[i])
        for i, (message, n, span) in enumerate(pieces)
    )
    moved = done and start <= max(position, session.start)
    ops = (PutIndex(scope, found), SetPosition(scope, RECALL, end)) if moved else (PutIndex(scope, found),)
    yield Write(ops, (Expect(scope, view=RECALL, position=position),))
    return end - start, done


def _row(number: int, message: Message, n: int, span: tuple[int, int], vector: NDArray[np.float32] | None) -> IndexRow:
    text = message.text
    ids, counts = term_ids(f"{message.body.get('name') or ''} {day_words(message.at)} {text[span[0] : span[1]]}")
    return IndexRow(
        number=number, seq=message.seq, chunk=n, start=span[0], end=span[1], role=ROLES.index(message.role),
        at=message.at.timestamp(), length=len(text), terms=ids, counts=counts,
        vector=None if vector is None else vector.astype(np.float16),
    )


def day_words(at: datetime) -> str:
    """A day as people write it, so that "in May" and "8月" find it: `2026-08-12 12 August 2026 8月12日`."""
    return f"{at:%Y-%m-%d} {at.day} {at:%B %Y} {at.month}月{at.day}日"


class WarmIndex:
    """One owner's recall index, kept as new as the store."""

    def __init__(self) -> None:
        self._index = RecallIndex()
        self._epoch = -1
        self._version = 0

    @property
    def nbytes(self) -> int:
        return self._index.nbytes

    def refresh(self, scope: Scope) -> Flow[None]:
        """Read what was written since; start anew when rows were erased or replaced. An owner without rows has none."""
        user, rows = yield Read((GetUser(scope), GetIndex(scope, since=self._version, limit=None if self._version else 1)))
        if user is None or user.epoch != self._epoch or any(self._index.knows(r) for r in rows):
            yield from self._anew(scope)
            return
        self._index.add(rows)
        self._version = user.version

    def _anew(self, scope: Scope) -> Flow[None]:
        """Read all rows, a page at a time: those of 100,000 messages are 150 MB.

        What is written meanwhile may be in a later page; the next refresh then meets it again and starts anew once more.
        """
        self._index, self._epoch, self._version = RecallIndex(), -1, 0
        (first,) = yield Read((GetUser(scope),))
        after, full = (-1, -1), True
        while full:
            user, rows = yield Read((GetUser(scope), GetIndex(scope, after=after, limit=PAGE)))
            if first is None or user is None or user.epoch != first.epoch:
                return
            full = len(rows) == PAGE
            if full:  # the last message may go on in the next page
                last = rows[-1].number, rows[-1].seq
                rows = tuple(r for r in rows if (r.number, r.seq) != last)
            self._index.add(rows)
            after = (rows[-1].number, rows[-1].seq) if rows else after
        self._epoch, self._version = first.epoch, first.version

    def find(self, need: Find, vector: NDArray[np.float32] | None) -> tuple[Hit, ...]:
        """The hits for `need`, whose query has `vector` (None: no encoder)."""
        eligible: NDArray[np.bool_] | None = None
        if need.view is not None and need.view.session is not None:
            before = PATH_END if need.before is None else need.before
            spans = [(s.number, s.lo, min(s.hi, before)) for s in need.view.session.spans]
            eligible = self._index.eligible(spans, need.without)
        if need.keywords:
            terms = [int(t) for word in need.keywords for t in term_ids(word, query=True)[0]]
            having = self._index.having(terms)
            eligible = having if eligible is None else eligible & having
        found = self._index.search(read_query(need.query), vector, need.k, eligible, least=need.least)
        return tuple(
            Hit(number=r.number, seq=r.seq, start=r.start, end=r.end, score=r.score,
                scores={**r.parts, "matched": float(r.matched)} | ({} if r.cosine is None else {"cosine": round(r.cosine, 4)}))
            for r in found
        )

    def alike(self, keys: Sequence[tuple[int, int]]) -> float | None:
        """Mean cosine of consecutive messages among `keys` (number, seq)."""
        return self._index.likeness(keys)

