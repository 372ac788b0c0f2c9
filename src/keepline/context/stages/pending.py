"""What of this call must be sent: the question, and the last round of a tool loop; one oversize message is cut.

Pins keep their room: a pasted log must not push a standing rule out.
"""

from __future__ import annotations

from dataclasses import replace

from keepline.context.allot import too_small
from keepline.context.draft import Draft
from keepline.context.shorten import shorten
from keepline.context.stages.pin import restate
from keepline.context.stages.recent import frame_tokens
from keepline.context.turns import must_send
from keepline.errors import Oversize
from keepline.ports.flow import Flow
from keepline.ports.view import Words
from keepline.values.context import Entry, Fate, Section
from keepline.values.message import Message

CUTS = 4
"""How many messages of one call may be cut before the budget is called too small."""


def pending(draft: Draft) -> Flow[Draft]:
    """Cut the biggest pending message until what must be sent fits beside the pins.

    Raises `Oversize` when the call forbids cutting, `BudgetTooSmall` when even cut it cannot be.
    """
    log, room = draft.log, draft.room
    if room.base <= room.limit and not _crowds_pins(draft):
        return draft
    must = must_send(log)
    fixed = room.base - int(log.tokens[list(must)].sum())
    if fixed >= room.limit:
        raise too_small(room.limit, {"system text, tools and overhead": fixed, "pending message": room.base - fixed})
    pins = min(restate(draft, log.current)[2] + frame_tokens(draft), (room.limit - fixed) // 2)
    costs = {i: int(log.tokens[i]) for i in must}
    cuts: dict[int, Message] = {}
    entries: list[Entry] = []
    for _ in range(CUTS):
        over = fixed + sum(costs.values()) - (room.limit - pins)
        if over <= 0:
            break
        biggest = max((i for i in costs if i not in cuts), key=lambda i: costs[i], default=None)
        if biggest is None:
            break
        if draft.call.oversize == "error" and room.base > room.limit:
            raise Oversize(id=log.id(biggest), tokens=costs[biggest], room=max(0, costs[biggest] - over))
        cut = shorten((yield from _message(draft, biggest)), costs[biggest] - over, draft.meter, draft.language)
        if cut is None:
            break
        cuts[biggest], costs[biggest] = cut, draft.meter.message(cut.body)
        entries.append(
            Entry(section=Section.PENDING, fate=Fate.SHORTENED, rule="oversize", ids=(log.id(biggest),), seqs=(biggest,),
                  tokens=costs[biggest], back=log.back(biggest))
        )
    base = fixed + sum(costs.values())
    if base > room.limit:
        raise too_small(room.limit, {"system text, tools and overhead": fixed, "pending message": base - fixed})
    return draft.evolve(cuts={**draft.cuts, **cuts}, room=replace(room, base=base), entries=draft.noted(*entries))


def _crowds_pins(draft: Draft) -> bool:
    """Whether the pins would lose their room to a pending message of more than half the budget."""
    if draft.call.oversize == "error":
        return False
    needed = restate(draft, draft.log.current)[2] + frame_tokens(draft)
    return draft.room.base > draft.room.limit // 2 and draft.room.base + needed > draft.room.limit


def _message(draft: Draft, index: int) -> Flow[Message]:
    n = len(draft.log.view)
    if index >= n:
        return draft.log.own[index - n]
    words: dict[int, Message] = yield Words(draft.log.view, (index,))
    return words[index]
