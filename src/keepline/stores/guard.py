"""Wraps any store: no scope, no answer; and every row that comes back is checked to belong to the asker.

A backend answers each operation with the owners of the rows it used, taken from the rows themselves (`Owned`), never from
the question. The guard compares them with the scope that asked and withholds what does not match. It knows no SQL.
"""

from __future__ import annotations

from typing import Any, Protocol

from keepline.errors import EmptyUser, ForeignRow, ScopeError
from keepline.ports.store import Behind, Capability, Expired, Read, Write
from keepline.stores.steps import Owned
from keepline.values.scope import Scope


class Backend(Protocol):
    """What the guard wraps: a `Store` whose answers carry their owners."""

    capability: Capability

    def read(self, need: Read) -> tuple[Owned, ...]: ...

    def write(self, need: Write) -> int: ...

    def close(self) -> None: ...


class Guard:
    """A `Store` over a `Backend`."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.capability = backend.capability

    def read(self, need: Read) -> tuple[Any, ...]:
        """One snapshot; raises `EmptyUser` for an operation without a scope, `ForeignRow` for a foreign row."""
        scopes = [None if isinstance(op, Behind | Expired) else _scope(op.scope) for op in need.ops]
        answers = self.backend.read(need)
        for scope, answer in zip(scopes, answers, strict=True):
            if scope is not None and not answer.owners <= {scope.owner}:
                raise ForeignRow()
        return tuple(answer.value for answer in answers)

    def write(self, need: Write) -> int:
        """One transaction; raises `EmptyUser` without a scope, `ScopeError` when not all parts are of one owner."""
        owners = {_scope(part.scope).owner for part in (*need.ops, *need.expects)}
        if len(owners) > 1:
            raise ScopeError()
        return self.backend.write(need)

    def close(self) -> None:
        self.backend.close()


def _scope(scope: object) -> Scope:
    if not isinstance(scope, Scope) or not scope.user.strip() or not scope.tenant:
        raise EmptyUser()
    return scope
