"""The budget shared among the sections, and the error when it cannot be. Figures in, figures out.

The order of claims (DESIGN: "Building a context"): reserve and margin are already off `limit`; then system text, tools and
overhead; then the pending message; then pins; then, by shares, recent turns and recall, unused share flowing on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from keepline.context.draft import Plan, Room
from keepline.errors import BudgetTooSmall
from keepline.values.budget import Budget

PENDING_SHARE = 0.1
"""Of what is left after fixed text and pins, kept for the pending message when the window of recent turns is sized: its
size must not depend on the question, or the window would move at every call."""
SUMMARY_MOST = 6_000
"""Tokens of a summary, however large the window: what is said at greater length is better recalled than told."""


def allot(
    budget: Budget, plan: Plan, *, fixed: int, pending: int, recent_share: float = 1.0, summary_share: float = 0.0
) -> Room:
    """The room of one build, in tokens. `fixed` is tools, overhead and system text; `pending` what of this call must be
    sent; `recent_share` the mode's share of recent turns in what pins and summary leave (0..1), `summary_share` of the soft
    limit what the summary may take.

    The soft limit is `soft_share` of the window but never under `soft_floor`: a small window is used whole.
    """
    limit = budget.limit
    soft = max(int(budget.window * plan.soft_share), plan.soft_floor)
    aim = min(limit, soft)
    summary = min(int(max(0, aim - fixed) * summary_share), SUMMARY_MOST)
    return Room(
        limit=limit,
        base=fixed + pending,
        aim=min(limit, max(soft, fixed + pending)),
        pins=int(limit * plan.pins_share),
        pins_certain=int(limit * plan.pins_certain_share),
        recent=int(max(0, aim - summary - fixed) * (1 - PENDING_SHARE) * recent_share),
        recent_share=recent_share,
        summary=summary,
    )


def beside_pins(room: Room, pins: int) -> Room:
    """The room with what `pins` tokens of standing pins take off the window of recent turns, rounded up to a sixteenth of
    the limit: a new rule now and then must not move the window."""
    step = max(1, room.limit // 16)
    held = min(step * -(-pins // step), room.pins_certain)
    return replace(room, recent=max(0, int(room.recent - held * room.recent_share)))


def too_small(limit: int, claims: Mapping[str, int]) -> BudgetTooSmall:
    """The error for claims that must be met and cannot; it itemises the sum."""
    items = " + ".join(f"{name} {tokens}" for name, tokens in claims.items() if tokens)
    return BudgetTooSmall(needed=sum(claims.values()), limit=limit, items=items, claims=dict(claims))
