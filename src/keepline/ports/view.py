"""What a build looks at: one session's log without its words, the words of chosen rows, and what recall finds.

Answered from warm copies when they are as new as the store, else from the store; the asker cannot tell which. Knows neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepline.ports.store import Outline
from keepline.values.scope import Scope
from keepline.values.session import Session
from keepline.values.summary import Segment
from keepline.values.tag import Pin


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """One session at one moment. `outline` has its whole path, seq 0 … n−1 without gaps; `standing` are the pins that no
    later message ended: first the `sure` ones that stand, then candidates, each what the caller gave first, then by certainty,
    then the newer; `ended` the others, as said. `answering` (n,) bool marks rows that only answer tool calls. `epoch` is the
    owner's at that moment. `memo` is scratch of whoever looks, kept with the warm copy.
    `segments` are those of the rolling summary within the path. `behind` counts, per derived view, the messages it has not
    reached."""

    scope: Scope
    session: Session | None
    epoch: int
    outline: Outline
    standing: tuple[Pin, ...]
    ended: tuple[Pin, ...]
    answering: NDArray[np.bool_]
    sure: int = 0
    segments: tuple[Segment, ...] = ()
    behind: Mapping[str, int] = field(default_factory=dict)
    memo: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.outline.seq)


@dataclass(frozen=True, slots=True)
class Look:
    """Need: → `View` of the scope's session, token counts in `vocabulary`. With `tagged`, once every message has its tag."""

    scope: Scope
    vocabulary: str
    tagged: bool = True


@dataclass(frozen=True, slots=True)
class Words:
    """Need: the messages at `seqs` of `view` → dict seq → `Message`. Raises `Moved` if rows were erased since the view."""

    view: View
    seqs: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One message that recall found: its place, the span [`start`, `end`) of the best piece in `Message.text`, its fused
    `score` (higher is better, comparable within one search only) and the signals behind it."""

    number: int
    seq: int
    start: int
    end: int
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Find:
    """Need: what `query` recalls → tuple of `Hit`, best first, at most `k`.

    With `view`, only rows of its path with seq < `before`, and never those in `without`; without it, all of the owner's
    sessions. Every word of `keywords` must occur in the message, in some form: whether it stands there as it is written is
    for the asker to see. `least`: a message without any word of the query must have at least this cosine (None: whatever it
    has). Rows not yet indexed are indexed first.
    """

    scope: Scope
    query: str
    k: int
    view: View | None = None
    before: int | None = None
    without: frozenset[int] = frozenset()
    keywords: tuple[str, ...] = ()
    least: float | None = None


@dataclass(frozen=True, slots=True)
class Alike:
    """Need: how alike neighbouring messages `seqs` of `view` are → mean cosine of consecutive pairs, or None when fewer
    than two have vectors."""

    view: View
    seqs: tuple[int, ...]
