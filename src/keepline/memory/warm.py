"""Warm copies of one owner's outlines, words and recall index, and the flows that keep them as new as the store.

A copy is used only when it equals what one snapshot says: rows written since are read by their `rev`; when the owner's
`epoch` has moved, everything warm is thrown away, so what another process erased is never served. Knows no store and no
lock: whoever drives the flows of one owner drives them one at a time.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepline.errors import Moved
from keepline.ports.derived import GetDerived
from keepline.ports.flow import Flow
from keepline.ports.store import GetOutline, GetPins, GetRows, GetSession, GetUser, Outline, Read
from keepline.ports.view import View
from keepline.values.message import Message
from keepline.values.scope import Scope
from keepline.values.session import SUMMARY, VIEWS, Session, Span, User
from keepline.values.summary import Segment
from keepline.values.tag import Pin

OPEN_END = 1 << 62
_NO_TIME = datetime.fromtimestamp(0, UTC)
WORDS_CHARACTERS = 16_000_000
"""Characters of messages kept warm for one owner; beyond it all are dropped and read again."""
COLUMNS = ("seq", "number", "at", "role", "category", "retention", "given", "erased", "tokens")


Rank = tuple[bool, bool, float, int, int]
"""Not given, not sure enough to stand, less certain, older, later in its message: the order in which pins give way."""


@dataclass(slots=True)
class WarmLog:
    """One session's outline and pins in one vocabulary, as of `version`; grows in place, changed columns are copied."""

    session: Session
    version: int
    columns: dict[str, NDArray[np.generic]]
    answering: NDArray[np.bool_]
    size: int = 0
    ids: list[str] = field(default_factory=list)
    links: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    pins: dict[tuple[int, int, int], Pin] = field(default_factory=dict)
    ranked: list[tuple[Rank, Pin]] = field(default_factory=list)
    standing: tuple[Pin, ...] = ()
    ended: tuple[Pin, ...] = ()
    sure: int = 0
    segments: dict[str, Segment] = field(default_factory=dict)
    memo: dict[Any, Any] = field(default_factory=dict)
    view: View | None = None

    def take(self, part: Outline) -> None:
        """Merge rows read since: new ones at the end, changed ones in fresh copies, so that views given out stay as
        they were."""
        known = part.seq < self.size
        if known.any():
            at = part.seq[known]
            for name in ("category", "retention", "given", "erased", "tokens"):
                column = self.columns[name].copy()
                column[at] = getattr(part, name)[known]
                self.columns[name] = column
        fresh = int((~known).sum())
        if not fresh:
            return
        end = self.size + fresh
        for name in COLUMNS:
            values = getattr(part, name)[~known]
            column = self.columns[name]
            if end > len(column):
                grown = np.empty(max(1024, 2 * end), dtype=column.dtype)
                grown[: self.size] = column[: self.size]
                column = self.columns[name] = grown
            column[self.size : end] = values
        if end > len(self.answering):
            spare = np.zeros(max(1024, 2 * end) - self.size, dtype=bool)
            self.answering = np.concatenate([self.answering[: self.size], spare])
        for seq, link in part.links.items():
            self.links[seq] = link
            if link[1]:
                self.answering[seq] = True
        self.ids.extend(i for i, old in zip(part.ids, known, strict=True) if not old)
        self.size = end

    def take_pins(self, pins: tuple[Pin, ...]) -> None:
        """Merge pins written since; each is put in its place among those that stand."""
        if not pins:
            return
        changed = {_place(p): p for p in pins}
        before = [self.pins[place] for place in changed.keys() & self.pins.keys()]
        if before:
            self.ranked = [row for row in self.ranked if _place(row[1]) not in changed]
        self.pins.update(changed)
        self.ranked.extend((_rank(p), p) for p in changed.values() if p.ended_by is None)
        self.ranked.sort(key=itemgetter(0))
        self.standing = tuple(p for _, p in self.ranked)
        self.sure = bisect_left(self.ranked, LESS_SURE, key=itemgetter(0))
        if any(p.ended_by is not None for p in (*pins, *before)):
            self.ended = tuple(p for _, p in sorted(self.pins.items()) if p.ended_by is not None)

    def outline(self) -> Outline:
        n = self.size
        c = {name: self.columns[name][:n] for name in COLUMNS}
        return Outline(**c, ids=self.ids, links=self.links)  # type: ignore[arg-type]  # columns keep their own dtypes


def _place(pin: Pin) -> tuple[int, int, int]:
    return pin.seq, pin.number, pin.start


