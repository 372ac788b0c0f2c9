"""What the engine's verbs answer with, beside messages and contexts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keepline.values.message import Message
from keepline.values.tag import Pin


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A message that a search found: `score` (higher is better, comparable within one search), its parts by signal, and
    the span [`start`, `end`) of the best piece in `message.text`; `session` is where it was said."""

    message: Message
    session: str
    score: float
    start: int
    end: int
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """A pin with its words: the sentence `text` of message `id`; `ended_by` is the id of the message that ended it."""

    pin: Pin
    id: str
    text: str
    ended_by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Brought:
    """What an import did: conversations read; messages that were new, known already, or changed since (these are in a fork);
    `skipped` lines as (line number, why); `notes` what a person should know."""

    conversations: int = 0
    new: int = 0
    unchanged: int = 0
    changed: int = 0
    skipped: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Settled:
    """What a settling did: sessions looked at, messages brought into each view, seconds it took; `summarised` messages that new
    segments of summaries stand for."""

    sessions: int
    messages: Mapping[str, int]
    seconds: float
    summarised: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """How things stand. `behind` counts, per view, messages not reached yet; `notes` are what a person should know
    (degraded, pending); `sessions`, `messages`, `pins`, `ended` count what this scope has."""

    store: str
    persistent: bool
    encoder: str
    vocabulary: str
    sessions: int = 0
    messages: int = 0
    pins: int = 0
    ended: int = 0
    behind: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
