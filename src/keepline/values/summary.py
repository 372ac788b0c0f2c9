"""A summary of a stretch of a log: statements by origin, each with the messages it rests on. Knows neither who made it nor
where it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Origin(StrEnum):
    """Whose words a statement retells."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One thing that was said: `text` rests on the messages `sources` (seqs of the session's path, never empty). `at` is when
    the first of them was said (ISO 8601, UTC). `weight` ranks it among others. `verbatim` is the span (start, end) in the one
    source's text when the words are the source's own. `open` marks a task that was still to be done."""

    origin: Origin
    text: str
    sources: tuple[int, ...]
    at: str
    weight: float = 0.0
    verbatim: tuple[int, int] | None = None
    open: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "origin": self.origin.value, "text": self.text, "sources": list(self.sources), "at": self.at, "weight": self.weight,
            "verbatim": list(self.verbatim) if self.verbatim else None, "open": self.open,
        }

    @staticmethod
    def of(plain: Mapping[str, Any]) -> Statement:
        """The statement that `to_dict` wrote."""
        span = plain["verbatim"]
        return Statement(
            origin=Origin(plain["origin"]), text=plain["text"], sources=tuple(plain["sources"]), at=plain["at"],
            weight=plain["weight"], verbatim=(span[0], span[1]) if span else None, open=plain["open"],
        )  # fmt: skip


EXTRACT = "extract"
"""Who made a segment that no model wrote."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """The summary of messages `lo` ≤ seq < `hi` of session `number`.

    `maker` is the model that wrote it, or `EXTRACT`: the user's own sentences, no model. `before` and `after` are the tokens
    of the messages and of the statements. `dropped` counts what a model wrote and the sources do not bear out, by rule.
    `made` is when (ISO 8601, UTC), `head` how long the log then was; `spent` the tokens that the model took.
    """

    id: str
    number: int
    lo: int
    hi: int
    statements: tuple[Statement, ...]
    maker: str
    before: int
    after: int
    made: str
    head: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    spent: int = 0

    def to_dict(self) -> dict[str, Any]:
        """What a store keeps beside the place: plain values."""
        return {
            "statements": [s.to_dict() for s in self.statements], "maker": self.maker, "before": self.before, "after": self.after,
            "made": self.made, "head": self.head, "dropped": dict(self.dropped), "spent": self.spent,
        }

    @staticmethod
    def of(id: str, number: int, lo: int, hi: int, body: Mapping[str, Any]) -> Segment:
        """The segment of a place and what `to_dict` wrote."""
        return Segment(
            id=id, number=number, lo=lo, hi=hi, statements=tuple(map(Statement.of, body["statements"])), maker=body["maker"],
            before=body["before"], after=body["after"], made=body["made"], head=body["head"], dropped=body["dropped"],
            spent=body["spent"],
        )  # fmt: skip
