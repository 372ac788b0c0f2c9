"""Scope as an argument, or bound once."""

from __future__ import annotations

from functools import partial
from typing import Any, Required, TypedDict

from keepline.values.scope import Scope


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

    def __init__(self, engine: Any, who: Who) -> None:
        self._engine = engine
        self._who = who
        scope_of(who)

    def session(self, session: str) -> Bound:
        """The same with the session bound too."""
        who = self._who.copy()
        who["session"] = session
        return Bound(self._engine, who)

    def __getattr__(self, verb: str) -> Any:
        method = getattr(self._engine, verb)
        if verb.startswith("_") or not callable(method):
            raise AttributeError(verb)
        return partial(method, **self._who)
