"""Bring the view of categories and pins of one session forward, a batch at a time. A flow: it reads, embeds and writes by
yielding; whoever drives it knows stores and encoders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from keepline.context.endings import Standing, concerned, endings, may_end, rivals
from keepline.context.tag import Found, Piece, Said, Tagger, packaged
from keepline.memory.text.dates import until
from keepline.ports.encoder import Embed
from keepline.ports.flow import Flow
from keepline.ports.store import Expect, GetPins, GetRows, GetSession, PutTags, Read, Row, SetPosition, Write
from keepline.values.message import Category, Message
from keepline.values.scope import Scope
from keepline.values.session import TAGS, Session, Span
from keepline.values.tag import RULE_FROM, Pin, Tag

ENDABLE_FROM = 0.15
"""Candidates less certain than this are no target of an ending: among many, the one that is meant would not stand out."""
COMPARED = 400
"""Of the standing pins only the newest 400 are compared with a sentence that may end one."""


Place = tuple[int, int, int, int]
"""What names a pin: session number, seq, start, end."""


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
    tags = yield from tag_batch(scope, session, rows, pins, tagger)
    taken: int = end - at
    expect = Expect(scope, view=TAGS, position=position)
    yield Write((PutTags(scope, tags), SetPosition(scope, TAGS, end)), (expect,))
    return taken


def tag_batch(
    scope: Scope, session: Session, rows: Sequence[Row], pins: Sequence[Pin], tagger: Tagger | None = None
) -> Flow[tuple[Tag, ...]]:
    """The tags of `rows`, in order; `pins` are all pins said before them, ended ones too.

    Embeds all sentences of the user in one need, and the standing pins' only when a sentence may end one. An earlier message
    one of whose pins is now limited to a day gets a new tag too; pins of a fork's parent are never limited so, for the
    parent goes its own way.
    """
    tagger = tagger or packaged()
    messages = [row.message for row in rows if not row.message.erased]
    pieces = [tagger.prepare(m) for m in messages]
    vectors = yield from _embedded([p.text for own in pieces for p in own])
    drafts = [
        _Draft(m, tagger.judge(m, session.number, own, _of(vectors, own))) for m, own in zip(messages, pieces, strict=True)
    ]
    standing = [p for p in pins if p.ended_by is None and p.certainty >= ENDABLE_FROM]
    before: list[Standing] = []
    rows_before: dict[int, Message] = {}
    if standing and any(may_end(s) for d in drafts for s in d.found.said):
        before, rows_before = yield from _words(scope, session, standing)
    tags, limited = yield from _resolve(drafts, before, vectors)
    return tuple(_relimited(session.number, rows_before, pins, limited)) + _limit(tags, limited)


def _embedded(texts: Sequence[str]) -> Flow[dict[str, NDArray[np.float32]] | None]:
    """Text → vector, or None when no encoder works."""
    distinct = tuple(dict.fromkeys(texts))
    if not distinct:
        return {}
    vectors = yield Embed(distinct)
    return None if vectors is None else dict(zip(distinct, vectors, strict=True))


def _of(vectors: dict[str, NDArray[np.float32]] | None, pieces: Sequence[Piece]) -> NDArray[np.float32] | None:
    return np.stack([vectors[p.text] for p in pieces]) if vectors and pieces else None


def _words(scope: Scope, session: Session, pins: Sequence[Pin]) -> Flow[tuple[list[Standing], dict[int, Message]]]:
    """The standing pins with their words, oldest first, and their messages by seq; what was erased is left out."""
    newest = sorted(pins, key=lambda p: (p.seq, p.start))[-COMPARED:]
    (rows,) = yield Read((GetRows(scope, session.spans, tuple(sorted({p.seq for p in newest}))),))
    messages = {row.message.seq: row.message for row in rows if not row.message.erased}
    texts = {seq: message.text for seq, message in messages.items()}
    return [Standing(pin=p, text=texts[p.seq][p.start : p.end]) for p in newest if p.seq in texts], messages


def _resolve(
    drafts: Sequence[_Draft], before: list[Standing], vectors: dict[str, NDArray[np.float32]] | None
) -> Flow[tuple[list[Tag], dict[Place, str]]]:
    """Find in order what each sentence ends, pins of the same batch included: the tags, and until when which pins hold now."""
    known = dict(vectors or {})
    if vectors:
        known |= (yield from _embedded([t for t in _compared(drafts, before) if t not in known])) or {}
    standing = list(before)
    tags: list[Tag] = []
    limited: dict[Place, str] = {}
    for draft in drafts:
        text, tag, day = draft.message.text, draft.found.tag, draft.message.at.date()
        pins = {(p.start, p.end): p for p in tag.pins}
        ends: list[Pin] = []
        for said in draft.found.said:
            if draft.message.given and not tag.pins and tag.category != Category.CHAT:
                break
            gone = endings(said, tag.seq, day, standing, known) if may_end(said) else ()
            places = {_place(p) for p in gone}
            standing = [s for s in standing if _place(s.pin) not in places]
            ends += [p for p in gone if p.ended_by is not None]
            limited |= {_place(p): p.until for p in gone if p.ended_by is None and p.until}
            near = None if gone else concerned(said, standing, known)
            if not draft.message.given and (pin := _beside(tag, said, gone, near)):
                at = pin.start, pin.end
                pins[at] = max(pin, pins.get(at, pin), key=lambda p: p.certainty)
        own = tuple(_dated(p, text, draft) for _, p in sorted(pins.items()))
        standing += _endable(own, text)
        tags.append(replace(tag, pins=own, ends=tuple(ends)))
    return tags, limited


def _compared(drafts: Sequence[_Draft], before: Sequence[Standing]) -> Iterator[str]:
    """The words of the pins that sentences of this batch may end."""
    pool = list(before)
    for draft in drafts:
        for said in draft.found.said:
            if pool and may_end(said):
                yield from (s.text for s in rivals(said, pool))
        pool += _endable(draft.found.tag.pins, draft.message.text)


def _endable(pins: Sequence[Pin], text: str) -> list[Standing]:
    return [Standing(pin=p, text=text[p.start : p.end]) for p in pins if p.certainty >= ENDABLE_FROM]


def _limit(tags: Sequence[Tag], limited: dict[Place, str]) -> tuple[Tag, ...]:
    return tuple(replace(t, pins=_limited_pins(t.pins, limited)) for t in tags)


def _relimited(number: int, messages: dict[int, Message], pins: Sequence[Pin], limited: dict[Place, str]) -> Iterator[Tag]:
    """New tags of earlier messages of session `number` whose pins are limited now; all else of them stays as it was."""
    for seq in sorted({p.seq for p in pins if _place(p) in limited and p.number == number}):
        message = messages[seq]
        if message.category is not None and message.retention is not None:
            yield Tag(
                number=number, seq=seq, category=message.category, retention=message.retention,
                pins=_limited_pins([p for p in pins if p.number == number and p.seq == seq], limited),
                ends=tuple(p for p in pins if p.ended_by == seq),
            )  # fmt: skip


def _limited_pins(pins: Sequence[Pin], limited: dict[Place, str]) -> tuple[Pin, ...]:
    return tuple(replace(p, until=limited.get(_place(p), p.until)) for p in pins)


def _place(pin: Pin) -> Place:
    return pin.number, pin.seq, pin.start, pin.end


def _beside(tag: Tag, said: Said, gone: Sequence[Pin], near: Standing | None) -> Pin | None:
    """The pin of what is said about pins, or None: words that may end one stand beside it as surely as it does; so does a
    withdrawal whose target is unclear; what says more than that a pin ends stands in its place, as surely as it stood."""
    if gone:
        certainty = max(RULE_FROM, *(p.certainty for p in gone)) if said.keep >= 0.1 else 0.0
    else:
        unclear = said.ending + said.keep * 0.5 if said.ending >= 0.4 else 0.0
        certainty = near.pin.certainty if near else unclear
    if not certainty:
        return None
    return Pin(
        number=tag.number, seq=tag.seq, start=said.start, end=said.end, kind=Category.CONSTRAINT, certainty=min(0.999, certainty)
    )


def _dated(pin: Pin, text: str, draft: _Draft) -> Pin:
    """The pin with the last day that its own words name."""
    if pin.given:
        return pin
    day = until(text[pin.start : pin.end], draft.message.at.date())
    return pin if day is None else replace(pin, until=day.isoformat())
