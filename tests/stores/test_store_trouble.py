"""Bad places and bad moments: each gives its own error, changes nothing, and loses nothing acknowledged."""

import os
import pickle
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from keepline import stores
from keepline.errors import KeeplineError, NewerSchema, NotAStore, StoreBusy, StoreFailed, StoreFull, StoreReadOnly
from keepline.ports.store import EraseUser, Store, Write
from keepline.testing.conformance.rows import say, texts, who

ANN = who("ann")
NOBODY = 65534


def _database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript("CREATE TABLE notes (a); INSERT INTO notes VALUES ('mine');")


def _damaged(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + b"\x55" * 9000)


STRANGERS: dict[str, Callable[[Path], Any]] = {
    "a text file": lambda path: path.write_text("dear diary, " * 1000),
    "a very short file": lambda path: path.write_text("hi"),
    "JSON lines": lambda path: path.write_text('{"role": "user"}\n'),
    "another program's database": _database,
    "a folder": lambda path: path.mkdir(),
    "a file that begins like a database": _damaged,
    "a pipe": os.mkfifo,
}


@pytest.mark.req("STORE-11")
@pytest.mark.parametrize("make", STRANGERS.values(), ids=STRANGERS.keys())
def test_what_is_not_a_store_is_refused_and_left_as_it_is(tmp_path: Path, make: Callable[[Path], Any]) -> None:
    path = tmp_path / "keepline.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(NotAStore, match=r"keepline\.db is not a keepline store"):
        stores.open(str(path))
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [file.name for file in tmp_path.iterdir()] == ["keepline.db"]


@pytest.mark.req("STORE-11")
def test_a_path_through_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotAStore, match="a part of its path is a file"):
        stores.open(str(tmp_path / "file" / "keepline.db"))


@pytest.mark.req("STORE-11")
def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "keepline.db").touch()
    store = stores.open(str(tmp_path / "keepline.db"))
    say(store, ANN, "x")
    assert texts(store, ANN) == ["x"]
    store.close()


@pytest.mark.req("STORE-12")
def test_a_store_of_a_newer_keepline_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "keepline.db"
    stores.open(str(path)).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE keepline_schema SET version_num = '0999'")
        raw.commit()
    before = path.read_bytes()
    with pytest.raises(NewerSchema, match="schema 0999"):
        stores.open(str(path))
    assert path.read_bytes() == before


# ---------------------------------------------------------------- places that cannot be written


