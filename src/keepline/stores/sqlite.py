"""SQLite: open, execute, close. Which statements is decided in `reading`, `writing` and `erasing`; whose, by the guard.

Writes that wait together share one commit: whoever gets the writer's turn executes all that wait, each between
savepoints, and commits once; each is acknowledged only after that commit. Reads are snapshots on pooled connections and
wait for no writer. A store in memory has one connection, and all take turns.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, QueuePool, StaticPool, create_engine, event
from sqlalchemy.exc import IntegrityError

from keepline.errors import BadMessage, KeeplineError, Moved, StoreBusy, StoreReadOnly
from keepline.ports.store import Capability, Read, Write
from keepline.stores.place import Place
from keepline.stores.reading import answer
from keepline.stores.steps import Owned, Rows, Step, drive
from keepline.stores.writing import write

TOGETHER = 64  # writes that share a commit at most, so that the first does not wait for a crowd
SCRUB_MS = 500  # how long an erasure waits for others in its way before it leaves the cleaning to the next write
IN_MEMORY = 64 << 20  # a file up to this many bytes is rewritten by way of memory, a larger one by a temporary file


class Unclean(IntEnum):
    """Where erased words may still be; kept in the file as SQLite's `user_version`, for whoever opens it next."""

    NOTHING = 0
    LOG = 1
    FILE = 2


@dataclass(slots=True)
class _Waiting:
    """A write in the queue; `done` once it is committed or refused."""

    need: Write
    version: int = 0
    error: KeeplineError | None = None
    done: bool = False


