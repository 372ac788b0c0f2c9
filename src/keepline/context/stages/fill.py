"""Spare room is filled: first with pins that went beyond their share, then with sentences of the user that may be standing
rules or lasting facts, the surest first, then with what else was recalled.

Finding rules without a model is never sure; a sentence below the certainty of a pin costs a line, and leaving a rule out costs
the user's trust.
"""

from __future__ import annotations

from keepline.context.draft import Draft, Priced
from keepline.context.render import folded
from keepline.context.stages.pin import STAMP_TOKENS, restate
from keepline.context.stages.recall import entry, used
from keepline.ports.flow import Flow
from keepline.values.context import Fate


def fill(draft: Draft) -> Flow[Draft]:
    """Put pins and candidates in `draft.filled` and more pieces in `draft.pieces`, as far as the soft limit goes."""
    yield from ()
    left = draft.room.aim - used(draft) - sum(p.tokens for p in draft.pieces)
    filled: list[Priced] = []
    days = {p.day for p in draft.pins}
    recalled = {p.hit.seq for p in draft.pieces}
    for p in (*restate(draft, draft.window)[1], *draft.candidates):
        cost = p.tokens + (0 if p.day in days else STAMP_TOKENS)
        if p.pin.seq >= draft.window or p.pin.seq in recalled or cost > left:
            continue
        days.add(p.day)
        left -= cost
        filled.append(p)
    pieces = list(draft.pieces)
    entries = [entry(p, Fate.KEPT, "recalled") for p in pieces]
    said = {p.key for p in (*draft.restated, *filled)}
    for piece in draft.spare:
        if folded(piece.text) in said:
            entries.append(entry(piece, Fate.LEFT_OUT, "said already"))
            continue
        fits = piece.tokens <= left
        if fits:
            left -= piece.tokens
            pieces.append(piece)
        entries.append(entry(piece, *((Fate.KEPT, "recalled") if fits else (Fate.LEFT_OUT, "beyond the share of recall"))))
    entries += [p.entry for p in filled if not p.pin.stands]
    return draft.evolve(filled=tuple(filled), pieces=tuple(pieces), spare=(), entries=draft.noted(*entries))


def without_last(draft: Draft, over: int) -> Draft:
    """The draft without its last filled lines, as many as free `over` tokens."""
    gone: list[Priced] = []
    kept = list(draft.filled)
    while kept and sum(p.tokens for p in gone) < over:
        gone.append(kept.pop())
    dropped = {id(p.entry) for p in gone}
    return draft.evolve(filled=tuple(kept), entries=tuple(e for e in draft.entries if id(e) not in dropped))
