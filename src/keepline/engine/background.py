"""Settling what is behind, so that a build finds its views ready: in one daemon thread, or here and now. Losing it loses no
work: "behind the head" is the work list."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from keepline.errors import KeeplineError
from keepline.values.scope import Scope


class Background:
    """Calls `settle(scope)` for every scope that was touched, one at a time, in a daemon thread started when needed, and for
    what `behind()` says was left by others. What settling cannot do stays behind, is told in `error`, and is tried again at
    the next touch: it fails nobody's call."""

    def __init__(self, settle: Callable[[Scope], object], behind: Callable[[], Iterable[Scope]]) -> None:
        self._settle = settle
        self._behind = behind
        self._touched: dict[Scope, None] = {}
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.error: str | None = None

    def touch(self, scope: Scope) -> None:
        """The session of `scope` has something to settle."""
        with self._wake:
            if self._closed:
                return
            self._touched[scope] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="keepline-settle", daemon=True)
                self._thread.start()
            self._wake.notify()

    def now(self, scope: Scope) -> None:
        """Settle `scope` in this thread."""
        try:
            self._settle(scope)
            self.error = None
        except KeeplineError as error:
            self.error = str(error)

    def close(self) -> None:
        """Finish the scope at hand, leave the rest for the next start, join the thread."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        left: Iterable[Scope] = ()
        try:
            left = self._behind()
        except KeeplineError as error:
            self.error = str(error)
        with self._wake:
            self._touched |= {scope: None for scope in left if scope not in self._touched}
        while True:
            with self._wake:
                while not self._touched and not self._closed:
                    self._wake.wait()
                if self._closed:
                    return
                scope = next(iter(self._touched))
                del self._touched[scope]
            self.now(scope)
