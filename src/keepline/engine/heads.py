"""What each session's last call sent, as digests, so that the next one can say how much a provider's prefix cache can serve.

In this process only: a cache of minutes needs no store.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from keepline.context.prefix import Head, digest_of, head_of, prefix
from keepline.values.context import Context
from keepline.values.scope import Scope

MOST = 1_000
"""Sessions that are remembered; the least recently built goes first."""
REMEMBERED = 10_000
"""Digests of messages that are remembered, then all are forgotten at once."""


class Heads:
    """The last head of each session. Thread-safe."""

    def __init__(self) -> None:
        self._last: OrderedDict[tuple[tuple[str, str], str | None], Head] = OrderedDict()
        self._lock = threading.Lock()
        self._digests: dict[int, tuple[Mapping[str, Any], bytes]] = {}

    def compared(self, scope: Scope, context: Context, fixed: Any) -> Context:
        """The context, its ledger saying what it shares with the session's last one; `fixed` are tools and format."""
        place, now = (scope.owner, scope.session), head_of(context, fixed, self._digest)
        with self._lock:
            last = self._last.pop(place, None)
            self._last[place] = now
            if len(self._last) > MOST:
                self._last.popitem(last=False)
        if last is None:
            return context
        return replace(context, ledger=replace(context.ledger, prefix=prefix(last, now)))

    def drop(self, scope: Scope) -> None:
        """Forget the owner's heads."""
        with self._lock:
            for place in [p for p in self._last if p[0] == scope.owner]:
                del self._last[place]
            self._digests.clear()

    def _digest(self, message: Mapping[str, Any]) -> bytes:
        """The digest, remembered as long as the very same object is sent: the recent turns are, call after call."""
        known = self._digests.get(id(message))
        if known is None or known[0] is not message:
            if len(self._digests) >= REMEMBERED:
                self._digests.clear()
            known = self._digests[id(message)] = message, digest_of(message)
        return known[1]
