"""What was found in a message without a model: its category and retention, and the sentences that must stand.

Knows nothing of how it is found.
"""

from __future__ import annotations

from dataclasses import dataclass

from keepline.values.message import Category, Retention


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """One standing sentence of the user or the operator: a rule or a lasting fact.

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
