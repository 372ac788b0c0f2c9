"""The verbs of keepline, all of them. Scope is an argument of every verb, or bound once:
`engine.user("u1").session("s1").append(…)`.

Knows no SQL, no HTTP and no ranking: verbs hand flows to the desk.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from keepline.engine.bound import Bound
from keepline.engine.building import Building
from keepline.engine.living import Living
from keepline.engine.reading import Reading
from keepline.engine.writing import Writing
from keepline.stores import open as open_store


class Engine(Writing, Building, Reading, Living):
    """Context and memory over one store.

    `encoder` None means keyword recall only, `model` None that no model is ever asked. `counter` is the vocabulary messages are
    counted in at append. Made by `keepline.open`; closes its store. Thread-safe.
    """

    _private: Engine | None = None

    def user(self, user: str, *, tenant: str = "default", agent: str = "") -> Bound:
        """The same verbs with the user bound."""
        return Bound(self, {"user": user, "tenant": tenant, "agent": agent})

    @property
    def private(self) -> Engine:
        """An engine of the same parts over a store in memory, for sessions that leave no trace. Closed with this one."""
        with self._lock:
            if self._private is None:
                self._private = Engine(
                    open_store("sqlite://:memory:"), settings=self.settings, encoder=self.desk.encoder, counter=self._counter,
                    clock=self._clock, model=self.desk.model,
                )  # fmt: skip
            return self._private

    def close(self) -> None:
        """Join the settling thread and close the store. Unsettled work stays pending and is done at the next start."""
        self._background.close()
        self._books.flush()
        if self._private is not None:
            self._private.close()
        if self._scratch is not None:
            self._scratch.store.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
