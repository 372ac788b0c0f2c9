"""One call's messages and the account of how they were chosen. Holds results; decides nothing.

The ledger has ids, numbers and rule names, never text, so that keeping it keeps no second copy of what was said.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from keepline.values import dialects


class Section(StrEnum):
    """Where a token of the window went."""

    SYSTEM = "system"
    TOOLS = "tools"
    PENDING = "pending"
    PINS = "pins"
    SUMMARY = "summary"
    RECENT = "recent"
    RECALL = "recall"
    ENTITIES = "entities"  # exact values named earlier
    FRAME = "frame"      # headings, stamps and fences of the text that keepline adds
    OTHER = "other"      # the rest of the log, not looked at


class Fate(StrEnum):
    """What became of a candidate."""

    KEPT = "kept"
    SHORTENED = "shortened"
    SUMMARISED = "summarised"
    LEFT_OUT = "left out"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One line of the ledger: a message, a pinned sentence, or a range of messages.

    `ids` are the message id, or the first and last id of a range of `count` messages; `seqs` the same as log positions.
    `tokens` is what it costs in the window (kept) or would have cost (left out). `rule` names what decided; `by` is the id
    of the message that ended or replaced it. `back` says how to get the original. `scores` are the recall signals.
    """

    section: Section
    fate: Fate
    rule: str
    ids: tuple[str, ...] = ()
    seqs: tuple[int, ...] = ()
    count: int = 1
    tokens: int = 0
    by: str | None = None
    back: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)


_ENTRY = tuple(f.name for f in fields(Entry))


@dataclass(frozen=True, kw_only=True, slots=True)
class Prefix:
    """What a call's input shares with the session's last one from the start: `kept` of its `of` tokens; `before` is what the last
    one had. `broken_by` is the first part of the last input that is not where it was (None: this one extends it whole)."""

    kept: int
    of: int
    before: int
    broken_by: str | None = None

    @property
    def share(self) -> float:
        """The share of this call's input that a prefix cache may serve, 0..1."""
        return self.kept / self.of if self.of else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Ledger:
    """The account of one build.

    `mode` is what ran, `asked` what was asked for, `why` the rule and `signals` the figures behind the choice. `limit` is
    the input budget; `tokens` all that is sent, `sections` the same by section; they sum exactly. `notes` are facts a
    person should see (a lowered reserve, a repaired tool pair, pins beyond their share, a view that is behind). `prefix`
    compares with the session's last build in this process (None: it is the first).
    """

    id: str
    at: str
    session: str | None
    mode: str
    asked: str
    why: str
    vocabulary: str
    exact: bool
    window: int
    reserve: int
    margin: int
    limit: int
    tokens: int
    sections: Mapping[str, int]
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    signals: Mapping[str, float] = field(default_factory=dict)
    degraded: bool = False
    prefix: Prefix | None = None

    @property
    def left(self) -> int:
        """Tokens of the window that the input does not use: the answer's reserve and margin are still in it."""
        return self.window - self.tokens

    @property
    def free(self) -> int:
        """Tokens that could still be sent: what is left after reserve and margin. Negative never: the limit holds."""
        return self.limit - self.tokens

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON. By hand: `asdict` copies every figure, 30 times slower for a ledger of 500 entries."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        entries = tuple({n: getattr(e, n) for n in _ENTRY} | {"scores": dict(e.scores)} for e in self.entries)
        plain["prefix"] = None if self.prefix is None else {f.name: getattr(self.prefix, f.name) for f in fields(Prefix)}
        return plain | {"sections": dict(self.sections), "signals": dict(self.signals), "entries": entries}

    def left_out(self) -> tuple[Entry, ...]:
        """Entries that did not go in, or not whole."""
        return tuple(e for e in self.entries if e.fate is not Fate.KEPT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """What to send, and why: `messages` ready for the provider, and their `ledger`.

    `parts` says for each message which section it is, `costs` its tokens, `ids` its id ("": keepline's own), in the same order.
    `tools` are the definitions to send: those given, or, where the call let keepline choose, those that it chose.
    """

    messages: tuple[Mapping[str, Any], ...]
    ledger: Ledger
    parts: tuple[Section, ...] = ()
    costs: tuple[int, ...] = ()
    ids: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] | None = None

    @property
    def tokens(self) -> int:
        """Input tokens of the whole call, tools and overhead included."""
        return self.ledger.tokens

    @property
    def prefix(self) -> Prefix | None:
        """What this call's input shares with the session's last one; None for the first in this process."""
        return self.ledger.prefix

    def to_openai(self) -> list[dict[str, Any]]:
        """Fresh dicts for `client.chat.completions.create(messages=…)`."""
        return [copy.deepcopy(dict(m)) for m in self.messages]

    def to_anthropic(self) -> dict[str, Any]:
        """`{"system", "messages"}` for `client.messages.create(**…)`."""
        return dialects.to_anthropic(self.to_openai())

    def to_responses(self) -> dict[str, Any]:
        """`{"instructions", "input"}` for `client.responses.create(**…)`."""
        return dialects.to_responses(self.to_openai())
