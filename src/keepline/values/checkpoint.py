"""A thread's state at one moment, beside its log: what an application wants back after a restart. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """`state` is the caller's JSON, `next` the step that is to follow; `count` is how many messages the thread had then, `at`
    when (ISO 8601, UTC)."""

    id: str
    session: str
    state: Mapping[str, Any]
    next: str | None
    count: int
    at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reset:
    """From which message on a session's contexts begin now (`cleared`), and from which on anything of it is known to them at all
    (`dropped`)."""

    cleared: int
    dropped: int
