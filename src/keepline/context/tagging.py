"""Bring the view of categories and pins of one session forward, a batch at a time. A flow: it reads, embeds and writes by
yielding; whoever drives it knows stores and encoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from keepline.context.endings import Standing, endings, may_end
from keepline.context.tag import Found, Piece, Said, Tagger, packaged
from keepline.memory.text.dates import until
from keepline.ports.encoder import Embed
from keepline.ports.flow import Flow
from keepline.ports.store import Expect, GetPins, GetRows, GetSession, PutTags, Read, Row, SetPosition, Write
from keepline.values.message import Category, Message
from keepline.values.scope import Scope
from keepline.values.session import TAGS, Session, Span
from keepline.values.tag import Pin, Tag

COMPARED = 400
"""Of the standing pins only the newest 400 are compared with a sentence that may end one."""


@dataclass(frozen=True, slots=True)
class _Draft:
    message: Message
    found: Found


def settle_tags(scope: Scope, limit: int, tagger: Tagger | None = None) -> Flow[int]:
    """Tag the next at most `limit` messages of the scope's session → how many were tagged (0: none was left).

    Only rows that the session owns itself; a fork stands on its parent's tags. While no encoder works, cues alone decide.
    Raises `Moved` if the view has meanwhile come further; nothing is written then.
    """
    (session,) = yield Read((GetSession(scope),))
    if session is None:
        return 0
    position = session.positions.get(TAGS, 0)
    at = max(position, session.start)
    end = min(session.count, at + limit)
    if end <= at:
        return 0
    rows, pins = yield Read((
        GetRows(scope, (Span(number=session.number, lo=at, hi=end),)),
        GetPins(scope, session.upto(at)),
    ))  # fmt: skip
    standing = tuple(p for p in pins if p.ended_by is None or p.until is not None)
    tags = yield from tag_batch(scope, session, rows, standing, tagger)
    taken: int = end - at
    expect = Expect(scope, view=TAGS, position=position)
    yield Write((PutTags(scope, tags), SetPosition(scope, TAGS, end)), (expect,))
    return taken


def tag_batch(
    scope: Scope, session: Session, rows: Sequence[Row], standing: Sequence[Pin], tagger: Tagger | None = None
) -> Flow[tuple[Tag, ...]]:
    """The tags of `rows`, in order; `standing` are the pins said before them. Embeds all sentences of the user in one need,
    and the standing pins' only when a sentence may end one."""
    tagger = tagger or packaged()
    messages = [row.message for row in rows if not row.message.erased]
    pieces = [tagger.prepare(m) for m in messages]
    vectors = yield from _embedded([p.text for own in pieces for p in own])
    drafts = [
        _Draft(m, tagger.judge(m, session.number, own, _of(vectors, own))) for m, own in zip(messages, pieces, strict=True)
    ]
    before: list[Standing] = []
    if any(may_end(s) for d in drafts for s in d.found.said) and standing:
        before = yield from _words(scope, session, standing)
    return (yield from _resolve(drafts, before, vectors))


def _embedded(texts: Sequence[str]) -> Flow[dict[str, NDArray[np.float32]] | None]:
    """Text → vector, or None when no encoder works."""
    distinct = tuple(dict.fromkeys(texts))
    if not distinct:
        return {}
    vectors = yield Embed(distinct)
    return None if vectors is None else dict(zip(distinct, vectors, strict=True))


def _of(vectors: dict[str, NDArray[np.float32]] | None, pieces: Sequence[Piece]) -> NDArray[np.float32] | None:
    return np.stack([vectors[p.text] for p in pieces]) if vectors and pieces else None


def _words(scope: Scope, session: Session, pins: Sequence[Pin]) -> Flow[list[Standing]]:
    """The standing pins with their words, oldest first; those whose words were erased are left out."""
    newest = sorted(pins, key=lambda p: (p.seq, p.start))[-COMPARED:]
    (rows,) = yield Read((GetRows(scope, session.spans, tuple(sorted({p.seq for p in newest}))),))
    texts = {row.message.seq: row.message.text for row in rows if not row.message.erased}
    return [Standing(pin=p, text=texts[p.seq][p.start : p.end]) for p in newest if p.seq in texts]


def _resolve(
    drafts: Sequence[_Draft], before: list[Standing], vectors: dict[str, NDArray[np.float32]] | None
) -> Flow[tuple[Tag, ...]]:
    """Find in order what each sentence ends, pins of the same batch included."""
    known = dict(vectors or {})
    texts = [s.text for s in before] + [d.message.text[p.start : p.end] for d in drafts for p in d.found.tag.pins]
    if vectors and any(may_end(s) for d in drafts for s in d.found.said):
        known |= (yield from _embedded([t for t in texts if t not in known])) or {}
    standing = list(before)
    tags = []
    for draft in drafts:
        text, tag, day = draft.message.text, draft.found.tag, draft.message.at.date()
        pins = {(p.start, p.end): p for p in tag.pins}
        ends: list[Pin] = []
        for said in draft.found.said:
            if draft.message.given and not tag.pins and tag.category != Category.CHAT:
                break
            gone = endings(said, tag.seq, day, standing, known) if may_end(said) else ()
            places = {(p.seq, p.start, p.end) for p in gone}
            standing = [s for s in standing if (s.pin.seq, s.pin.start, s.pin.end) not in places]
            ends += gone
            if not gone and (pin := _doubtful(draft, said)):
                pins.setdefault((pin.start, pin.end), pin)
        own = tuple(_dated(p, text, draft) for _, p in sorted(pins.items()))
        standing += [Standing(pin=p, text=text[p.start : p.end]) for p in own]
        tags.append(replace(tag, pins=own, ends=tuple(ends)))
    return tuple(tags)


def _doubtful(draft: _Draft, said: Said) -> Pin | None:
    """A withdrawal without a clear target stands beside what it may have meant."""
    if draft.message.given or said.ending < 0.4:
        return None
    tag = draft.found.tag
    certainty = min(0.999, said.ending + said.keep * 0.5)
    return Pin(number=tag.number, seq=tag.seq, start=said.start, end=said.end, kind=Category.CONSTRAINT, certainty=certainty)


def _dated(pin: Pin, text: str, draft: _Draft) -> Pin:
    """The pin with the last day that its own words name."""
    if pin.given:
        return pin
    day = until(text[pin.start : pin.end], draft.message.at.date())
    return pin if day is None else replace(pin, until=day.isoformat())
