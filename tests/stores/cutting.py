"""A file system whose power can be cut: it remembers, in order, every write and every sync, and can say for any moment what
a disk would hold that keeps only what was synced (and, if asked, an arbitrary part of what was not).

SQLite runs on it through a VFS shim of apsw; `connect` stands in for `sqlite3.connect`, so that the real store runs on it.
The shared-memory file is not remembered: it never survives a power cut.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw

Event = tuple[str, str, int, bytes]
SECTOR = 512


class Disk(apsw.VFS):
    """Record everything; `tell` marks what was acknowledged."""

    numbers = itertools.count()

    def __init__(self) -> None:
        self.name = f"cutting-{next(self.numbers)}"
        self.events: list[Event] = []
        super().__init__(self.name, "")

    def xOpen(self, name: Any, flags: Any) -> Any:  # noqa: N802  # SQLite's name
        return _File(name, flags, self.events)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        self.events.append(("delete", name, 0, b""))
        super().xDelete(name, sync)

    def tell(self, what: str) -> None:
        """`what` has been acknowledged."""
        self.events.append(("told", what, 0, b""))

    def connect(self, target: str, **_: Any) -> Any:
        """A connection through this disk that speaks as `sqlite3`'s do, as far as SQLAlchemy asks."""
        flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = apsw.Connection(target, flags=flags, vfs=self.name)
        connection.set_busy_timeout(30_000)
        return _Connection(connection)

    def cuts(self, moments: set[int], dice: random.Random | None) -> Iterator[tuple[dict[str, bytes], list[str]]]:
        """For each moment (an index of `events`): the files that survive, by name, and what had been told."""
        now: dict[str, bytearray] = {}
        safe: dict[str, bytes] = {}
        pending: dict[str, list[Event]] = {}
        told: list[str] = []
        for moment, event in enumerate(self.events):
            if moment in moments:
                yield _survivors(safe, pending, dice), list(told)
            kind, name, *_ = event
            if kind == "told":
                told.append(name)
            elif kind == "delete":
                for files in (now, safe, pending):
                    files.pop(name, None)  # type: ignore[attr-defined]
            elif kind == "sync":
                safe[name] = bytes(now.get(name, b""))
                pending[name] = []
            else:
                _apply(now.setdefault(name, bytearray()), event)
                pending.setdefault(name, []).append(event)


def _survivors(safe: dict[str, bytes], pending: dict[str, list[Event]], dice: random.Random | None) -> dict[str, bytes]:
    files = {name: bytearray(data) for name, data in safe.items()}
    if dice:
        for name, events in pending.items():
            for event in events:
                if dice.random() < 0.5:
                    _apply(files.setdefault(name, bytearray()), _torn(event, dice))
    return {name: bytes(data) for name, data in files.items()}


def _torn(event: Event, dice: random.Random) -> Event:
    kind, name, at, data = event
    sectors = dice.randint(0, len(data) // SECTOR + 1)
    return kind, name, at, data[: sectors * SECTOR] if kind == "write" else data


def _apply(data: bytearray, event: Event) -> None:
    kind, _, at, new = event
    if kind == "truncate":
        del data[at:]
    elif new:
        data.extend(bytes(max(0, at - len(data))))
        data[at : at + len(new)] = new


class _File(apsw.VFSFile):
    def __init__(self, name: Any, flags: Any, events: list[Event]) -> None:
        super().__init__("", name, flags)
        self.name = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self.events = events

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self.events.append(("write", self.name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self.events.append(("truncate", self.name, size, b""))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self.events.append(("sync", self.name, 0, b""))


def lay_out(files: dict[str, bytes], folder: Path) -> Path:
    """Write what survived into `folder`; → the database's path there."""
    folder.mkdir()
    for name, data in files.items():
        (folder / Path(name).name).write_bytes(data)
    return folder / "keepline.db"


class _Connection:
    """apsw's connection with the face of `sqlite3.Connection`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.apsw = connection

    def cursor(self) -> _Cursor:
        return _Cursor(self.apsw)

    def execute(self, sql: str) -> _Cursor:
        return self.cursor().execute(sql)

    def create_function(self, *_: Any, **__: Any) -> None:
        """SQLAlchemy's regexp, which no statement here uses."""

    def commit(self) -> None:
        if not self.apsw.get_autocommit():
            self.apsw.execute("COMMIT")

    def rollback(self) -> None:
        if not self.apsw.get_autocommit():
            self.apsw.execute("ROLLBACK")

    def close(self) -> None:
        self.apsw.close()


class _Cursor:
    description: Any = None
    rowcount = -1
    lastrowid = None

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.rows: list[Any] = []

    def execute(self, sql: str, parameters: Any = ()) -> _Cursor:
        return self._run(lambda cursor: cursor.execute(sql, tuple(parameters)))

    def executemany(self, sql: str, parameters: Any) -> _Cursor:
        return self._run(lambda cursor: cursor.executemany(sql, [tuple(p) for p in parameters]))

    def _run(self, action: Callable[[apsw.Cursor], Any]) -> _Cursor:
        cursor = self.connection.cursor()
        columns: list[Any] = []

        def traced(running: apsw.Cursor, _: str, __: Any) -> bool:
            columns[:] = running.get_description()
            return True

        cursor.exec_trace = traced
        self.rows = list(action(cursor))
        self.description = [(column[0], *[None] * 6) for column in columns] or None
        return self

    def fetchall(self) -> list[Any]:
        rows, self.rows = self.rows, []
        return rows

    def fetchone(self) -> Any:
        return self.rows.pop(0) if self.rows else None

    def close(self) -> None:
        self.rows = []
