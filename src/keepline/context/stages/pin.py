"""Standing rules and lasting facts that no mode may drop: found, priced and ranked. Where they stand is decided later.

A pin is a sentence of the user or the operator, said earlier and not ended since. Ranking: what the caller gave, then by
certainty, then the newer one.
"""

from __future__ import annotations

from keepline.context.draft import Draft, Priced
from keepline.context.render import day_of, pin_line
from keepline.ports.flow import Flow
from keepline.ports.view import Words
from keepline.values.context import Entry, Fate, Section
from keepline.values.message import Message
from keepline.values.tag import Pin

LEAST_TOKENS_A_CHARACTER = 0.12
"""No sentence of a person costs less (English runs at .2 and more): bounds how many candidates are read."""
LEAST_TOKENS_A_LINE = 5
"""Its dash, its id and its line break."""
LEAST_TOKENS_A_DOUBT = 24
"""Candidates are read for a window of this many tokens each: more could never be shown."""
BEYOND = "beyond the share of pins"
"""The rule of pins that did not fit; notes and status look for it."""


def pin(draft: Draft) -> Flow[Draft]:
    """Put the standing pins in `draft.pins`, best first, and the ended ones in the ledger."""
    if not draft.call.pins:
        return draft.evolve(notes=(*draft.notes, "pins were left out on request"))
    log, today = draft.log, _today(draft)
    entries = [
        _ended(draft, p, "ended by a later message", by=_id(draft, p.ended_by or 0))
        for p in log.view.ended if p.seq < log.current
    ]
    candidates: list[Pin] = []
    doubtful: list[Pin] = []
    reach = 0.0
    beyond = 0
    for p in log.view.standing:
        if p.seq >= log.current or not log.live[p.seq]:
            continue
        if p.until is not None and p.until < today:
            entries.append(_ended(draft, p, f"ended by its own words, until {p.until}"))
        elif not p.stands:
            doubtful.append(p)
        elif reach > draft.room.pins_certain:
            beyond += 1
        else:
            reach += (p.end - p.start) * LEAST_TOKENS_A_CHARACTER + LEAST_TOKENS_A_LINE
            candidates.append(p)
    if beyond:
        entries.append(Entry(section=Section.PINS, fate=Fate.LEFT_OUT, rule=BEYOND, count=beyond, back="keepline list --pins"))
    doubtful = doubtful[: draft.room.limit // LEAST_TOKENS_A_DOUBT]
    words = yield Words(log.view, tuple(sorted({p.seq for p in (*candidates, *doubtful)})))
    said: set[str] = set()
    priced = [line for p in candidates if (line := _priced(draft, p, words[p.seq], said, entries))]
    maybe = [line for p in doubtful if (line := _priced(draft, p, words[p.seq], said, []))]
    return draft.evolve(pins=tuple(priced), candidates=tuple(maybe), entries=draft.noted(*entries))


def _priced(draft: Draft, p: Pin, message: Message, said: set[str], entries: list[Entry]) -> Priced | None:
    """The pin with its line's cost; None when the same was said already."""
    text = " ".join(message.text[p.start : p.end].split())
    if not text or text.casefold() in said:
        entries.append(_ended(draft, p, "said again elsewhere"))
        return None
    said.add(text.casefold())
    line = draft.meter.line(pin_line(message.id, text))
    return Priced(pin=p, text=text, id=message.id, day=day_of(message.at, draft.plan.zone), tokens=line)


def restate(draft: Draft, window: int) -> tuple[tuple[Priced, ...], tuple[Priced, ...], int]:
    """Which pins need a line when the verbatim window begins at index `window` → (restated, beyond the share, tokens).

    A pin whose own message is in the window is not said twice. Pins fill up to `room.pins` tokens; given or certain ones
    (≥ .9) up to `room.pins_certain`. Tokens include the stamps, one a day.
    """
    kept: list[Priced] = []
    beyond: list[Priced] = []
    days: set[str] = set()
    spent = 0
    for p in draft.pins:
        if p.pin.seq >= window:
            continue
        cap = draft.room.pins_certain if p.pin.given or p.pin.certainty >= 0.9 else draft.room.pins
        cost = p.tokens + (0 if p.day in days else STAMP_TOKENS)
        if spent + cost > cap:
            beyond.append(p)
            continue
        days.add(p.day)
        spent += cost
        kept.append(p)
    return tuple(kept), tuple(beyond), spent


STAMP_TOKENS = 20
"""What the stamp of a day is priced at when pins are chosen; the whole text is counted exactly before it is sent."""


def _ended(draft: Draft, p: Pin, rule: str, by: str | None = None) -> Entry:
    return Entry(
        section=Section.PINS, fate=Fate.LEFT_OUT, rule=rule, ids=(_id(draft, p.seq),), seqs=(p.seq,), by=by,
        back=f"keepline get {_id(draft, p.seq)}",
    )


def _id(draft: Draft, seq: int) -> str:
    return draft.log.id(seq) if seq < len(draft.log) else f"seq {seq}"


def _today(draft: Draft) -> str:
    own = draft.call.messages
    return day_of(own[-1].at, draft.plan.zone) if own else day_of(draft.now, draft.plan.zone)
