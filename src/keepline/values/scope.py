"""Whose data it is. Knows nothing of how a store keys it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from keepline.errors import EmptySession, EmptyUser, ReservedUser

OURS = "\x1f"
"""What begins the names of keepline's own owners; `door` keeps it out of callers' hands."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """The owner and the conversation of a call.

    `tenant` and `user` own data and begin every store key; `session` names a conversation of that user; `agent` names
    the assistant that took part and is recorded, never an owner. Raises `EmptyUser` when `user` is empty or blank.
    """

    user: str
    tenant: str = "default"
    agent: str = ""
    session: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.user, str) or not self.user.strip() or not self.tenant:
            raise EmptyUser()

    @classmethod
    def door(cls, **names: Any) -> Scope:
        """The scope that a caller names. Raises `EmptyUser`; `ReservedUser` for a name that is keepline's own."""
        scope = cls(**names)
        if scope.user.startswith(OURS):
            raise ReservedUser()
        return scope

    @classmethod
    def ours(cls, what: str, *, tenant: str) -> Scope:
        """An owner of keepline's own beside the tenant's users, such as `collection/manuals`: its rows are as separate from
        theirs as theirs from each other."""
        return cls(user=OURS + what, tenant=tenant)

    @property
    def owner(self) -> tuple[str, str]:
        """(tenant, user): what begins every store key."""
        return self.tenant, self.user

    def at(self, session: str) -> Scope:
        """The same owner in another session."""
        return replace(self, session=session)

    def owned(self) -> Scope:
        """The owner alone, no session."""
        return replace(self, session=None)

    def need_session(self, verb: str) -> str:
        """The session's id; raises `EmptySession`, naming `verb`, if there is none."""
        if not self.session:
            raise EmptySession(verb=verb)
        return self.session
