"""Writes that wait together share a commit; each is still whole, and one that fails or is interrupted harms no other."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from keepline.errors import KeeplineError, Moved, StoreFull
from keepline.ports.store import Expect, GetRows, PutRows, Read, Store, Write
from keepline.stores.guard import Guard
from keepline.stores.sqlite import SqliteStore
from keepline.testing.conformance.rows import EVERYTHING, append, message, row, say, start, texts, who

ANN, BOB, CAT = who("ann"), who("bob"), who("cat")


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path / "keepline.db"))
    yield made
    made.close()


def _together(backend: SqliteStore, *writes: Callable[[], Any]) -> list[Future[Any]]:
    """Hold the writer's turn until all of `writes` wait for it; → their outcomes."""
    with ThreadPoolExecutor(len(writes)) as pool:
        with backend._turn:
            jobs = [pool.submit(write) for write in writes]
            while len(backend._queue) < len(writes):
                pass
        return jobs


def _put(store: Store, scope: Any, text: str, **fields: Any) -> Callable[[], int]:
    return lambda: store.write(Write((PutRows(scope, (row(message(0, text, **fields)),)),)))


@pytest.mark.req("STORE-17")
def test_writes_that_wait_together_share_one_commit(backend: SqliteStore) -> None:
    store = Guard(backend)
    for scope in (ANN, BOB, CAT):
        start(store, scope)
    commits: list[Any] = []
    event.listen(backend.writer, "commit", commits.append)
    jobs = _together(backend, *(_put(store, scope, scope.user) for scope in (ANN, BOB, CAT)))
    assert len(commits) == 1
    assert all(job.result() > 0 for job in jobs)
    rows = store.read(Read(tuple(GetRows(scope, (EVERYTHING,)) for scope in (ANN, BOB, CAT))))
    assert [found[0].message.text for found in rows] == ["ann", "bob", "cat"]


@pytest.mark.req("STORE-17")
def test_one_that_has_moved_is_refused_alone(backend: SqliteStore) -> None:
    store = Guard(backend)
    for scope in (ANN, BOB, CAT):
        start(store, scope)
    late = Write((PutRows(BOB, (row(message(0)), row(message(1)))),), (Expect(BOB, count=7),))
    jobs = _together(backend, _put(store, ANN, "a"), lambda: store.write(late), _put(store, CAT, "c"))
    assert isinstance(jobs[1].exception(), Moved)
    rows = store.read(Read(tuple(GetRows(scope, (EVERYTHING,)) for scope in (ANN, BOB, CAT))))
    assert [len(found) for found in rows] == [1, 0, 1]


@pytest.mark.req("STORE-14")
def test_one_too_large_for_the_disk_is_refused_and_the_others_are_kept(backend: SqliteStore) -> None:
    store = Guard(backend)
    for scope in (ANN, BOB, CAT):
        start(store, scope)
    with backend.writer.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={(pages or 0) + 20}")
    jobs = _together(backend, _put(store, ANN, "a"), _put(store, BOB, "b" * 1_000_000), _put(store, CAT, "c"))
    assert [type(job.exception()) for job in jobs] == [type(None), StoreFull, type(None)]
    rows = store.read(Read(tuple(GetRows(scope, (EVERYTHING,)) for scope in (ANN, BOB, CAT))))
    assert [len(found) for found in rows] == [1, 0, 1]


class _Once:
    """Ctrl-C at the first statement on `bodies`: in the middle of a write."""

    def __init__(self) -> None:
        self.pending = True

    def __call__(self, _: Any, __: Any, statement: str, *___: Any) -> None:
        if self.pending and "INSERT INTO bodies" in statement:
            self.pending = False
            raise KeyboardInterrupt


@pytest.mark.req("STORE-19")
def test_an_interrupted_write_is_undone_and_those_that_waited_with_it_are_kept(backend: SqliteStore) -> None:
    store = Guard(backend)
    for scope in (ANN, BOB, CAT):
        start(store, scope)
    event.listen(backend.writer, "before_cursor_execute", _Once())
    jobs = _together(backend, *(_put(store, scope, scope.user) for scope in (ANN, BOB, CAT)))
    outcomes = [type(job.exception()) for job in jobs]
    assert sorted(kind.__name__ for kind in outcomes) == ["KeyboardInterrupt", "NoneType", "NoneType"]
    rows = store.read(Read(tuple(GetRows(scope, (EVERYTHING,)) for scope in (ANN, BOB, CAT))))
    assert [len(found) for found in rows] == [0 if kind is KeyboardInterrupt else 1 for kind in outcomes]


@pytest.mark.req("STORE-19")
def test_after_an_interrupt_the_same_write_can_be_made_again(backend: SqliteStore) -> None:
    store = Guard(backend)
    start(store, ANN)
    event.listen(backend.writer, "before_cursor_execute", _Once())
    with pytest.raises(KeyboardInterrupt):
        append(store, ANN, [message(0, "again")])
    assert texts(store, ANN) == []
    append(store, ANN, [message(0, "again")])
    assert texts(store, ANN) == ["again"]


@pytest.mark.req("STORE-17")
def test_a_reader_waits_for_no_writer(backend: SqliteStore) -> None:
    store = Guard(backend)
    say(store, ANN, "before")
    with backend.writer.begin() as writing:
        writing.exec_driver_sql("UPDATE messages SET id = 'x'")
        assert texts(store, ANN) == ["before"]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(lambda _: texts(store, ANN), range(32))) == [["before"]] * 32
        writing.rollback()


@pytest.mark.req("STORE-19")
def test_a_forked_process_opens_the_store_anew(tmp_path: Path) -> None:
    store = Guard(SqliteStore(str(tmp_path / "keepline.db")))
    say(store, ANN, "parent")
    child = os.fork()
    if child == 0:
        try:
            say(store, ANN, "child")
            os._exit(0 if texts(store, ANN) == ["parent", "child"] else 1)
        except KeeplineError:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    say(store, ANN, "parent again")
    assert texts(store, ANN) == ["parent", "child", "parent again"]
    store.close()


@pytest.mark.req("STORE-17")
def test_memory_can_be_used_from_any_thread() -> None:
    store = Guard(SqliteStore(":memory:"))
    say(store, ANN, "from here")
    other = threading.Thread(target=say, args=(store, ANN, "from there"))
    other.start()
    other.join()
    assert texts(store, ANN) == ["from here", "from there"]
    store.close()
