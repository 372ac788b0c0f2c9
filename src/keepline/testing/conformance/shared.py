"""Many at once: threads of one process, and processes that open the same store. Nothing is lost, seen half, or refused."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from keepline.ports import store as ops
from keepline.ports.store import Read, Store, Write
from keepline.testing.conformance.base import Suite
from keepline.testing.conformance.rows import EVERYTHING, counters, read_log, say, start, texts, who

ANN = who("ann")
WRITERS, READERS, EACH = 4, 4, 25

Open = Callable[[str], Store]


def write_many(store: Store, writer: int) -> list[str]:
    """Append to one session that others append to as well, and to one of one's own; → what was acknowledged."""
    told: list[str] = []
    for i in range(EACH):
        told += say(store, ANN, f"{writer}:{i}")
        say(store, who(f"user {writer}"), f"{i}")
    return told


def read_many(store: Store) -> int:
    """Read snapshots while others write; → how many of them were not whole."""
    broken = 0
    for _ in range(EACH * 4):
        session, outline, rows = store.read(Read((
            ops.GetSession(ANN), ops.GetOutline(ANN, (EVERYTHING,), "o200k_base"), ops.GetRows(ANN, (EVERYTHING,)),
        )))  # fmt: skip
        places = list(range(session.count))
        broken += outline.seq.tolist() != places or [r.message.seq for r in rows] != places
    return broken


def _write_elsewhere(open_store: Open, folder: str, writer: int) -> list[str]:
    store = open_store(folder)
    try:
        return write_many(store, writer)
    finally:
        store.close()


def _read_elsewhere(open_store: Open, folder: str) -> int:
    store = open_store(folder)
    try:
        return read_many(store)
    finally:
        store.close()


def _erase_elsewhere(open_store: Open, folder: str, ids: tuple[str, ...]) -> None:
    store = open_store(folder)
    store.write(Write((ops.EraseRows(ANN, ids),)))
    store.close()


def _nothing_was_lost(store: Store, told: list[list[str]]) -> None:
    words = texts(store, ANN)
    assert sorted(words) == sorted(f"{w}:{i}" for w in range(WRITERS) for i in range(EACH))
    assert {r.message.id for r in read_log(store, ANN)} == {name for ids in told for name in ids}
    for w in range(WRITERS):
        assert [text for text in words if text.startswith(f"{w}:")] == [f"{w}:{i}" for i in range(EACH)]
        assert texts(store, who(f"user {w}")) == [str(i) for i in range(EACH)]


class ThreadSuite(Suite):
    """Threads that share one store object."""

    def test_four_writers_and_four_readers_in_threads_lose_and_see_nothing_half(self, store: Store) -> None:
        start(store, ANN)
        with ThreadPoolExecutor(WRITERS + READERS) as pool:
            writing = [pool.submit(write_many, store, w) for w in range(WRITERS)]
            reading = [pool.submit(read_many, store) for _ in range(READERS)]
            told = [job.result() for job in writing]
            assert sum(job.result() for job in reading) == 0
        _nothing_was_lost(store, told)

    def test_of_many_who_make_the_same_owner_and_session_one_does(self, store: Store) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: say(store, ANN, str(i)), range(24)))
        assert sorted(texts(store, ANN)) == sorted(map(str, range(24)))
        assert len(store.read(Read((ops.ListSessions(ANN),)))[0]) == 1


class SharedSuite(Suite):
    """Processes that open the same store, and the store after them."""

    @pytest.fixture
    def processes(self) -> Iterator[Executor]:
        """Fresh interpreters, as separate programs are."""
        with ProcessPoolExecutor(WRITERS + READERS, mp_context=multiprocessing.get_context("spawn")) as pool:
            yield pool

    def test_four_writers_and_four_readers_in_processes_lose_and_see_nothing_half(
        self, tmp_path: Path, processes: Executor
    ) -> None:
        folder = str(tmp_path)
        store = self.open_store(folder)
        start(store, ANN)
        writing = [processes.submit(_write_elsewhere, self.open_store, folder, w) for w in range(WRITERS)]
        reading = [processes.submit(_read_elsewhere, self.open_store, folder) for _ in range(READERS)]
        told = [job.result() for job in writing]
        assert sum(job.result() for job in reading) == 0
        _nothing_was_lost(store, told)
        store.close()

    def test_processes_that_find_no_store_make_one_together(self, tmp_path: Path, processes: Executor) -> None:
        folder = str(tmp_path)
        told = [job.result() for job in [
            processes.submit(_write_elsewhere, self.open_store, folder, w) for w in range(WRITERS)
        ]]  # fmt: skip
        store = self.open_store(folder)
        _nothing_was_lost(store, told)
        store.close()

    def test_what_another_process_erased_shows_in_the_epoch_of_the_same_snapshot(
        self, tmp_path: Path, processes: Executor
    ) -> None:
        store = self.open_store(str(tmp_path))
        ids = say(store, ANN, "secret", "not secret")
        _, epoch = counters(store, ANN)
        processes.submit(_erase_elsewhere, self.open_store, str(tmp_path), ids[:1]).result()
        user, rows = store.read(Read((ops.GetUser(ANN), ops.GetRows(ANN, (EVERYTHING,)))))
        assert user.epoch == epoch + 1
        assert [r.message.text for r in rows] == ["", "not secret"]
        store.close()

    def test_what_was_written_is_there_when_the_store_is_opened_again(self, tmp_path: Path) -> None:
        store = self.open_store(str(tmp_path))
        say(store, ANN, "remember", "this")
        before = (read_log(store, ANN), counters(store, ANN))
        store.close()
        again = self.open_store(str(tmp_path))
        assert (read_log(again, ANN), counters(again, ANN)) == before
        say(again, ANN, "and go on")
        assert texts(again, ANN) == ["remember", "this", "and go on"]
        again.close()
