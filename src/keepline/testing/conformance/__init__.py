"""What every store promises, as tests that every adapter runs.

    class TestMyStore(StoreSuite):
        @staticmethod
        def open_store(folder: str) -> Store:
            return MyStore(folder)

`open_store` opens the one store of an empty folder; on a store that outlives its object, a second call opens the same one.
A store whose `capability` says `persistent` and `processes` also runs `SharedSuite`. Each suite is a pytest class of its own,
by what it promises; the tests use nothing but the `Store` protocol.
"""

from keepline.testing.conformance.base import Suite
from keepline.testing.conformance.derived import DerivedSuite
from keepline.testing.conformance.erasure import ErasureSuite
from keepline.testing.conformance.isolation import IsolationSuite
from keepline.testing.conformance.log import LogSuite
from keepline.testing.conformance.shared import SharedSuite, ThreadSuite
from keepline.testing.conformance.views import ViewSuite
from keepline.testing.conformance.writing import WriteSuite


class StoreSuite(IsolationSuite, LogSuite, WriteSuite, ViewSuite, DerivedSuite, ErasureSuite, ThreadSuite):
    """All that any store promises."""


__all__ = [
    "DerivedSuite",
    "ErasureSuite",
    "IsolationSuite",
    "LogSuite",
    "SharedSuite",
    "StoreSuite",
    "Suite",
    "ThreadSuite",
    "ViewSuite",
    "WriteSuite",
]