def _unprivileged(action: Callable[[], Any]) -> Any:
    """What `action` returns, or the error that it raises, in a forked process without root's right to write anywhere."""
    stores.open(":memory:").close()  # import now what the forked process, as nobody, might not be allowed to read
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        try:
            result = action()
        except KeeplineError as error:
            result = error
        with os.fdopen(writer, "wb") as out:
            pickle.dump(result, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        data = told.read()
    os.waitpid(child, 0)
    return pickle.loads(data)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others may look into (pytest's own is closed to them)."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


def _read_and_write(path: Path) -> tuple[list[str], KeeplineError | None, list[str]]:
    store = stores.open(str(path))
    before = texts(store, ANN)
    try:
        say(store, ANN, "more")
    except KeeplineError as error:
        return before, error, texts(store, ANN)
    return before, None, texts(store, ANN)


def _filled(folder: Path) -> Path:
    path = folder / "keepline.db"
    store = stores.open(str(path))
    say(store, ANN, "kept")
    store.close()
    path.chmod(0o444)
    return path


@pytest.mark.req("STORE-13")
@pytest.mark.parametrize("mode", [0o555, 0o777], ids=["read-only folder", "writable folder"])
def test_a_read_only_store_can_be_read_and_says_why_it_is_not_written(folder: Path, mode: int) -> None:
    path = _filled(folder)
    folder.chmod(mode)
    before, error, after = _unprivileged(lambda: _read_and_write(path))
    assert (before, after) == (["kept"], ["kept"])
    assert isinstance(error, StoreReadOnly)
    assert "is read-only" in str(error)


@pytest.mark.req("STORE-13")
def test_a_writable_file_in_a_read_only_folder_is_read_only_too(folder: Path) -> None:
    path = _filled(folder)
    path.chmod(0o666)
    folder.chmod(0o555)
    before, error, after = _unprivileged(lambda: _read_and_write(path))
    assert (before, after) == (["kept"], ["kept"])
    assert isinstance(error, StoreReadOnly)


@pytest.mark.req("STORE-13")
def test_a_read_only_reader_sees_what_a_writer_beside_it_has_just_written(folder: Path) -> None:
    path = _filled(folder)
    path.chmod(0o644)
    writer = stores.open(str(path))
    say(writer, ANN, "just now")
    folder.chmod(0o555)
    path.chmod(0o444)
    before, error, _ = _unprivileged(lambda: _read_and_write(path))
    assert before == ["kept", "just now"]
    assert isinstance(error, StoreReadOnly)
    writer.close()


@pytest.mark.req("STORE-13")
@pytest.mark.parametrize("name", ["keepline.db", "new/keepline.db"])
def test_a_new_store_in_a_read_only_folder_is_refused(folder: Path, name: str) -> None:
    folder.chmod(0o555)
    error = _unprivileged(lambda: stores.open(str(folder / name)))
    assert isinstance(error, StoreReadOnly)
    assert list(folder.iterdir()) == []


# ---------------------------------------------------------------- a full disk, a busy file


def _limit(store: Any, spare: int) -> None:
    """Let the database grow by so many pages more: what SQLite is told when a disk is full."""
    with store.backend.writer.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + spare}")


@pytest.mark.req("STORE-14")
def test_a_full_disk_refuses_the_write_and_keeps_all_before_it(tmp_path: Path) -> None:
    store = stores.open(str(tmp_path / "keepline.db"))
    said = ["first"]
    say(store, ANN, "first")
    _limit(store, 40)
    for _ in range(4):
        say(store, ANN, "words " * 1500)
        said.append("words " * 1500)
    with pytest.raises(StoreFull, match="is full"):
        say(store, ANN, "words " * 300_000)
    assert texts(store, ANN) == said
    _limit(store, 1000)
    say(store, ANN, "room again")
    assert texts(store, ANN) == [*said, "room again"]
    store.close()
    again = stores.open(str(tmp_path / "keepline.db"))
    assert texts(again, ANN) == [*said, "room again"]
    again.close()


def _until_refused(path: Path, limit: int) -> tuple[int, KeeplineError]:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = stores.open(str(path))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    acknowledged = 0
    try:
        while True:
            say(store, ANN, "words " * 3000)
            acknowledged += 1
    except KeeplineError as error:
        return acknowledged, error


@pytest.mark.req("STORE-14")
def test_a_file_that_may_not_grow_refuses_the_write_and_keeps_all_before_it(folder: Path) -> None:
    folder.chmod(0o777)
    path = folder / "keepline.db"
    acknowledged, error = _unprivileged(lambda: _until_refused(path, 1 << 20))
    assert isinstance(error, StoreFailed | StoreFull)
    store = stores.open(str(path))
    assert 3 < acknowledged == len(texts(store, ANN))
    store.close()


@pytest.mark.req("STORE-15")
def test_a_file_locked_by_another_program_is_waited_for_then_said_to_be_busy(tmp_path: Path) -> None:
    path = tmp_path / "keepline.db"
    store = stores.open(str(path), busy_s=0.2)
    say(store, ANN, "before")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match=r"locked by another program for 0\.2 s"):
            say(store, ANN, "meanwhile")
        assert texts(store, ANN) == ["before"]
        other.execute("COMMIT")
    say(store, ANN, "after")
    assert texts(store, ANN) == ["before", "after"]
    store.close()


@pytest.mark.req("STORE-15")
def test_a_lock_shorter_than_the_patience_is_not_noticed(tmp_path: Path) -> None:
    path = tmp_path / "keepline.db"
    store = stores.open(str(path))
    say(store, ANN, "before")
    code = (
        f"import sqlite3, sys; c = sqlite3.connect({str(path)!r}, isolation_level=None); c.execute('BEGIN IMMEDIATE');"
        " print('locked', flush=True); sys.stdin.readline()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"locked\n"
        other.kill()
        say(store, ANN, "after")
    assert texts(store, ANN) == ["before", "after"]
    store.close()


@pytest.mark.req("STORE-15")
def test_a_busy_file_can_still_be_opened_and_read(tmp_path: Path) -> None:
    path = tmp_path / "keepline.db"
    first: Store = stores.open(str(path))
    say(first, ANN, "x")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        second = stores.open(str(path), busy_s=0.2)
        assert texts(second, ANN) == ["x"]
        with pytest.raises(StoreBusy):
            second.write(Write((EraseUser(ANN),)))
        second.close()
    assert texts(first, ANN) == ["x"]
    first.close()
