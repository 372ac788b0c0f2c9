"""The newest whole turns, verbatim: first the rounds of the current turn, then a window of turns that moves in jumps.

The window's first turn depends on the log and the budget only, never on the question, so that consecutive calls share
their prefix: it moves when the window is full, and then by (1 − `evict_to`) of it.
"""

from __future__ import annotations

import numpy as np

from keepline.context.allot import beside_pins
from keepline.context.draft import SYSTEM_CODES, Draft, Log
from keepline.context.shorten import shorten
from keepline.context.stages.pin import likely, restate
from keepline.context.turns import rounds
from keepline.ports.flow import Flow
from keepline.ports.view import Words

SUMMARY_FRAME = 70
"""What the head and the fences of the summary are priced at before they are counted."""
WORTH_SHORTENING = 200
"""Fewer tokens than this of a cut turn tell a reader nothing."""


def recent(draft: Draft) -> Flow[Draft]:
    """Choose `draft.rounds` and `draft.window`; a newest turn too big for any window is cut in the middle instead."""
    log = draft.log
    room = beside_pins(draft.room, restate(draft, log.current)[2] + likely(draft))
    draft = _rounds(draft.evolve(room=room))
    spent = room.base + int(log.tokens[list(draft.rounds)].sum())
    if draft.window < log.current:  # some rounds of the current turn did not fit: nothing older does
        return draft.evolve(window=log.current)
    starts = log.starts[log.starts < log.current]
    before = np.concatenate([[0], np.cumsum(_sendable(log))])
    window = jump(before, starts, log.current, room.recent, draft.plan.evict_to)
    window = _most_messages(draft, starts, window)
    ceiling = room.limit if draft.mode == "full" else room.aim
    later = starts[np.searchsorted(starts, window) :]
    for window in (*later.tolist(), log.current):
        ours = restate(draft, window)[2] + frame_tokens(draft) + draft.room.summary
        if spent + ours + int(before[log.current] - before[window]) <= ceiling:
            break
    draft = draft.evolve(window=window)
    if window == log.current and len(starts) and draft.call.budget.max_messages is None:
        return (yield from _cut_newest(draft, int(starts[-1]), ceiling - spent - restate(draft, int(starts[-1]))[2]))
    return draft


def jump(before: np.ndarray, starts: np.ndarray, end: int, cap: int, evict_to: float) -> int:
    """The index where the window of recent turns begins. `before[i]` are the tokens before index i, `starts` the first
    indices of turns, `end` where the current turn begins, `cap` the most tokens of the window.

    The start is the first turn beyond a multiple of (1 − evict_to) × cap tokens from the root, so it stands still while the
    log grows by that much, and the window holds between evict_to × cap and cap.
    """
    over = int(before[end]) - cap
    if over <= 0:
        return int(starts[0]) if len(starts) else end
    step = max(1, int((1 - evict_to) * cap))
    least = step * -(-over // step)
    at = int(np.searchsorted(before[starts], least, side="left"))
    return int(starts[at]) if at < len(starts) else end


def summary_tokens(draft: Draft) -> int:
    """What the summary's message is priced at before it is counted."""
    return sum(k.tokens for k in draft.summary) + SUMMARY_FRAME if draft.summary else 0


def frame_tokens(draft: Draft) -> int:
    """What the head, the fences and the section titles of our own message are priced at before they are counted."""
    return 100 if draft.pins or draft.candidates or draft.pieces else 0


def _sendable(log: Log) -> np.ndarray:
    tokens = log.tokens[: log.current].copy()
    tokens[np.isin(log.role[: log.current], SYSTEM_CODES)] = 0
    return tokens


def _rounds(draft: Draft) -> Draft:
    """All rounds of the current turn if they fit, else its head, its last round and the newest others that fit."""
    log = draft.log
    _, groups = rounds(log)
    room = draft.room.limit - draft.room.base - restate(draft, log.current)[2] - frame_tokens(draft)
    kept: list[int] = []
    whole = True
    for group in reversed(groups[:-1]):
        cost = int(log.tokens[list(group)].sum())
        if cost > room:
            whole = False
            break
        room -= cost
        kept = [*group, *kept]
    return draft.evolve(rounds=tuple(kept), window=log.current if whole else log.current - 1)


def _most_messages(draft: Draft, starts: np.ndarray, window: int) -> int:
    most = draft.call.budget.max_messages
    if most is None:
        return window
    log = draft.log
    talk = log.live & ~np.isin(log.role, SYSTEM_CODES)
    return next((int(s) for s in starts if s >= window and int(talk[s:].sum()) <= most), log.current)


def _cut_newest(draft: Draft, start: int, room: int) -> Flow[Draft]:
    """The newest turn before the current one, its biggest message cut, when it alone is too big for the window."""
    log = draft.log
    members = [i for i in range(start, log.current) if log.live[i] and log.role[i] not in SYSTEM_CODES]
    room = min(room - frame_tokens(draft), max(draft.room.recent, WORTH_SHORTENING))
    biggest = max(members, key=lambda i: int(log.tokens[i]), default=None)
    if biggest is None:
        return draft
    rest = int(log.tokens[members].sum() - log.tokens[biggest])
    if room - rest < WORTH_SHORTENING or biggest >= len(log.view):
        return draft
    words = yield Words(log.view, (biggest,))
    cut = shorten(words[biggest], room - rest, draft.meter, draft.language)
    return draft if cut is None else draft.evolve(window=start, cuts={**draft.cuts, biggest: cut})
