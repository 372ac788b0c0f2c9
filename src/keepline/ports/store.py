"""What a store is asked, as values, and the protocol that answers. Knows no SQL and no file.

Every operation but `Behind` and `Expired` carries a `Scope`; keys begin with its tenant and user. `Read(ops)` is one snapshot;
`Write(ops, expects)` is one transaction, all or nothing, and the only way to write. Each `Write` raises the owner's
`version` by one and stamps the rows it touches with it (`rev`); erasing, and changing rows that others may have read,
also raises `epoch`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from keepline.ports.derived import DropDerived, GetDerived, PutDerived
from keepline.values.context import Ledger
from keepline.values.message import Message
from keepline.values.scope import Scope
from keepline.values.session import Session, Span
from keepline.values.tag import Tag

# ---------------------------------------------------------------- rows


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A message as the log keeps it: chained (`digest` over the parent's digest and `salt`) or, for system text, not
    (both empty). An erased row keeps its digest and loses body and salt."""

    message: Message
    digest: bytes = b""
    salt: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outline:
    """A log without its words, column by column, in seq order; arrays have shape (n,).

    `seq` i64, `at` f64 (epoch seconds UTC), `role` u8 (index in `ROLES`), `category` u8 (index in `CATEGORIES`, 255: not
    found yet), `retention` u8 (255: not yet), `given` bool, `erased` bool, `tokens` i64 of the asked vocabulary
    (-1: not counted in it), `number` i64 (which session's own row). `ids` are message ids. `links` maps a seq to
    (ids of calls made, ids of calls answered) for the few rows that have either.
    """

    seq: NDArray[np.int64]
    number: NDArray[np.int64]
    at: NDArray[np.float64]
    role: NDArray[np.uint8]
    category: NDArray[np.uint8]
    retention: NDArray[np.uint8]
    given: NDArray[np.bool_]
    erased: NDArray[np.bool_]
    tokens: NDArray[np.int64]
    ids: Sequence[str]
    links: Mapping[int, tuple[tuple[str, ...], tuple[str, ...]]]


ROLES = ("system", "developer", "user", "assistant", "tool")
CATEGORIES = ("chat", "constraint", "fact", "tool_result", "greeting")
UNKNOWN = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexRow:
    """One chunk of one message in the recall index.

    `number`, `seq`, `chunk` name it; `start`, `end` are its span in `Message.text`. `vector` is float16 (dim,) or None
    (not embedded). `terms` u64 (k,) sorted unique term ids and `counts` u16 (k,) their numbers. `role` indexes `ROLES`;
    `at` epoch seconds; `length` characters of the whole message.
    """

    number: int
    seq: int
    chunk: int
    start: int
    end: int
    role: int
    at: float
    length: int
    terms: NDArray[np.uint64]
    counts: NDArray[np.uint16]
    vector: NDArray[np.float16] | None = None


# ---------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class GetUser:
    """→ `User`, or None if this owner has nothing here."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class GetSession:
    """→ the `Session` named by the scope, or None."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class ListSessions:
    """→ tuple of the owner's `Session`s, oldest first."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class GetRows:
    """→ tuple of `Row` of the owner in seq order: those in `spans`; with `seqs`, only these of them."""

    scope: Scope
    spans: tuple[Span, ...]
    seqs: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class FindRows:
    """→ tuple of `Row` of the owner whose message id is in `ids`, in no promised order; unknown ids are absent."""

    scope: Scope
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GetOutline:
    """→ `Outline` of `spans` in `vocabulary`, rows written after version `since` only."""

    scope: Scope
    spans: tuple[Span, ...]
    vocabulary: str
    since: int = 0


@dataclass(frozen=True, slots=True)
class GetPins:
    """→ tuple of `Pin` said within `spans` (ended ones too), in (seq, start) order, rows written after `since` only."""

    scope: Scope
    spans: tuple[Span, ...]
    since: int = 0


@dataclass(frozen=True, slots=True)
class GetIndex:
    """→ tuple of `IndexRow` of the owner, all sessions, in (number, seq, chunk) order, written after `since` only.

    With `limit`, a page: at most so many rows, of messages behind `after` (number, seq); `since` does not hold then.
    """

    scope: Scope
    since: int = 0
    after: tuple[int, int] = (-1, -1)
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class GetLedgers:
    """→ tuple of ledgers (plain dicts) of the owner, newest first; with `id`, that one."""

    scope: Scope
    id: str | None = None
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Behind:
    """→ tuple of `Scope` (session set) whose view `view` is behind its head, at most `limit`. The one operation that
    crosses owners: it answers with names, never with content. For whoever settles."""

    view: str
    limit: int = 1000


@dataclass(frozen=True, slots=True)
class Expired:
    """→ tuple of `Scope` (session set) whose time to live had passed at `now`, at most `limit`. Crosses owners as `Behind`
    does, and answers with names only."""

    now: datetime
    limit: int = 1000


ReadOp = (
    GetUser | GetSession | ListSessions | GetRows | FindRows | GetOutline | GetPins | GetIndex | GetLedgers | GetDerived
    | Behind | Expired
)

# ---------------------------------------------------------------- writing


@dataclass(frozen=True, slots=True)
class PutUser:
    """Make the owner with this secret, if there is none yet."""

    scope: Scope
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class PutSession:
    """Insert the session (`number` -1: the store gives the next one), or, naming the number that was read, replace its
    count and head and raise its positions. `Moved` if it exists already, is gone or is another one, or if the rows that a
    fork's path names are not all there."""

    scope: Scope
    session: Session


