"""`auto`: measured signals to a mode, with the reason.

In this order: a short history is sent whole; talk with few facts slides; recent questions that spread want everything that
can be recalled; else a summary.
"""

from __future__ import annotations

import numpy as np

from keepline.context.account import Choice
from keepline.context.draft import USER_CODE, Log, Plan
from keepline.ports.flow import Flow
from keepline.ports.store import CATEGORIES
from keepline.ports.view import Alike

RECENT_MESSAGES = 20
"""User messages that count as recent for the density of facts."""
RECENT_QUESTIONS = 6
"""User messages whose likeness is measured for the spread of questions."""
FACTS = (CATEGORIES.index("constraint"), CATEGORIES.index("fact"))


def choose(log: Log, plan: Plan, window: int) -> Flow[Choice]:
    """The mode for this log under a window of `window` tokens, with the signals it was chosen by."""
    outline = log.view.outline
    history = int(log.tokens[: log.current].sum())
    ratio = history / window
    signals = {"history_ratio": round(ratio, 4)}
    if ratio < plan.full_under:
        return Choice(mode="full", why=f"history is under {plan.full_under:g} of the window", signals=signals)
    users = np.flatnonzero((outline.role == USER_CODE) & ~log.view.answering & ~outline.erased)
    last = users[-RECENT_MESSAGES:]
    density = float(np.isin(outline.category[last], FACTS).mean()) if len(last) else 0.0
    signals["fact_density"] = round(density, 4)
    if density < plan.dense_under:
        why = f"facts in recent messages are under {plan.dense_under:g}"
        return Choice(mode="sliding", why=why, signals=signals)
    alike: float | None = yield Alike(log.view, tuple(int(s) for s in users[-RECENT_QUESTIONS:]))
    if alike is not None:
        signals["question_likeness"] = round(alike, 4)
    if alike is not None and alike < plan.spread_under:
        why = f"recent questions are less alike than {plan.spread_under:g}"
        return Choice(mode="hybrid", why=why, signals=signals)
    return Choice(mode="summary", why="facts are dense and recent questions stay with one thing", signals=signals)
