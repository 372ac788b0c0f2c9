"""Where it is kept. `open` turns an address into a store; each kind of store is imported only when it is asked for."""

from __future__ import annotations

from keepline.errors import BadChoice
from keepline.ports.store import Store

KINDS = "sqlite:///path.db, sqlite:////absolute/path.db, sqlite://:memory:, or a path"


def open(address: str, *, busy_s: float = 30.0) -> Store:
    """The store at `address`, guarded; made, with its folders, if there is none.

    `address` is `sqlite:///relative.db`, `sqlite:////absolute.db`, a bare path, or `sqlite://:memory:` for one that lives
    as long as this object. `busy_s`: seconds that a call waits for another program's lock. Raises `BadChoice` for another
    kind, `NotAStore`, `NewerSchema`, `StoreReadOnly`, `StoreBusy`.
    """
    scheme, mark, rest = address.partition("://")
    if not mark:
        scheme, rest = "sqlite", address if address == ":memory:" else f"/{address}"
    if scheme != "sqlite" or not rest or (rest != ":memory:" and not rest.startswith("/")) or rest == "/":
        raise BadChoice(what="the store address", value=address, choices=KINDS)
    from keepline.stores.guard import Guard  # noqa: PLC0415  # SQLAlchemy takes longer to import than all of keepline
    from keepline.stores.sqlite import SqliteStore  # noqa: PLC0415

    return Guard(SqliteStore(rest.removeprefix("/"), busy_s=busy_s))