@dataclass(frozen=True, slots=True)
class SetSession:
    """Change what a session that is there carries beside its log: from which seq on it enters a context, and when it ends.
    None leaves each as it is."""

    scope: Scope
    cleared: int | None = None
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class PutRows:
    """Insert rows into the log of the session named by the scope (its `number` as put in the same write). A message id
    that this owner already has makes the whole write fail with `Moved`."""

    scope: Scope
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class PutTags:
    """Record categories, retentions and pins (a given category or retention is never overwritten); `Tag.ends` rows are
    updated in place. Replaces earlier pins of the same messages."""

    scope: Scope
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class PutIndex:
    """Insert or replace index rows; a row whose message has been erased meanwhile is skipped."""

    scope: Scope
    rows: tuple[IndexRow, ...]


@dataclass(frozen=True, slots=True)
class PutCounts:
    """Add token counts of one vocabulary: seq → tokens, for rows of session `number`."""

    scope: Scope
    number: int
    vocabulary: str
    counts: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class SetPosition:
    """How far the view of the scope's session has come."""

    scope: Scope
    view: str
    seq: int


@dataclass(frozen=True, slots=True)
class PutLedger:
    """Keep a build's ledger; only the owner's newest `keep` remain."""

    scope: Scope
    ledger: Ledger
    keep: int = 1000


@dataclass(frozen=True, slots=True)
class EraseRows:
    """Erase the words of messages (by id): body, salt, counts, pins and index rows go, digest and role stay as a
    tombstone. Unknown ids change nothing. Ledgers hold no words and stay."""

    scope: Scope
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EraseSession:
    """Erase a session: every word and derived row of its own messages. Rows that a fork still stands on remain as
    tombstones; without forks nothing remains. The name may be used again."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class EraseUser:
    """Erase all of the owner, the key of the digests included."""

    scope: Scope


WriteOp = (
    PutUser | PutSession | SetSession | PutRows | PutTags | PutIndex | PutCounts | SetPosition | PutLedger
    | PutDerived | DropDerived | EraseRows | EraseSession | EraseUser
)


@dataclass(frozen=True, slots=True)
class Expect:
    """What a write rested on; checked inside its transaction, else `Moved` and nothing is written.

    `count` and `head`: the session's length and head digest (`count` None: not checked). `view`/`position`: how far a
    view had come. `epoch`: the owner's. A session or owner that did not exist is `count` 0, `head` b"", `epoch` 0.
    """

    scope: Scope
    count: int | None = None
    head: bytes | None = None
    view: str | None = None
    position: int | None = None
    epoch: int | None = None


# ---------------------------------------------------------------- needs


@dataclass(frozen=True, slots=True)
class Read:
    """One snapshot: → tuple of answers, one an operation, in order."""

    ops: tuple[ReadOp, ...]


@dataclass(frozen=True, slots=True)
class Write:
    """One transaction, all or nothing: → the owner's version after it. All operations are of one owner."""

    ops: tuple[WriteOp, ...]
    expects: tuple[Expect, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Capability:
    """What a store can do, as data; whoever needs a thing asks here instead of catching."""

    persistent: bool
    processes: bool
    erases_files: bool


class Store(Protocol):
    """Answers `Read` and `Write`. Thread-safe; every method may be called from any thread."""

    capability: Capability

    def read(self, need: Read) -> tuple[Any, ...]: ...

    def write(self, need: Write) -> int: ...

    def close(self) -> None: ...
