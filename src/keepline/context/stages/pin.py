"""Standing rules and lasting facts that no mode may drop: found, priced and ranked. Where they stand is decided later.

A pin is a sentence of the user or the operator, said earlier and not ended since. Ranking: what the caller gave, then by
certainty, then the newer one.
"""

from __future__ import annotations

from keepline.context.draft import Draft, Priced
from keepline.context.render import day_of, folded, pin_line
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
LIKELY, LIKELY_SHARE = 0.1, 0.15
"""From which certainty on a candidate has a claim of its own, and the share of the limit that such may take from the window
of recent turns and from recall."""
ENDED = "ended by a later message"
ENDED_SHOWN = 50
"""Ended pins that the ledger names one by one."""
BEYOND = "beyond the share of pins"
"""The rule of pins that did not fit; notes and status look for it."""


def pin(draft: Draft) -> Flow[Draft]:
    """Put the standing pins in `draft.pins`, best first, and the ended ones in the ledger."""
    if not draft.call.pins:
        return draft.evolve(notes=(*draft.notes, "pins were left out on request"))
    log, entries = draft.log, _ended_earlier(draft)
    sure = log.view.standing[: log.view.sure]
    candidates: list[Pin] = []
    reach = 0.0
    for n, p in enumerate(sure):
        if reach > draft.room.pins_certain:
            beyond = len(sure) - n
            entries.append(
                Entry(section=Section.PINS, fate=Fate.LEFT_OUT, rule=BEYOND, count=beyond, back="keepline list --pins")
            )
            break
        if _holds(draft, p, entries):
            reach += (p.end - p.start) * LEAST_TOKENS_A_CHARACTER + LEAST_TOKENS_A_LINE
            candidates.append(p)
    doubtful = log.view.standing[log.view.sure : log.view.sure + draft.room.limit // LEAST_TOKENS_A_DOUBT]
    maybe = [p for p in doubtful if _holds(draft, p, entries)]
    prices = yield from _prices(draft, [*candidates, *maybe])
    said: set[str] = set()
    pins = _once(candidates, prices, said)
    if len(pins) < len(candidates):
        again = len(candidates) - len(pins)
        entries.append(Entry(section=Section.PINS, fate=Fate.LEFT_OUT, rule="said again elsewhere", count=again,
                             back="keepline list --pins"))
    return draft.evolve(pins=pins, candidates=_once(maybe, prices, said), entries=draft.noted(*entries), lines={})


def _ended_earlier(draft: Draft) -> list[Entry]:
    """The pins that later messages ended: the newest by name, the others as one line."""
    ended = [p for p in draft.log.view.ended if p.seq < draft.log.current and p.stands]
    entries = [_left_out(draft, p, ENDED, by=_id(draft, p.ended_by or 0)) for p in ended[-ENDED_SHOWN:]]
    if len(ended) > ENDED_SHOWN:
        others = len(ended) - ENDED_SHOWN
        entries.append(Entry(section=Section.PINS, fate=Fate.LEFT_OUT, rule=ENDED, count=others, back="keepline list --pins"))
    return entries


def _holds(draft: Draft, p: Pin, entries: list[Entry]) -> bool:
    """Whether the pin was said before this call and its own words do not end it."""
    if p.seq >= draft.log.current or not draft.log.held[p.seq]:
        return False
    if p.until is not None and p.until < _today(draft):
        entries.append(_left_out(draft, p, f"ended by its own words, until {p.until}"))
        return False
    return True


def _prices(draft: Draft, pins: list[Pin]) -> Flow[dict[int, Priced]]:
    """The pins, by identity, with their words and what their lines cost; what an earlier call priced is not read again."""
    memo: dict[int, Priced] = draft.log.view.memo.setdefault((draft.meter.counter.name, draft.plan.zone), {})
    missing = [p for p in pins if id(p) not in memo or memo[id(p)].pin is not p]
    if missing:
        words = yield Words(draft.log.view, tuple(sorted({p.seq for p in missing})))
        for p in missing:
            message: Message = words[p.seq]
            text = " ".join(message.text[p.start : p.end].split())
            line = pin_line(message.id, text)
            tokens, day = draft.meter.line(line), day_of(message.at, draft.plan.zone)
            memo[id(p)] = Priced(pin=p, line=line, id=message.id, day=day, tokens=tokens, key=folded(text),
                                 entry=_kept(p, message.id, tokens))
    return memo


def _kept(p: Pin, id: str, tokens: int) -> Entry:
    rule = "given by the caller" if p.given else f"standing {p.kind.value}" if p.stands else "may be a rule: spare room"
    return Entry(
        section=Section.PINS, fate=Fate.KEPT, rule=rule, ids=(id,), seqs=(p.seq,), tokens=tokens, back=f"keepline get {id}",
        scores={"certainty": round(p.certainty, 3)},
    )


def _once(pins: list[Pin], prices: dict[int, Priced], said: set[str]) -> tuple[Priced, ...]:
    """The priced pins whose words are not in `said` yet; they are added to it."""
    kept: list[Priced] = []
    for p in pins:
        priced = prices[id(p)]
        if priced.key and priced.key not in said:
            said.add(priced.key)
            kept.append(priced)
    return tuple(kept)


def restate(draft: Draft, window: int) -> tuple[tuple[Priced, ...], tuple[Priced, ...], int]:
    """Which pins need a line when the verbatim window begins at index `window` → (restated, beyond the share, tokens).

    A pin whose own message is in the window is not said twice. Pins fill up to `room.pins` tokens; given or certain ones
    (≥ .9) up to `room.pins_certain`. Tokens include the stamps, one a day.
    """
    if window in draft.lines:
        return draft.lines[window]
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
    draft.lines[window] = tuple(kept), tuple(beyond), spent
    return draft.lines[window]


def likely(draft: Draft) -> int:
    """What pins beyond their share and the likelier candidates take, in tokens, at most `LIKELY_SHARE` of the limit: they are
    worth more than the oldest turn of the window."""
    beyond = restate(draft, draft.log.current)[1]
    wanted = sum(p.tokens for p in (*beyond, *draft.candidates) if p.pin.certainty >= LIKELY)
    return min(wanted, int(draft.room.limit * LIKELY_SHARE))


STAMP_TOKENS = 20
"""What the stamp of a day is priced at when pins are chosen; the whole text is counted exactly before it is sent."""


def _left_out(draft: Draft, p: Pin, rule: str, by: str | None = None) -> Entry:
    return Entry(
        section=Section.PINS, fate=Fate.LEFT_OUT, rule=rule, ids=(_id(draft, p.seq),), seqs=(p.seq,), by=by,
        back=f"keepline get {_id(draft, p.seq)}",
    )


def _id(draft: Draft, seq: int) -> str:
    return draft.log.id(seq) if seq < len(draft.log) else f"seq {seq}"


def _today(draft: Draft) -> str:
    own = draft.call.messages
    return day_of(own[-1].at, draft.plan.zone) if own else day_of(draft.now, draft.plan.zone)
