"""What every verb of the engine rests on: its parts, and what happens after a verb is done.

Each group of verbs is a class over this one, in a module of its own; `Engine` is all of them.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from keepline.context.count import Meter
from keepline.engine.background import Background
from keepline.engine.books import Books
from keepline.engine.bound import Who, scope_of
from keepline.engine.desk import Desk
from keepline.engine.figures import writer_of
from keepline.engine.heads import Heads
from keepline.engine.summaries import Summaries
from keepline.memory import log as logbook
from keepline.ports.clock import Clock
from keepline.ports.encoder import Encoder
from keepline.ports.flow import Flow
from keepline.ports.model import Model
from keepline.ports.store import Expired, Read, Store
from keepline.ports.tokens import TokenCounter
from keepline.providers.tokenizers import counter as counter_for
from keepline.settings import Settings
from keepline.values.message import Message
from keepline.values.scope import Scope
from keepline.values.session import VIEWS

Messages = Mapping[str, Any] | Sequence[Mapping[str, Any]]
Progress = Callable[[int, int], None]
T = TypeVar("T")
PURGE_S = 1.0
"""How often, in seconds, sessions whose time is over are looked for at most."""


class Base:
    """The parts of an engine, and what its verbs share."""

    def __init__(
        self, store: Store, *, settings: Settings, encoder: Encoder | None, counter: TokenCounter, clock: Clock,
        model: Model | None = None,
    ) -> None:
        self.settings = settings
        self.store = store
        self._clock = clock
        self._counter = counter
        self._meters = {counter.name: Meter(counter)}
        self.desk = Desk(store, encoder, index_bytes=settings.index_mb << 20, model=model)
        self._summaries = Summaries(self.desk, writer_of(settings, counter, model), clock)
        self._scratch: Desk | None = None
        self._lock = threading.Lock()
        self._purged = -PURGE_S
        self._background = Background(self._catch_up, self.desk.behind)
        self._books = Books(store, settings.ledgers)
        self._heads = Heads()

    def _meter(self, model: str | None) -> Meter:
        """The meter of a model's vocabulary, kept so that lines are counted once."""
        counter = counter_for(model) if model else self._counter
        return self._meters.setdefault(counter.name, Meter(counter))

    def _syncing(self, scope: Scope, checked: tuple[Message, ...]) -> Flow[logbook.Synced]:
        return logbook.sync(scope, checked, self._counter, self._clock.now(), secrets.token_bytes)

    def _touched(self, scope: Scope, result: T) -> T:
        """The session has something to settle: now, in the background, or when asked."""
        if self.settings.settle == "inline":
            self._background.now(scope)
        elif self.settings.settle == "background":
            self._background.touch(scope)
        return result

    def _scope(self, who: Who) -> Scope:
        """The scope of a verb's arguments, once the sessions whose time is over are gone."""
        self._purge()
        return scope_of(who)

    def _purge(self) -> None:
        """Erase the sessions whose time is over; looked for at most once a second."""
        now = time.monotonic()
        if now < self._purged + PURGE_S:
            return
        self._purged = now
        (gone,) = self.store.read(Read((Expired(self._clock.now()),)))
        for scope in gone:
            self.desk.run(partial(logbook.erase, scope, None))
            self.desk.drop(scope)
            self._heads.drop(scope)

    def _settle(self, scope: Scope) -> dict[str, int]:
        return {view: self.desk.settle(scope, view) for view in VIEWS}

    def _catch_up(self, scope: Scope) -> None:
        self._settle(scope)
        self._summaries.settle(scope)
        self._books.flush()