class SqliteStore:
    """A backend over one SQLite file, or over memory. Thread-safe; several processes may open the same file."""

    def __init__(self, path: str, *, busy_s: float = 30.0, connect: Callable[..., Any] = sqlite3.connect) -> None:
        """Open the store at `path` (`:memory:`: in memory); make it if there is none. Errors: see `stores.open`."""
        self.place = Place(path, busy_s, connect)
        self.capability = Capability(
            persistent=not self.place.memory, processes=not self.place.memory, erases_files=not self.place.memory
        )
        self._open()

    def _open(self) -> None:
        self._process = os.getpid()
        self._turn = threading.RLock()
        self._queue: deque[_Waiting] = deque()
        self._unclean = Unclean.NOTHING
        self.writer = self._engine(1)
        self.reader = self.writer if self.place.memory else self._engine(8)
        try:
            self.place.patiently(self._prepare)
        except KeeplineError:
            self.close()
            raise
        _begin_with(self.writer, "BEGIN IMMEDIATE")  # a write that began as a read could fail when it turns into one
        if self.reader is not self.writer:
            _begin_with(self.reader, "BEGIN")
        if self._unclean:
            self._scrub(0)

    def _engine(self, size: int) -> Engine:
        kind: dict[str, Any] = {"poolclass": QueuePool, "pool_size": size, "max_overflow": -1}
        if self.place.memory:
            kind = {"poolclass": StaticPool}
        elif self.place.why:
            kind = {"poolclass": NullPool}  # each time anew: whether somebody is writing decides how it may be read
        return create_engine("sqlite+pysqlite://", creator=self.place.connect, **kind)

    def _prepare(self) -> None:
        with self.writer.connect() as connection:
            self.place.prepare(connection)
            if not self.place.why:
                self._unclean = Unclean(connection.exec_driver_sql("PRAGMA user_version").scalar() or 0)

    def _here(self) -> None:
        """After a fork, a connection of the parent must not be used: open anew."""
        if os.getpid() != self._process:
            self.writer.dispose(close=False)
            self.reader.dispose(close=False)
            self._open()

    # ---------------------------------------------------------------- reading

    def read(self, need: Read) -> tuple[Owned, ...]:
        """One snapshot: an answer for each operation, with the owners of its rows."""
        self._here()
        if self.place.memory:
            with self._turn:
                return self.place.patiently(lambda: self._snapshot(need))
        return self.place.patiently(lambda: self._snapshot(need))

    def _snapshot(self, need: Read) -> tuple[Owned, ...]:
        with self.reader.connect() as connection:
            return tuple(drive(answer(op), lambda step: _execute(connection, step)) for op in need.ops)

    # ---------------------------------------------------------------- writing

    def write(self, need: Write) -> int:
        """One transaction, synced when this returns: the owner's version after it."""
        self._here()
        if self.place.why:
            raise StoreReadOnly(path=self.place.path, why=self.place.why)
        mine = _Waiting(need)
        self._queue.append(mine)
        try:
            with self._turn:
                while not mine.done:
                    self._lead()
        finally:
            if not mine.done and mine in self._queue:
                self._queue.remove(mine)
        if mine.error is not None:
            raise mine.error
        return mine.version

    def _lead(self) -> None:
        """Carry out what waits, for everyone. If this thread is interrupted, the others' writes wait on."""
        batch = [self._queue.popleft() for _ in range(min(len(self._queue), TOGETHER))]
        before = self._unclean
        try:
            self._commit(batch)
        finally:
            self._queue.extendleft(waiting for waiting in reversed(batch) if not waiting.done)
        if self._unclean:
            self._scrub(0 if before else SCRUB_MS)  # nobody is made to wait again for what was put off

    def _commit(self, batch: list[_Waiting]) -> None:
        try:
            self.place.patiently(lambda: self._transact(batch))
        except KeeplineError as error:
            if len(batch) > 1 and not isinstance(error, StoreBusy):
                # the database refused one of them; alone, each gets its own answer
                for waiting in batch:
                    self._commit([waiting])
                return
            for waiting in batch:
                waiting.error = error
        for waiting in batch:
            waiting.done = True

    def _transact(self, batch: list[_Waiting]) -> None:
        gone = False
        with self.writer.begin() as connection:
            for waiting in batch:
                waiting.error = None
                savepoint = connection.begin_nested()
                try:
                    written = drive(write(waiting.need), lambda step: _execute(connection, step))
                    savepoint.commit()
                    waiting.version, gone = written.version, gone or written.words_gone
                except IntegrityError:
                    savepoint.rollback()
                    waiting.error = Moved(what="a message with this id, or at this place, is there already")
                except KeeplineError as error:
                    savepoint.rollback()
                    waiting.error = error
            if gone:
                connection.exec_driver_sql(f"PRAGMA user_version={int(Unclean.FILE)}")
        if gone:
            self._unclean = Unclean.FILE

    def _scrub(self, wait_ms: int) -> None:
        """Take erased words out of the file and its write-ahead log, byte by byte.

        `secure_delete` overwrites what is deleted, but when SQLite rearranges a page it may leave a copy of a row in the
        page's unused part, and does not know of it later. So the file is written anew from what it should hold. If that
        cannot be now (a reader of an older state, a full disk), the next write or the next opening does it.
        """
        if self.place.memory:
            self._unclean = Unclean.NOTHING
            return
        with self.writer.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            small = os.path.getsize(self.place.path) <= IN_MEMORY
            try:
                _pragma(raw, f"busy_timeout={wait_ms}")
                if self._unclean is Unclean.FILE:
                    _pragma(raw, f"temp_store={'MEMORY' if small else 'FILE'}")
                    raw.execute("VACUUM").close()
                    _pragma(raw, f"user_version={int(Unclean.LOG)}")
                    self._unclean = Unclean.LOG
                if not _pragma(raw, "wal_checkpoint(TRUNCATE)"):
                    _pragma(raw, f"user_version={int(Unclean.NOTHING)}")
                    self._unclean = Unclean.NOTHING
            except sqlite3.DatabaseError:  # the write itself is kept; the mark in the file stays until the rest is done
                return
            finally:
                _pragma(raw, "temp_store=MEMORY")
                _pragma(raw, f"busy_timeout={int(self.place.busy_s * 1000)}")

    def close(self) -> None:
        """Give back files and memory. What was acknowledged is already safe."""
        self.reader.dispose()
        self.writer.dispose()


def _begin_with(engine: Engine, statement: str) -> None:
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(statement))


def _pragma(raw: Any, text: str) -> Any:
    cursor = raw.execute(f"PRAGMA {text}")
    row = cursor.fetchone()
    cursor.close()
    return row[0] if row else None


def _execute(connection: Connection, step: Step) -> Rows:
    try:
        result = connection.execute(step.statement, step.params)
    except UnicodeEncodeError:  # only names and ids are text; words are bytes
        raise BadMessage(where="a name or id", why="it holds half of a surrogate pair, which is not a character") from None
    if not result.returns_rows:
        return []
    assert result.cursor is not None
    rows = list(result.cursor.fetchall())  # plain tuples: 100,000 of them are wanted at once
    result.close()
    return rows
