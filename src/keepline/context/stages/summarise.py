"""What the messages before the window came to: statements of the summary, the weightiest first, up to their share.

Chooses among statements that were made and checked earlier; makes none, asks no model. What no segment covers yet is read as
the user's own sentences. Depends on the log, the window and the budget only, never on the question, so that it stands still
between jumps of the window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from keepline.context.draft import Draft, Summed
from keepline.context.render import day_of, folded, summary_line
from keepline.context.stages.pin import restate
from keepline.context.stages.recent import SUMMARY_FRAME
from keepline.context.words import language
from keepline.memory.summary import Governor, gap
from keepline.ports.flow import Flow
from keepline.ports.view import Words
from keepline.values.context import Entry, Fate, Section
from keepline.values.message import Message
from keepline.values.session import SUMMARY
from keepline.values.summary import EXTRACT, Segment, Statement
from keepline.values.tag import Pin

GAP_TOKENS = 16_000
"""Of a stretch that no segment covers, the newest so many tokens are read: bounds a build over a log that never settled."""
LEAST = 200
"""With less room its frame alone takes too much of it; sentences that may be rules get the room instead."""
CACHED = timedelta(minutes=5)
"""How long providers keep a prefix that nobody asks for: five minutes at the shortest, by their pages on prompt caching."""
ENDED = "ended by a later message"
READ = "the user's own sentences, read for this call"
"""The rule of stretches that no segment covers."""


def summarise(draft: Draft) -> Flow[Draft]:
    """Put the statements in `draft.summary`, in the order in which they were said."""
    log = draft.log
    before = min(draft.window, len(log.view), log.current)
    if before <= log.cleared or draft.room.summary < LEAST:
        return draft
    known = _Choice.of(draft)
    last: _Choice | None = log.view.memo.get(SUMMARY)
    if last is None or not last.serves(known):
        shown = [s for s in _before(log.view.segments, before) if s.lo >= log.cleared]
        gaps = _gaps(draft, shown, before)
        loose = yield from _read(draft, gaps)
        statements = [*(s for segment in shown for s in segment.statements), *loose]
        known.language = draft.plan.language or _language(statements)
        known.kept, gone = _weighed(draft, statements, known.language)
        known.entries = (*gone, *_account(draft, shown, gaps))
        last = log.view.memo[SUMMARY] = known
    last.at = draft.now
    if not last.kept:
        return draft
    return draft.evolve(summary=last.kept, summary_language=last.language, entries=draft.noted(*last.entries))


@dataclass(slots=True)
class _Choice:
    """What was chosen, when it was last sent, and what it depends on: kept with the warm copy. Parts that are compared by
    identity are held here, so that none can be taken for another.

    It serves on while nothing that it says has changed and a provider may still have it cached: to write newer segments into the
    head would re-bill all that stands behind it, to save nothing. They come with the next jump of the window, or when it is cold.
    """

    figures: tuple[Any, ...]
    parts: tuple[Any, ...]
    segments: tuple[Segment, ...]
    at: datetime
    language: str = ""
    kept: tuple[Summed, ...] = ()
    entries: tuple[Entry, ...] = ()

    @staticmethod
    def of(draft: Draft) -> _Choice:
        """What this draft's choice depends on."""
        restated = restate(draft, draft.window)[0]
        plan, view = draft.plan, draft.log.view
        figures = (draft.window, draft.log.cleared, draft.room.summary, draft.meter.counter.name, plan.language, plan.zone)
        return _Choice(figures=figures, parts=(view.ended, *restated), segments=view.segments, at=draft.now)

    def serves(self, other: _Choice) -> bool:
        """Whether this may be sent where `other` is asked for."""
        same = (
            self.figures == other.figures and len(self.parts) == len(other.parts)
            and all(a is b for a, b in zip(self.parts, other.parts, strict=True))
        )  # fmt: skip
        return same and (self.segments == other.segments or other.at - self.at < CACHED)


def _account(draft: Draft, shown: Sequence[Segment], gaps: Sequence[tuple[int, int]]) -> Iterator[Entry]:
    """The entries of the ledger about what is summarised, and what of it was dropped when it was made."""
    stretches = [(s.lo, s.hi, _maker(s.maker)) for s in shown] + [(lo, hi, READ) for lo, hi in gaps]
    yield from _covered(draft, sorted(stretches))
    for s in shown:
        for why, n in s.dropped.items():
            yield Entry(section=Section.SUMMARY, fate=Fate.LEFT_OUT, rule=why, count=n, seqs=(s.lo, s.hi - 1),
                        back=f"keepline list --covered-by {s.id}")  # fmt: skip


def _language(statements: Sequence[Statement]) -> str:
    """The language that most statements are in: that of the question may change from call to call, the head must not."""
    spoken = [language(s.text) for s in statements[:200]]
    return "zh" if spoken.count("zh") * 2 > len(spoken) else "en"


def _before(segments: Sequence[Segment], before: int) -> list[Segment]:
    """The segments that lie wholly before `before`, in order; of two that overlap the first."""
    found: list[Segment] = []
    for s in sorted(segments, key=lambda s: s.lo):
        if s.hi <= before and s.lo >= (found[-1].hi if found else 0):
            found.append(s)
    return found


