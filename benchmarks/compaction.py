"""keepline as a compactor of the public `compaction-conformance-kit`, for the kit's own command line, unchanged:

    pip install "keepline[bench]"
    compaction-kit benchmark --spec benchmarks/compaction.py:Keepline --budgets 10%,20%,30%

What the kit hands on from round to round is the compacted text alone. keepline needs no text handed on: the log is in its store,
so from the second round on it builds from there again, as it does in use.
"""

from __future__ import annotations

from typing import Any

from compaction_kit.compacted import CompactedContext
from compaction_kit.session import Turn

import keepline
from keepline import Budget
from keepline.values.message import content_text

WHO = {"user": "kit", "session": "kit"}


class Keepline:
    """Turns in, the messages of one context out, within a number of characters."""

    name = "keepline"

    def __init__(self) -> None:
        self._engine = keepline.open("sqlite://:memory:", settle="manual")

    def compact(self, turns: list[Turn], round_num: int = 1, budget_chars: int | None = None) -> CompactedContext:
        """What would be sent, as text of at most `budget_chars` characters."""
        if round_num == 1:
            self._engine.append([{"role": t.role, "content": t.text} for t in turns], **WHO)
            self._engine.settle(summarise=True, **WHO)
        tokens = (budget_chars or 1 << 20) // 3
        text = self._built(tokens)
        while budget_chars is not None and len(text) > budget_chars:
            tokens = min(tokens - 8, tokens * budget_chars // len(text))
            text = self._built(tokens)
        return CompactedContext(text=text, compactor_name=self.name, round_num=round_num)

    def _built(self, tokens: int) -> str:
        budget = Budget(window=tokens, reserve=0, margin=0)
        messages: Any = self._engine.context(budget=budget, mode="summary", **WHO).messages
        return "\n".join(content_text(m.get("content")) for m in messages)
