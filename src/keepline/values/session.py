"""A conversation's log as a path through runs of rows, and the state of its derived views. Knows no store.

A session owns a run of rows numbered by `seq`. A fork owns only the rows after `forked_at`; what comes before is its
parent's, never copied. A `Span` names a stretch of one session's own rows; a path is the spans from the root to the head.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """What a store keeps of an owner: the secret that keys the digests, and two counters.

    `version` rises with every write of this user; each row carries the version that wrote it (`rev`). `epoch` rises when
    rows were changed or erased, so that whoever keeps a warm copy starts again instead of reading on; it is never 0 for an
    owner who is there.
    """

    key: bytes = field(repr=False)
    version: int
    epoch: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """Rows `lo` ≤ seq < `hi` of the session whose number is `number` (numbers are the owner's own)."""

    number: int
    lo: int
    hi: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One conversation.

    `name` is the caller's session id; `number` its key among the owner's rows. `path` are the parent's spans before the
    fork (empty for a root). `count` is the length of the whole log, so the next message gets seq = `count`; `start` the
    first seq that this session owns itself. `head` is the digest of the last chained message (empty: none yet).
    `positions` say how far each derived view has come: all rows with seq below it are done. Rows with seq below `cleared`
    enter no context any more (0: all may). After `expires` (UTC; None: never) the session is erased.
    """

    name: str
    number: int
    started: datetime
    path: tuple[Span, ...] = ()
    start: int = 0
    count: int = 0
    head: bytes = b""
    positions: Mapping[str, int] = field(default_factory=dict)
    cleared: int = 0
    expires: datetime | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """The whole log of this session, root first."""
        own = (Span(number=self.number, lo=self.start, hi=self.count),) if self.count > self.start else ()
        return self.path + own

    def upto(self, seq: int) -> tuple[Span, ...]:
        """The path of the first `seq` messages: what a fork there shares."""
        kept = (Span(number=s.number, lo=s.lo, hi=min(s.hi, seq)) for s in self.spans)
        return tuple(s for s in kept if s.hi > s.lo)


TAGS, RECALL, ENTITIES, SUMMARY = "tags", "recall", "entities", "summary"
"""The names of the derived views: categories and pins; rows of the recall index; the entity table; segments of the rolling
summary. Derived rows of the latter two are of these kinds."""
VIEWS = (TAGS, RECALL, ENTITIES)
"""The views that follow the head. The summary is made rarely on purpose: being behind is its usual state."""
CHECKPOINTS, RESETS, DROPPED = "checkpoints", "resets", "dropped"
"""Kinds of derived rows beside the views: snapshots of a thread's state; what resets changed. And the position from which on
anything of a session is known to its contexts."""