def _gaps(draft: Draft, shown: Sequence[Segment], before: int) -> tuple[tuple[int, int], ...]:
    """The stretches before `before` that no segment covers, their newest `GAP_TOKENS` at most, in order."""
    left = GAP_TOKENS
    found: list[tuple[int, int]] = []
    ends = [*((s.lo, s.hi) for s in shown), (before, before)]
    starts = [draft.log.cleared, *(s.hi for s in shown)]
    for lo, (hi, _) in reversed(list(zip(starts, ends, strict=True))):
        spent = np.cumsum(draft.log.tokens[lo:hi][::-1])
        fitting = int(np.searchsorted(spent, left, side="right"))
        if fitting:
            found.append((hi - fitting, hi))
            left -= int(spent[fitting - 1])
        if fitting < hi - lo:
            break
    return tuple(reversed(found))


def _read(draft: Draft, gaps: tuple[tuple[int, int], ...]) -> Flow[tuple[Statement, ...]]:
    """The user's sentences in the gaps; remembered with the warm copy until the gaps or the pins in them change."""
    if not gaps:
        return ()
    view = draft.log.view
    pins = [p for p in (*view.standing, *view.ended) if any(lo <= p.seq < hi for lo, hi in gaps)]
    key = (gaps, len(pins))
    known = view.memo.get(READ)
    if known is None or known[0] != key:
        words: dict[int, Message] = yield Words(view, tuple(i for lo, hi in gaps for i in range(lo, hi)))
        governor = Governor(batch=draft.plan.summary_batch, words=draft.plan.summary_words)
        known = view.memo[READ] = key, gap([m for _, m in sorted(words.items())], pins, governor)
    found: tuple[Statement, ...] = known[1]
    return found


def _weighed(draft: Draft, statements: Sequence[Statement], spoken: str) -> tuple[tuple[Summed, ...], list[Entry]]:
    """The weightiest statements that fit the share; what was ended since, or stands as a pin's line anyway, is left out."""
    view = draft.log.view
    ended: dict[int, list[Pin]] = {}
    for p in view.ended:
        ended.setdefault(p.seq, []).append(p)
    restated = restate(draft, draft.window)[0]
    said = {p.key for p in restated}
    pinned: dict[int, list[Pin]] = {}
    for r in restated:
        pinned.setdefault(r.pin.seq, []).append(r.pin)
    left = draft.room.summary - SUMMARY_FRAME
    kept: list[Summed] = []
    gone: list[Entry] = []
    for s in sorted(statements, key=lambda s: (-s.weight, -s.sources[0])):
        by = _ended_by(s, ended)
        if by is not None:
            gone.append(_left_out(draft, s, ENDED, by))
            continue
        key = folded(s.text)
        if key in said or _overlaps(s, pinned):
            continue
        line = summary_line(s, [draft.log.id(i) for i in s.sources[:3]], spoken)
        day = day_of(_at(s), draft.plan.zone)
        cost = draft.meter.line(line) + (0 if any(k.day == day for k in kept) else 8)
        if cost > left:
            if left < SUMMARY_FRAME // 2:
                break
            continue
        left -= cost
        said.add(key)
        kept.append(Summed(statement=s, line=line, day=day, tokens=cost))
    return tuple(sorted(kept, key=lambda k: (k.statement.sources[0], k.statement.verbatim or (0, 0)))), gone


def _ended_by(s: Statement, ended: dict[int, list[Pin]]) -> int | None:
    """The seq of the message that ended what the statement says, or None."""
    for seq in s.sources:
        for p in ended.get(seq, ()):
            if s.verbatim is None or (p.start < s.verbatim[1] and p.end > s.verbatim[0]):
                return p.ended_by
    return None


def _overlaps(s: Statement, pinned: dict[int, list[Pin]]) -> bool:
    return s.verbatim is not None and any(
        p.start < s.verbatim[1] and p.end > s.verbatim[0] for p in pinned.get(s.sources[0], ())
    )


def _at(s: Statement) -> datetime:
    return datetime.fromisoformat(s.at)


def _maker(name: str) -> str:
    return "the user's own sentences" if name == EXTRACT else f"written by {name}, checked against its sources"


def _left_out(draft: Draft, s: Statement, rule: str, by: int) -> Entry:
    return Entry(
        section=Section.SUMMARY, fate=Fate.LEFT_OUT, rule=rule, ids=(draft.log.id(s.sources[0]),), seqs=(s.sources[0],),
        by=draft.log.id(by) if by < len(draft.log) else None, back=f"keepline get {draft.log.id(s.sources[0])}",
    )


def _covered(draft: Draft, stretches: Sequence[tuple[int, int, str]]) -> Iterator[Entry]:
    """An entry a run of neighbouring stretches of one maker."""
    log = draft.log
    runs: list[tuple[int, int, str]] = []
    for lo, hi, maker in stretches:
        if runs and runs[-1][1:] == (lo, maker):
            runs[-1] = (runs[-1][0], hi, maker)
        else:
            runs.append((lo, hi, maker))
    for lo, hi, maker in runs:
        yield Entry(
            section=Section.SUMMARY, fate=Fate.SUMMARISED, rule=maker, ids=(log.id(lo), log.id(hi - 1)), seqs=(lo, hi - 1),
            count=int(log.live[lo:hi].sum()), tokens=int(log.tokens[lo:hi].sum()),
            back=f"keepline list --after {lo - 1} --limit {hi - lo}",
        )
