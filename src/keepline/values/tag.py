"""What was found in a message without a model: its category and retention, and the sentences that must stand.

Knows nothing of how it is found.
"""

from __future__ import annotations

from dataclasses import dataclass

from keepline.values.message import Category, Retention

RULE_FROM, FACT_FROM = 0.35, 0.65
"""The least certainty of a rule and of a fact that stands. What is less certain is a candidate: it may fill room that nothing
else claims, and is never called a rule."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """One sentence of the user or the operator that is, or may be, a standing rule or a lasting fact.

    It is the span [`start`, `end`) in characters of message `seq`'s text (`Message.text`), never a copy of it. `number`
    and `seq` name the row that said it; `kind` is `CONSTRAINT` or `FACT`; `certainty` lies in 0..1 (1: the caller said so).
    `ended_by` is the seq of the later message that withdrew, replaced or limited it (None: it stands); `until` an ISO
    date after which it no longer holds, when its own words say one.
    """

    number: int
    seq: int
    start: int
    end: int
    kind: Category
    certainty: float
    given: bool = False
    ended_by: int | None = None
    until: str | None = None

    @property
    def stands(self) -> bool:
        """Whether it is sure enough to be held in every mode."""
        return self.given or self.certainty >= (RULE_FROM if self.kind is Category.CONSTRAINT else FACT_FROM)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tag:
    """What one message was found to be: `seq` in session `number`, its category, retention and pins.

    `ends` lists the earlier pins that this message ends, each already carrying `ended_by`.
    """

    number: int
    seq: int
    category: Category
    retention: Retention
    pins: tuple[Pin, ...] = ()
    ends: tuple[Pin, ...] = ()
