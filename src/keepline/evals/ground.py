"""The engine that an eval measures: the one a user has, over a store of its own that leaves no trace.

Knows how an engine is put together, so that a stand-in clock or encoder can take a part's place; measures nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keepline.engine import Engine
from keepline.ports.clock import Clock
from keepline.ports.encoder import Encoder
from keepline.ports.model import Model
from keepline.ports.tokens import TokenCounter
from keepline.providers.clock import SystemClock
from keepline.providers.encoders import encoder as packaged
from keepline.providers.tokenizers import counter
from keepline.settings import load
from keepline.stores import open as open_store

MEMORY = "sqlite://:memory:"


def fresh(
    *, store: str | Path = MEMORY, clock: Clock | None = None, encoder: Encoder | str | None = "",
    model: Model | None = None, **settings: Any,
) -> Engine:
    """An engine over `store` (default: memory), its other parts as `keepline.open` would make them but for `clock`, `encoder`
    (an encoder, None for none, "" for the one of the settings) and `model` (None: none, whatever the settings say). Views settle
    when asked unless `settings` say otherwise."""
    chosen = load(store=str(store), **{"settle": "manual", **settings})
    return Engine(
        open_store(chosen.address, busy_s=chosen.busy_s), settings=chosen,
        encoder=packaged(encoder or chosen.encoder) if isinstance(encoder, str) else encoder,
        counter=counter(chosen.vocabulary), clock=clock or SystemClock(), model=model,
    )


def words() -> TokenCounter:
    """The counter in which budgets of scenarios are reckoned."""
    return counter("o200k_base")


class Moment:
    """A clock that shows the real time until it is set, and from then on what it was set to and the time since."""

    def __init__(self) -> None:
        self._shift = timedelta()

    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.now(UTC) + self._shift

    def set(self, at: datetime) -> None:
        """Show `at` now (with its zone)."""
        self._shift = at.astimezone(UTC) - datetime.now(UTC)
