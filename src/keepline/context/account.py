"""The ledger of a finished build: every candidate, the rest of the log as ranges, and sections that sum exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from keepline.context.draft import SYSTEM_CODES, Draft, Laid
from keepline.context.layout import OUR_SUMMARY, OURS
from keepline.context.stages.pin import BEYOND
from keepline.values.context import Entry, Fate, Ledger, Section


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """The mode that ran and why: the rule's name, and the signals it looked at."""

    mode: str
    why: str
    signals: dict[str, float]


def account(draft: Draft, laid: Laid, choice: Choice) -> Ledger:
    """The account of `laid`. Holds ids and figures, never text."""
    budget = draft.call.budget
    notes = list(draft.notes)
    if budget.lowered:
        notes.append(f"the output reserve of {budget.reserve} left no input and was lowered to {budget.reserved}")
    if draft.log.cleared:
        notes.append(f"the context was begun anew at message {draft.log.cleared}: what was said before is not in it")
    if laid.repaired:
        ids = ", ".join(dict.fromkeys(draft.log.id(i) for i in laid.repaired if i >= 0))
        notes.append(f"broken tool pairs were repaired for this call: {ids}")
    entries = draft.entries + _sent(draft, laid) + _pins(draft, laid) + _rest(draft, laid)
    beyond = sum(e.count for e in entries if e.rule == BEYOND)
    if beyond:
        notes.append(f"{beyond} standing rules or facts did not fit their share of the budget")
    return Ledger(
        id="c" + draft.now.strftime("%Y%m%dT%H%M%S%f"),
        at=draft.now.isoformat(),
        session=draft.call.scope.session,
        mode=choice.mode,
        asked=draft.call.mode,
        why=choice.why,
        vocabulary=draft.meter.counter.name,
        exact=draft.meter.counter.exact,
        window=budget.window,
        reserve=budget.reserved,
        margin=budget.margin,
        limit=budget.limit,
        tokens=laid.tokens,
        sections=_sections(draft, laid),
        entries=entries,
        notes=tuple(notes),
        signals=choice.signals,
    )


def _sections(draft: Draft, laid: Laid) -> dict[str, int]:
    """Tokens by section. Our own message is split by the price of its lines; what is left of it is the frame."""
    total: dict[str, int] = {s.value: 0 for s in Section if s is not Section.OTHER}
    total[Section.TOOLS.value] = laid.tokens - sum(laid.costs)
    for section, cost, index in zip(laid.sections, laid.costs, laid.indices, strict=True):
        if index != OURS:
            total[section.value] += cost
            continue
        pins = min(cost, sum(p.tokens for p in (*draft.restated, *draft.filled)))
        recall = min(cost - pins, sum(p.tokens for p in draft.pieces))
        exact = min(cost - pins - recall, sum(k.tokens for k in draft.exact))
        total[Section.ENTITIES.value] += exact
        total[Section.PINS.value] += pins
        total[Section.RECALL.value] += recall
        total[Section.FRAME.value] += cost - pins - recall - exact
    return total


def _sent(draft: Draft, laid: Laid) -> tuple[Entry, ...]:
    """What is sent verbatim: instructions and this call's messages one by one, recent turns as ranges."""
    log = draft.log
    entries: list[Entry] = []
    recents: list[int] = []
    for index, section, cost in zip(laid.indices, laid.sections, laid.costs, strict=True):
        if index < 0 or (index in draft.cuts and section is Section.PENDING):
            continue
        if index in draft.cuts:
            rule = "a stale tool result" if index in draft.cleared else "too big for the window"
            entries.append(
                Entry(section=section, fate=Fate.SHORTENED, rule=rule, ids=(log.id(index),),
                      seqs=(index,), tokens=cost, back=log.back(index))
            )
        elif section is Section.RECENT:
            recents.append(index)
        else:
            rule = {Section.SYSTEM: "instructions are never dropped"}.get(section, "this call")
            rule = "newest rounds of the tool loop" if index in draft.rounds else rule
            entries.append(
                Entry(section=section, fate=Fate.KEPT, rule=rule, ids=(log.id(index),), seqs=(index,), tokens=cost)
            )
    mask = np.zeros(len(log), dtype=bool)
    mask[recents] = True
    return (*entries, *_ranges(draft, mask, Section.RECENT, Fate.KEPT, "all fits" if draft.whole else "recent turns"))


def _pins(draft: Draft, laid: Laid) -> tuple[Entry, ...]:
    restated = {id(p) for p in (*draft.restated, *draft.filled)}
    sent = set(laid.indices)
    entries: list[Entry] = []
    for p in draft.pins:
        if id(p) in restated:
            entries.append(p.entry)
        elif p.pin.seq in sent:
            entries.append(replace(p.entry, rule="stands in the window", tokens=0))
        else:
            entries.append(replace(p.entry, rule=BEYOND, fate=Fate.LEFT_OUT))
    return tuple(entries)


def _rest(draft: Draft, laid: Laid) -> tuple[Entry, ...]:
    """What of the log is not sent verbatim and not named by recall, as ranges."""
    log = draft.log
    mask = log.live & ~np.isin(log.role, SYSTEM_CODES)
    named = [i for i in laid.indices if i >= 0]
    named += [s for e in draft.entries if e.section is Section.RECALL for s in e.seqs]
    mask[named] = False
    if OUR_SUMMARY in laid.indices:
        for e in draft.entries:
            if e.fate is Fate.SUMMARISED:
                mask[e.seqs[0] : e.seqs[-1] + 1] = False
    older, lost = mask.copy(), mask
    older[log.current :] = False
    lost[: log.current] = False
    return _ranges(draft, older, Section.OTHER, Fate.LEFT_OUT, "older than the window") + _ranges(
        draft, lost, Section.PENDING, Fate.LEFT_OUT, "older rounds of the tool loop"
    )


def _ranges(draft: Draft, mask: NDArray[np.bool_], section: Section, fate: Fate, rule: str) -> tuple[Entry, ...]:
    """One entry a run of neighbouring indices in `mask` (n,)."""
    log = draft.log
    at = np.flatnonzero(mask)
    if not len(at):
        return ()
    entries = []
    for run in np.split(at, np.flatnonzero(np.diff(at) > 1) + 1):
        lo, hi = int(run[0]), int(run[-1])
        entries.append(
            Entry(section=section, fate=fate, rule=rule, ids=(log.id(lo), log.id(hi)), seqs=(lo, hi), count=len(run),
                  tokens=int(log.whole[run].sum()),
                  back=None if fate is Fate.KEPT else f"keepline list --after {lo - 1} --limit {len(run)}")
        )
    return tuple(entries)
