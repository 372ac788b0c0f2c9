"""The asynchronous twin: the same verbs, awaitable; the same flows, driven beside the event loop.

SQLite, the encoder and a flow's own work run in threads, so the loop is never held.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Self

from keepline.engine.bound import Bound
from keepline.engine.engine import Engine


class AsyncEngine:
    """`AsyncEngine(keepline.open(…))`: every verb of `Engine`, awaitable, with the same arguments, results and errors."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._engine, verb)
        if verb.startswith("_") or not callable(method):
            raise AttributeError(verb)
        job = getattr(self._engine, f"{verb}_job", None)
        return partial(_run, job) if job else partial(asyncio.to_thread, method)

    @property
    def private(self) -> AsyncEngine:
        """The same of `Engine.private`."""
        return AsyncEngine(self._engine.private)

    def user(self, user: str, *, tenant: str = "default", agent: str = "") -> Bound:
        """The same verbs with the user bound."""
        return Bound(self, {"user": user, "tenant": tenant, "agent": agent})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._engine.close)


async def _run(make: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Make the job in a thread (it checks and copies what was given), then run it."""
    job = await asyncio.to_thread(partial(make, *args, **named))
    return await job.ado()
