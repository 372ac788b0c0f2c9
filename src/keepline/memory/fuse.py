"""From signals to one score an item: z-scored words and vectors, shared with neighbours and sessions as far as the log has
structure.

Pure arithmetic over arrays of n items; knows no text. Z-scores keep the margin that rank fusion throws away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """The constants of the ranking, chosen on public conversations (evals/LOG.md says which and how far they carry).

    `lexical` + `dense` = 1 for a question, `lexical_stated` for a statement. `centred_at`: rows at which half of the dense
    score is the centred cosine (what all of a user's messages have in common says nothing about one of them; a small log
    cannot tell what that is). `near`: share that a message takes from each direct neighbour, `near_decay` of it from the next
    but one. `session`: weight of the whole session's words. Both are scaled by the log's coherence (how much more alike
    neighbours are than messages at random): 0 at `coherence_none`, 1 at `coherence_full`, at most `coherence_most`; for a
    statement by `stated_structure` more. `own`: a prior for the user's own words where messages are long (mean length above
    `long_from` characters): there the other side's text is mostly elaboration.
    """

    lexical: float = 0.4
    dense: float = 0.6
    lexical_stated: float = 0.2
    centred_at: float = 200.0
    near: float = 0.35
    near_decay: float = 0.5
    session: float = 0.45
    coherence_none: float = 0.06
    coherence_full: float = 0.15
    coherence_most: float = 2.0
    stated_structure: float = 0.3
    own: float = 0.3
    long_from: float = 600.0


WEIGHTS = Weights()


@dataclass(frozen=True, kw_only=True, slots=True)
class Signals:
    """What is known of n items for one query. `dense`, `centred` (n,) cosines or None without vectors; `lexical` (n,) BM25,
    0 without a match; `session` (n,) BM25 of the item's whole session; `own` (n,) bool the user's words; `eligible` (n,)
    bool what may be found; `before`, `after` (n,) index of the neighbouring item in its session, −1 for none."""

    asks: bool
    rows: int
    coherence: float
    mean_length: float
    lexical: Floats
    session: Floats
    own: NDArray[np.bool_]
    eligible: NDArray[np.bool_]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    dense: Floats | None = None
    centred: Floats | None = None


def fuse(s: Signals, w: Weights = WEIGHTS) -> tuple[Floats, dict[str, Floats]]:
    """(scores (n,), −inf where not eligible; the parts of each score by name, for explaining)."""
    lexical = positive(s.lexical, s.eligible)
    share = (w.lexical if s.asks else w.lexical_stated) if s.dense is not None else 1.0
    parts = {"words": share * lexical}
    score = parts["words"]
    if s.dense is not None:
        parts["meaning"] = (1 - share) * _dense(s, w)
        score = score + parts["meaning"]
    structure = w_structure(s, w)
    if structure:
        parts["neighbours"] = structure * w.near * _near(score, s, w.near_decay)
        parts["session"] = structure * w.session * positive(s.session, s.eligible)
        score = score + parts["neighbours"] + parts["session"]
    if s.mean_length > w.long_from:
        parts["own words"] = w.own * s.own
        score = score + parts["own words"]
    return np.where(s.eligible, score, -np.inf), parts


def w_structure(s: Signals, w: Weights) -> float:
    """How much neighbours and sessions count for this log and this query."""
    scaled = (s.coherence - w.coherence_none) / (w.coherence_full - w.coherence_none)
    return float(np.clip(scaled, 0, w.coherence_most)) * (1.0 if s.asks else w.stated_structure)


def positive(x: Floats, among: NDArray[np.bool_]) -> Floats:
    """Z-scores of the positive values of `x`; 0 where `x` is 0: not to match is no evidence against."""
    values = _only(x, among)
    if not len(values) or not values.any():
        return np.zeros_like(x)
    return np.where(x > 0, (x - values.mean()) / (values.std() + 1e-9), 0.0)


def standard(x: Floats, among: NDArray[np.bool_]) -> Floats:
    """Z-scores of `x` by the mean and deviation of `among`."""
    values = _only(x, among)
    return (x - values.mean()) / (values.std() + 1e-9) if len(values) else np.zeros_like(x)


def _only(x: Floats, among: NDArray[np.bool_]) -> Floats:
    return x if among.all() else x[among]


def _dense(s: Signals, w: Weights) -> Floats:
    assert s.dense is not None
    plain = standard(s.dense, s.eligible)
    if s.centred is None:
        return plain
    share = s.rows / (s.rows + w.centred_at)
    return standard((1 - share) * plain + share * standard(s.centred, s.eligible), s.eligible)


def _near(score: Floats, s: Signals, decay: float) -> Floats:
    """What comes from the neighbours at distance 1, and `decay` of what comes from those at distance 2."""
    padded = np.append(np.where(s.eligible, score, 0.0), 0.0)
    before, after = np.append(s.before, -1), np.append(s.after, -1)  # none is −1, the last: the padding
    near = padded[s.before] + padded[s.after]
    return np.asarray(near + decay * (padded[before[s.before]] + padded[after[s.after]]))
