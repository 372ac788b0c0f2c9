"""The last cut, counted exactly: what gives way when prices and the whole text differ. By priority, never by position.

Order: the least recalled piece, then the last exact value, then the least sure candidate, then the lightest statements of the
summary, then the oldest turn of the window, then the pin ranked last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepline.context.draft import Draft
from keepline.context.layout import lay_out
from keepline.context.shorten import failed, shorten
from keepline.context.stages.clear import CLEARED
from keepline.context.stages.fill import without_last
from keepline.context.stages.pin import restate
from keepline.context.stages.recall import entry
from keepline.context.turns import must_send
from keepline.errors import BudgetTooSmall
from keepline.memory.tools import call_names
from keepline.ports.flow import Flow
from keepline.ports.view import Words
from keepline.values.context import Fate
from keepline.values.message import Message


def fit(draft: Draft) -> Flow[Draft]:
    """Read the words of what was chosen, count the result exactly, and drop until it is within the limit."""
    draft = yield from read(draft)
    while True:
        laid = lay_out(draft)
        over = laid.tokens - draft.room.limit
        if over <= 0:
            return draft.evolve(laid=laid)
        draft = _give_way(draft, over)


def _give_way(draft: Draft, over: int) -> Draft:
    if draft.pieces:
        gone, entries = list(draft.pieces), []
        freed = 0
        while gone and freed < over:
            piece = gone.pop()
            freed += piece.tokens
            entries.append(entry(piece, Fate.LEFT_OUT, "gave way: over the budget"))
        ids = {e.ids for e in entries}
        others = tuple(e for e in draft.entries if not (e.rule == "recalled" and e.ids in ids))
        return draft.evolve(pieces=tuple(gone), entries=(*others, *entries))
    if draft.exact:
        gone_entry = draft.exact[-1].entry
        return draft.evolve(exact=draft.exact[:-1], entries=tuple(e for e in draft.entries if e is not gone_entry))
    if draft.filled:
        return without_last(draft, over)
    if draft.summary:
        least = sorted(draft.summary, key=lambda k: (-k.statement.weight, -k.statement.sources[0]))
        freed = 0
        while least and freed < over:
            freed += least.pop().tokens
        return draft.evolve(summary=tuple(k for k in draft.summary if k in least))
    if draft.window < draft.log.current:
        starts = [int(s) for s in draft.log.starts if draft.window < s < draft.log.current]
        window = starts[0] if starts else draft.log.current
        return draft.evolve(window=window, restated=restate(draft, window)[0])
    if draft.restated:
        last = min(draft.restated, key=lambda p: (p.pin.given, p.pin.certainty, p.pin.seq))
        return draft.evolve(restated=tuple(p for p in draft.restated if p is not last))
    if draft.rounds:
        first = draft.rounds[0]
        rest = next((k for k, i in enumerate(draft.rounds) if k and draft.log.role[i] == draft.log.role[first]), None)
        return draft.evolve(rounds=draft.rounds[rest:] if rest else ())
    tokens: dict[str, int] = {"messages that must be sent": over + draft.room.limit}
    raise BudgetTooSmall(
        needed=over + draft.room.limit, limit=draft.room.limit, items=" + ".join(f"{k} {v}" for k, v in tokens.items()),
        claims=tokens,
    )


def read(draft: Draft) -> Flow[Draft]:
    """The messages of all that is sent verbatim, in `draft.texts` by index."""
    log = draft.log
    wanted = [i for i in range(draft.window, log.current) if log.live[i]] if draft.window < log.current else []
    wanted += [*log.system, *draft.rounds, *must_send(draft.log)]
    n = len(log.view)
    words = yield Words(log.view, tuple(sorted({i for i in wanted if i < n})))
    texts = {**words, **{n + k: m for k, m in enumerate(log.own)}}
    cuts = dict(draft.cuts)
    names: dict[str, str] = {}
    for i, message in sorted(texts.items()):
        names |= call_names(message) if message.calls else {}
        if i in draft.cleared and i not in cuts and (cut := _cleared(draft, message, names)) is not None:
            cuts[i] = cut
    return draft.evolve(texts=texts, cuts=cuts)


def _cleared(draft: Draft, message: Message, names: Mapping[str, str]) -> Message | None:
    """A stale tool result in short, remembered: as what it failed with, or its beginning and end."""
    if not message.only_answers:
        return None
    memo: dict[Any, Message | None] = draft.log.view.memo.setdefault("cleared", {})
    key = (message.seq, draft.meter.counter.name, draft.language)
    if message.seq < 0 or key not in memo:
        memo[key] = failed(message, names, draft.language) or shorten(message, CLEARED, draft.meter, draft.language)
    return memo[key]

