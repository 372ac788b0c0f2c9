"""Stale tool results give way before any turn does: cut to their beginning and end, or to why they failed, with the way back.

Which ones are stale depends on the log and the budget only and moves in jumps, as the window does, so that consecutive calls
share their prefix. The newest rounds, and whatever a person said, are never touched.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keepline.context.draft import Draft, Log
from keepline.context.turns import must_send, rounds
from keepline.ports.flow import Flow

CLEAR_FROM = 160
"""Tokens of a result that is worth clearing."""
CLEARED = 100
"""Tokens of a cleared result: beginning, end, and the marker between."""


def clear(draft: Draft) -> Flow[Draft]:
    """Price the stale results of `draft.log` as cleared, and name them in `draft.cleared`."""
    yield from ()
    log = draft.log
    stale = log.answering & log.live & (log.tokens > CLEAR_FROM)
    if not stale.any():
        return draft
    stale[_boundary(log, draft.room.recent * (1 - draft.plan.evict_to)) :] = False
    stale[list(must_send(log))] = False
    if not stale.any():
        return draft
    priced = np.where(stale, CLEARED, log.tokens)
    return draft.evolve(log=replace(log, tokens=priced), cleared=frozenset(int(i) for i in np.flatnonzero(stale)))


def _boundary(log: Log, step: float) -> int:
    """The index before which results are stale: the start of a turn or round, between half a step and a step of tokens before the
    newest one; it stands still while the log grows by half a step."""
    starts = np.concatenate([log.starts, np.array([group[0] for group in rounds(log)[1]], dtype=np.int64)])
    if not len(starts):
        return 0
    half = max(1, int(step / 2))
    before = np.concatenate([[0], np.cumsum(log.whole)])
    least = (int(before[starts[-1]]) // half - 1) * half
    at = int(np.searchsorted(before[starts], least, side="right"))
    return int(starts[at - 1]) if at else 0
