"""A place where an SQLite store may be: what is there, whether it can be used, how to connect, what its errors mean.

Nothing is changed before it is certain that the place is ours or empty. Knows no operation of a store.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from keepline.errors import KeeplineError, NewerSchema, NotAStore, StoreBusy, StoreFailed, StoreFull, StoreReadOnly
from keepline.stores.schema import SCHEMA, STAMP, metadata, stamp

R = TypeVar("R")
MEMORY = ":memory:"

# FULL: what is acknowledged survives a power cut (NORMAL lost 4,900 of 19,636 acknowledged writes in simulated ones).
# secure_delete and temp_store: erased words stay neither in free pages nor in temporary files. Pages of 8 KiB: vectors
# and bodies over 1 KB fit better.
PRAGMAS = ("page_size=8192", "synchronous=FULL", "fullfsync=ON", "checkpoint_fullfsync=ON", "secure_delete=ON",
           "temp_store=MEMORY", "cache_size=-8000")  # fmt: skip


class Place:
    """One path (or memory), with the time that a call may wait there for others."""

    def __init__(self, path: str, busy_s: float, connect: Callable[..., Any]) -> None:
        """`connect` is `sqlite3.connect` or takes and gives the same. Looks at the file system, opens nothing."""
        self.memory = path == MEMORY
        self.path = path if self.memory else str(Path(path).expanduser().absolute())
        self.busy_s = busy_s
        self._connect = connect
        self.why = "" if self.memory else _unwritable(Path(self.path))
        if not self.memory:
            self._look()

    def _look(self) -> None:
        path = Path(self.path)
        if path.is_dir():
            raise NotAStore(path=path, why="it is a folder")
        if not path.exists():
            self._make_folder(path.parent)
            return
        if not path.is_file():
            raise NotAStore(path=path, why="it is not a regular file")
        if not os.access(path, os.R_OK):
            raise NotAStore(path=path, why="it may not be read")
        # and no further: opening and closing the file here would drop the locks that this process's other connections have

    def _make_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (NotADirectoryError, FileExistsError):
            raise NotAStore(path=self.path, why="a part of its path is a file") from None
        except OSError as error:
            raise StoreReadOnly(path=self.path, why=error.strerror) from None
        self.why = _unwritable(Path(self.path))
        if self.why:
            raise StoreReadOnly(path=self.path, why=self.why)

    def connect(self) -> Any:
        """A new connection, ready for use; read-only where the place is."""
        how = self._reading() if self.why else "?mode=rwc"
        target = MEMORY if self.memory else Path(self.path).as_uri() + how
        connection = self._connect(
            target, uri=True, timeout=self.busy_s, isolation_level=None, check_same_thread=False
        )
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").close()
        return connection

    def _reading(self) -> str:
        """How to read what may not be written. Without a log beside it nobody has it open, and SQLite, which could not
        make one, must be told so; with a log, somebody may be writing, and the log is read too."""
        return "?mode=ro" if os.path.exists(self.path + "-wal") else "?mode=ro&immutable=1"

    # ---------------------------------------------------------------- making it ours

    def prepare(self, connection: Connection) -> None:
        """See that the schema is there and is the known one; make or migrate it if need be."""
        tables = _tables(connection)
        if tables and STAMP not in tables:
            raise NotAStore(path=self.path, why="it is an SQLite database of another program")
        found = _stamped(connection) if tables else ""
        if found > SCHEMA:
            raise NewerSchema(path=self.path, found=found, known=SCHEMA)
        if found != SCHEMA and self.why:
            raise StoreReadOnly(path=self.path, why=self.why)
        connection.rollback()
        if self.why:
            return
        if not self.memory:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
            connection.rollback()
        if found != SCHEMA:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            _bring(connection)
            connection.commit()
            if not found and not self.memory:
                _sync_folder(Path(self.path).parent)

    # ---------------------------------------------------------------- trouble

    def patiently(self, action: Callable[[], R]) -> R:
        """Do `action`; while another program holds the file, again, up to `busy_s`. SQLite's own waiting leaves out a few
        moments (recovery after a crash, another's last close). Raises a `StoreError` for what the database refuses."""
        deadline = time.monotonic() + self.busy_s
        while True:
            try:
                return action()
            except DBAPIError as error:
                if not is_busy(error) or time.monotonic() >= deadline:
                    raise self.explain(error) from error
                time.sleep(0.005)

    def explain(self, error: DBAPIError) -> KeeplineError:
        """The error of ours that a database error means."""
        code = _code(error)
        free = 0 if self.memory else shutil.disk_usage(Path(self.path).parent).free
        if is_busy(error):
            return StoreBusy(path=self.path, seconds=self.busy_s)
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and free < 1 << 20):
            return StoreFull(path=self.path)
        if code == sqlite3.SQLITE_READONLY:
            return StoreReadOnly(path=self.path, why="the file or its folder is read-only")
        if code == sqlite3.SQLITE_CANTOPEN:
            return StoreReadOnly(path=self.path, why=self.why or "its folder cannot be used")
        if code == sqlite3.SQLITE_NOTADB:
            return NotAStore(path=self.path, why="it is not an SQLite database")
        return StoreFailed(path=self.path, why=str(error.orig))


def is_busy(error: DBAPIError) -> bool:
    """Whether another program, or another connection, is in the way."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: DBAPIError) -> int:
    return int(getattr(error.orig, "sqlite_errorcode", 0)) & 0xFF  # the primary code of an extended one


def _unwritable(path: Path) -> str:
    """Why `path` cannot be written; empty if it can."""
    if path.exists() and not os.access(path, os.W_OK):
        return "the file is read-only"
    if path.parent.exists() and not os.access(path.parent, os.W_OK):
        return "its folder is read-only"
    return ""


def _sync_folder(folder: Path) -> None:
    """A new file's name must survive a power cut too; SQLite sees to that for its log only."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _tables(connection: Connection) -> set[str]:
    rows = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {row[0] for row in rows}


def _stamped(connection: Connection) -> str:
    return connection.execute(select(stamp.c.version_num)).scalar() or ""


def _bring(connection: Connection) -> None:
    """To the known schema, inside the caller's write transaction: another process may have been first."""
    tables = _tables(connection)
    if not tables:
        metadata.create_all(connection, checkfirst=False)
        connection.execute(stamp.insert(), {"version_num": SCHEMA})
    elif _stamped(connection) != SCHEMA:
        from keepline.stores.migrations import upgrade  # noqa: PLC0415  # Alembic takes a while to import; rarely needed

        upgrade(connection)
