"""The order of what is sent, and its exact count.

First the instructions, byte for byte; then the summary, which stands still between jumps of the window; then the window of
recent turns, verbatim; then one message of ours, role user, directly before the question and never inside a tool loop; then
the question and what follows it. Nothing that changes from call to call stands before what need not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepline.context.draft import Draft, Laid
from keepline.context.render import block, summary_block
from keepline.context.turns import must_send, repair
from keepline.values.context import Section
from keepline.values.message import Message

OURS = -1
"""The index of our own message among those of the log."""
OUR_SUMMARY = -2
"""The index of the summary's message."""


def lay_out(draft: Draft) -> Laid:
    """The messages of `draft`, in order and counted. Needs `draft.texts` of all that is sent."""
    log, call = draft.log, draft.call
    first = draft.window if draft.window < log.current else log.current
    sent = {i for i in range(first, log.current) if log.live[i]} | set(must_send(draft.log)) | set(draft.rounds)
    lead = _leading(draft)
    place = [i for i in log.system if i < first or i in lead] + sorted((sent | {i for i in log.system if i >= first}) - lead)
    mended, touched = repair([(i, draft.cuts.get(i) or draft.texts[i]) for i in place])
    ours = block(draft) if draft.restated or draft.pieces or draft.filled or draft.exact else None
    rows: list[tuple[int, Section, Mapping[str, Any], int]] = []
    summary = summary_block(draft) if draft.summary else None
    for i, message in mended:
        if summary is not None and i not in log.system:
            rows.append((OUR_SUMMARY, Section.SUMMARY, {"role": "user", "content": summary}, draft.meter.ours(summary)))
            summary = None
        if i >= log.current and ours is not None and i not in log.system:
            rows.append((OURS, Section.FRAME, {"role": "user", "content": ours}, draft.meter.ours(ours)))
            ours = None
        section = Section.SYSTEM if i in log.system else Section.RECENT if i < log.current else Section.PENDING
        rows.append((i, section, message.body, _cost(draft, i, message)))
    fixed = draft.meter.counter.call(call.tools, call.response_format)
    return Laid(
        bodies=tuple(r[2] for r in rows),
        sections=tuple(r[1] for r in rows),
        indices=tuple(r[0] for r in rows),
        costs=tuple(r[3] for r in rows),
        tokens=fixed + sum(r[3] for r in rows),
        repaired=tuple(touched),
    )


def _leading(draft: Draft) -> set[int]:
    """The instructions that the call begins with: they are sent first, though the log comes before the call."""
    own = draft.log.own
    count = next((k for k, m in enumerate(own) if not m.role.instructs), len(own))
    return set(range(len(draft.log.view), len(draft.log.view) + count))


def _cost(draft: Draft, i: int, message: Message) -> int:
    """The stored count, unless the message is no longer the one that was counted."""
    return int(draft.log.whole[i]) if message is draft.texts[i] else draft.meter.message(message.body)