def _rank(pin: Pin) -> Rank:
    return not pin.given, not pin.stands, -pin.certainty, -pin.seq, pin.start


LESS_SURE = (True, True)
"""What ranks behind every pin that stands, and before every candidate."""


def _empty_log(session: Session, version: int) -> WarmLog:
    kinds: dict[str, type[np.generic]] = {
        "seq": np.int64, "number": np.int64, "at": np.float64, "tokens": np.int64, "given": np.bool_, "erased": np.bool_,
    }
    columns: dict[str, NDArray[np.generic]] = {name: np.empty(0, dtype=kinds.get(name, np.uint8)) for name in COLUMNS}
    return WarmLog(session=session, version=version, columns=columns, answering=np.zeros(0, dtype=bool))


class Warm:
    """One owner's warm copies."""

    def __init__(self) -> None:
        self.epoch = -1
        self._logs: dict[tuple[str, str], WarmLog] = {}
        self._words: dict[tuple[int, int], Message] = {}
        self._characters = 0

    def clear(self, epoch: int) -> None:
        """Forget everything; what comes next is of `epoch`."""
        self.epoch = epoch
        self._logs.clear()
        self._words.clear()
        self._characters = 0

    def look(self, scope: Scope, vocabulary: str) -> Flow[View]:
        """The session's view as of now. An unknown owner or session has an empty one."""
        user, session = yield Read((GetUser(scope), GetSession(scope)))
        if user is None or session is None:
            return _view(scope, session, user, _empty_log(session, 0) if session else None)
        self._check(user)
        log = self._logs.get((session.name, vocabulary))
        if log is not None and log.version == user.version and log.view is not None:
            return log.view
        if log is None or log.session.number != session.number or log.session.path != session.path:
            log = _empty_log(session, 0)
        spans = (*session.path, Span(number=session.number, lo=session.start, hi=OPEN_END))
        user, session, outline, pins, segments = yield Read(
            (GetUser(scope), GetSession(scope), GetOutline(scope, spans, vocabulary, log.version),
             GetPins(scope, spans, log.version), GetDerived(scope, SUMMARY, spans=spans, since=log.version))
        )
        if user is None or session is None or user.epoch != self.epoch:
            return (yield from self.look(scope, vocabulary))
        log.take(outline)
        log.take_pins(pins)
        log.segments.update((r.id, Segment.of(r.id, r.number, r.lo, r.hi, r.body)) for r in segments)
        log.session, log.version = session, user.version
        log.view = _view(scope, session, user, log)
        self._logs[session.name, vocabulary] = log
        return log.view

    def words(self, view: View, seqs: tuple[int, ...]) -> Flow[dict[int, Message]]:
        """The messages at `seqs`. Raises `Moved` when the owner's rows were erased since the view was taken."""
        if not seqs:
            return {}
        if view.epoch != self.epoch:
            raise Moved(what="messages were erased")
        number = view.outline.number
        missing = tuple(s for s in seqs if (int(number[s]), s) not in self._words)
        if missing and view.session is not None:
            user, rows = yield Read((GetUser(view.scope), GetRows(view.scope, view.session.spans, missing)))
            if user is None or user.epoch != view.epoch:
                raise Moved(what="messages were erased")
            self._keep(view, [r.message for r in rows])
        found = {s: self._words[int(number[s]), s] for s in seqs if (int(number[s]), s) in self._words}
        if self._characters > WORDS_CHARACTERS:
            self._words.clear()
            self._characters = 0
        return found

    def _keep(self, view: View, messages: list[Message]) -> None:
        for m in messages:
            self._words[int(view.outline.number[m.seq]), m.seq] = m
            self._characters += 200 + len(m.text)

    def renew(self, session: str, what: str) -> None:
        """Forget what was kept as `what` of the session's views."""
        for (name, _), log in self._logs.items():
            if name == session:
                log.memo.pop(what, None)

    def _check(self, user: User) -> None:
        if user.epoch != self.epoch:
            self.clear(user.epoch)


def _view(scope: Scope, session: Session | None, user: User | None, log: WarmLog | None) -> View:
    if log is None:
        log = _empty_log(Session(name="", number=-1, started=_NO_TIME), 0)
    behind = {v: session.count - session.positions.get(v, 0) for v in VIEWS} if session else {}
    return View(
        scope=scope,
        session=session,
        epoch=user.epoch if user else 0,
        outline=log.outline(),
        standing=log.standing,
        ended=log.ended,
        sure=log.sure,
        segments=tuple(log.segments.values()),
        memo=log.memo,
        answering=log.answering[: log.size],
        behind=behind,
    )
