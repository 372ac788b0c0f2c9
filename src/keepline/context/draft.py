"""The working state of one build: the log joined with the messages of this call, and what the stages have chosen so far.

Holds figures and choices; every choice is made in a stage. A place in the joined log is an index: 0 … n−1 are the log's
seqs, n and above the call's own messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepline.context.count import Meter
from keepline.ports.store import ROLES
from keepline.ports.view import Hit, View
from keepline.values.budget import Budget
from keepline.values.context import Entry, Section
from keepline.values.entity import Kind
from keepline.values.message import Message
from keepline.values.scope import Scope
from keepline.values.summary import Statement
from keepline.values.tag import Pin

SYSTEM_CODES = (ROLES.index("system"), ROLES.index("developer"))
USER_CODE = ROLES.index("user")


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """What a build is asked: the messages of this call that are not in the log, and how to build.

    `tools` and `response_format` are counted and never changed. `query` stands in for the last user message in recall;
    `keywords` must occur in what is recalled. `pins` False leaves pins out (an ablation). `oversize`: "cut" or "error".
    """

    scope: Scope
    messages: tuple[Message, ...]
    budget: Budget
    mode: str = "auto"
    tools: Sequence[Mapping[str, Any]] | None = None
    tool_limit: int | None = None
    pinned_tools: tuple[str, ...] = ()
    response_format: Mapping[str, Any] | None = None
    query: str | None = None
    keywords: tuple[str, ...] = ()
    oversize: str = "cut"
    pins: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The figures that steer a build; settings by name, see `keepline config`."""

    soft_share: float = 0.5
    soft_floor: int = 16_000
    pins_share: float = 0.25
    pins_certain_share: float = 0.5
    evict_to: float = 0.6
    full_under: float = 0.4
    dense_under: float = 0.2
    spread_under: float = 0.35
    summary_batch: int = 4_000
    summary_words: int = 200
    recall_k: int = 40
    language: str = ""
    zone: str = "UTC"


@dataclass(frozen=True, kw_only=True, slots=True)
class Log:
    """The joined log. `tokens`, `role` and `answering` (tool results) are (n + m,); `whole` are the tokens of what has since been
    priced as cleared, too; `held` are those whose rules and words may be used though their turns lie before `cleared`. `starts`
    are the indices where a turn begins; `current` where the current turn begins, `system` the indices of instructions in force
    (sent first or in place, never dropped)."""

    view: View
    own: tuple[Message, ...]
    tokens: NDArray[np.int64]
    whole: NDArray[np.int64]
    answering: NDArray[np.bool_]
    role: NDArray[np.uint8]
    live: NDArray[np.bool_]
    starts: NDArray[np.int64]
    current: int
    system: tuple[int, ...]
    held: NDArray[np.bool_]
    cleared: int = 0

    def __len__(self) -> int:
        return len(self.tokens)

    def id(self, i: int) -> str:
        """The message id at index `i`."""
        n = len(self.view)
        return self.view.outline.ids[i] if i < n else self.own[i - n].id

    def at(self, i: int) -> datetime:
        """When the message at index `i` was said, UTC."""
        n = len(self.view)
        return datetime.fromtimestamp(float(self.view.outline.at[i]), UTC) if i < n else self.own[i - n].at

    def back(self, i: int) -> str | None:
        """How to get the message at index `i` whole; None for one of this call, which its caller has."""
        return f"keepline get {self.id(i)}" if i < len(self.view) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Priced:
    """A pin or candidate with the line that restates it and what that costs in tokens; `key` is the sentence as it is
    compared, `entry` what the ledger says of it when it gets its line."""

    pin: Pin
    line: str
    id: str
    day: str
    tokens: int
    key: str
    entry: Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A recalled piece of an older message: its line and cost, and the hit behind it."""

    hit: Hit
    message: Message
    line: str
    tokens: int

    @property
    def text(self) -> str:
        """The recalled words."""
        return self.message.text[self.hit.start : self.hit.end]


@dataclass(frozen=True, kw_only=True, slots=True)
class Summed:
    """A statement of the summary with its line, its day and what the line costs in tokens."""

    statement: Statement
    line: str
    day: str
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Exact:
    """An entity with the line that states it, what that costs in tokens, and what the ledger says of it."""

    kind: Kind
    value: str
    line: str
    tokens: int
    entry: Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """The budget's arithmetic, in tokens: `limit` for input; `base` what must be sent; `aim` the soft limit; `pins` and
    `pins_certain` the caps for restated pins; `recent` the cap that steers the window of recent turns, `recent_share` the
    mode's share it came from; `summary` the most that the summary takes (0: the mode has none)."""

    limit: int
    base: int
    aim: int
    pins: int
    pins_certain: int
    recent: int
    recent_share: float = 1.0
    summary: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Laid:
    """What is sent: messages in order with, for each, its section, its index in the joined log (`layout.OURS`: ours) and its
    tokens; `tokens` is the whole call. `repaired` are the indices whose tool pairs had to be mended."""

    bodies: tuple[Mapping[str, Any], ...]
    sections: tuple[Section, ...]
    indices: tuple[int, ...]
    costs: tuple[int, ...]
    tokens: int
    repaired: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """What the stages have decided. `window` is the index where the verbatim recent turns begin (len: none); `rounds` the
    indices of the current turn that are sent; `cuts` are messages sent in part, `cleared` the stale tool results among them.
    `pins` are priced, best first; `restated` those that get a line;
    `candidates` are less certain ones, `filled` those of them that got spare room. `pieces` are recalled, best first, `spare`
    what relevance alone has no room for; `exact` are values that the question asks for; `summary` are statements about what is
    before the window, as they were said. `entries` and `notes` go to the ledger.
    `lines` remembers, for the pins of this draft, what `restate` answered for a window. `laid` is what the last stage found to
    fit: all of it, laid out and counted."""

    call: Call
    plan: Plan
    log: Log
    meter: Meter
    room: Room
    now: datetime
    language: str
    mode: str = ""
    window: int = 0
    whole: bool = False
    rounds: tuple[int, ...] = ()
    texts: Mapping[int, Message] = field(default_factory=dict)
    cuts: Mapping[int, Message] = field(default_factory=dict)
    cleared: frozenset[int] = frozenset()
    pins: tuple[Priced, ...] = ()
    restated: tuple[Priced, ...] = ()
    candidates: tuple[Priced, ...] = ()
    filled: tuple[Priced, ...] = ()
    summary: tuple[Summed, ...] = ()
    summary_language: str = "en"
    pieces: tuple[Piece, ...] = ()
    spare: tuple[Piece, ...] = ()
    exact: tuple[Exact, ...] = ()
    entries: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()
    signals: Mapping[str, float] = field(default_factory=dict)
    lines: dict[int, tuple[tuple[Priced, ...], tuple[Priced, ...], int]] = field(default_factory=dict)
    laid: Laid | None = None

    def evolve(self, **changes: Any) -> Draft:
        """The same draft with some fields changed."""
        return replace(self, **changes)

    def noted(self, *entries: Entry) -> tuple[Entry, ...]:
        """The entries so far and these."""
        return self.entries + entries
