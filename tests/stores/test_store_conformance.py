"""SQLite, in a file and in memory, keeps every promise of the conformance suite."""

import pytest

from keepline import stores
from keepline.ports.store import Store
from keepline.testing.conformance import (
    DerivedSuite,
    ErasureSuite,
    IsolationSuite,
    LogSuite,
    SharedSuite,
    ThreadSuite,
    ViewSuite,
    WriteSuite,
)


class InFile:
    @staticmethod
    def open_store(folder: str) -> Store:
        return stores.open(f"sqlite:///{folder}/keepline.db")


class InMemory:
    @staticmethod
    def open_store(folder: str) -> Store:
        return stores.open("sqlite://:memory:")


@pytest.mark.req("STORE-01")
class TestIsolationInAFile(InFile, IsolationSuite):
    pass


@pytest.mark.req("STORE-01")
class TestIsolationInMemory(InMemory, IsolationSuite):
    pass


@pytest.mark.req("STORE-02")
class TestLogInAFile(InFile, LogSuite):
    pass


@pytest.mark.req("STORE-02")
class TestLogInMemory(InMemory, LogSuite):
    pass


@pytest.mark.req("STORE-03")
class TestWritesInAFile(InFile, WriteSuite):
    pass


@pytest.mark.req("STORE-03")
class TestWritesInMemory(InMemory, WriteSuite):
    pass


@pytest.mark.req("STORE-04")
class TestViewsInAFile(InFile, ViewSuite):
    pass


@pytest.mark.req("STORE-04")
class TestViewsInMemory(InMemory, ViewSuite):
    pass


@pytest.mark.req("STORE-20")
class TestDerivedInAFile(InFile, DerivedSuite):
    pass


@pytest.mark.req("STORE-20")
class TestDerivedInMemory(InMemory, DerivedSuite):
    pass


@pytest.mark.req("STORE-05")
class TestErasureInAFile(InFile, ErasureSuite):
    pass


@pytest.mark.req("STORE-05")
class TestErasureInMemory(InMemory, ErasureSuite):
    pass


@pytest.mark.req("STORE-06")
class TestThreadsInAFile(InFile, ThreadSuite):
    pass


@pytest.mark.req("STORE-06")
class TestThreadsInMemory(InMemory, ThreadSuite):
    pass


@pytest.mark.req("STORE-06")
class TestProcesses(InFile, SharedSuite):
    pass
