"""Ledgers on their way to the store: kept back until the next settling, so that a build waits for no disk.

Knows no context and no budget. An account that cannot be kept fails nobody's build; `trouble` tells of it.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import replace

from keepline.errors import Moved, StoreError
from keepline.ports.store import PutLedger, Store, Write
from keepline.values.context import Context, Ledger
from keepline.values.scope import Scope


class Books:
    """The ledgers of one store's builds, of which each owner keeps the newest `keep`. Thread-safe."""

    def __init__(self, store: Store, keep: int) -> None:
        self._store = store
        self._keep = keep
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: list[tuple[Scope, Ledger]] = []
        self.trouble: str | None = None

    def add(self, scope: Scope, ledger: Ledger) -> None:
        """Keep `ledger` at the next `flush`."""
        with self._lock:
            self._waiting.append((scope, ledger))

    def drop(self, owner: tuple[str, str]) -> None:
        """The owner was erased: what waits of him is not kept."""
        with self._lock:
            self._waiting = [(scope, ledger) for scope, ledger in self._waiting if scope.owner != owner]

    def flush(self) -> None:
        """Write what waits; when this returns, what another thread was writing is written too."""
        with self._writing:
            with self._lock:
                waiting, self._waiting = self._waiting, []
            for scope, ledger in waiting:
                self._write(scope, ledger)

    def _write(self, scope: Scope, ledger: Ledger) -> None:
        try:
            self._store.write(Write((PutLedger(scope, ledger, self._keep),)))
            self.trouble = None
        except Moved:  # an owner who has nothing here, or was erased meanwhile, keeps no ledgers either
            return
        except StoreError as error:  # a full or read-only disk: the context was good, its account is not kept
            self.trouble = f"the ledger of a build was not kept: {error}"


def signed(context: Context, degraded: str | None) -> Context:
    """The context, its ledger under an id that no build of the same microsecond has, saying what did not work (None: all
    did)."""
    ledger = replace(context.ledger, id=f"{context.ledger.id}-{secrets.token_hex(2)}")
    if degraded:
        ledger = replace(ledger, degraded=True, notes=(*ledger.notes, degraded))
    return replace(context, ledger=ledger)
