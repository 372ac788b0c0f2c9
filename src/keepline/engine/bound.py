"""Scope as an argument, or bound once."""

from __future__ import annotations

from functools import partial
from inspect import isawaitable
from typing import Any, Required, TypedDict

from keepline.errors import BadChoice
from keepline.values.scope import Scope

GROWING = ("append", "sync")
"""Verbs that put the end of a session off that is kept for a time."""


class Who(TypedDict, total=False):
    """Whose data and which conversation: `user` always, `session` where a verb needs one."""

    user: Required[str]
    session: str | None
    tenant: str
    agent: str


def scope_of(who: Who) -> Scope:
    """The scope of a call's arguments; raises `EmptyUser` without a user, `ReservedUser` for a name that is keepline's own."""
    return Scope.door(
        user=who.get("user", ""), tenant=who.get("tenant", "default"), agent=who.get("agent", ""), session=who.get("session")
    )


class Bound:
    """An engine's verbs with the scope filled in: `engine.user("u1").session("s1").append(…)`."""

    def __init__(self, engine: Any, who: Who, *, ttl: float | None = None) -> None:
        self._engine = engine
        self._who = who
        self._ttl = ttl
        scope_of(who)

    def session(self, session: str, *, persist: str | float = "log") -> Bound:
        """The same with the session bound too. `persist` is how long it is kept: "log" for good; a number of seconds after its
        last message; "none": in memory only, nothing of it on any disk, gone with the engine. Raises `BadChoice`."""
        who = self._who.copy()
        who["session"] = session
        if persist == "log":
            return Bound(self._engine, who)
        if persist == "none":
            return Bound(self._engine.private, who)
        if isinstance(persist, str) or not persist > 0:
            raise BadChoice(what="persist", value=persist, choices="log, none, or seconds above 0")
        return Bound(self._engine, who, ttl=float(persist))

    def __getattr__(self, verb: str) -> Any:
        method = getattr(self._engine, verb)
        if verb.startswith("_") or not callable(method):
            raise AttributeError(verb)
        bound = partial(method, **self._who)
        return self._renewing(bound) if self._ttl is not None and verb in GROWING else bound

    def _renewing(self, grow: Any) -> Any:
        """`grow`, and the session's time begins again."""

        def renew() -> Any:
            return self._engine.expire(self._ttl, **self._who)

        async def awaited(result: Any) -> Any:
            found = await result
            await renew()
            return found

        def both(*args: Any, **named: Any) -> Any:
            result = grow(*args, **named)
            if isawaitable(result):
                return awaited(result)
            renew()
            return result

        return both
