"""Exact values that the question asks for: orders, amounts, dates, people … named before the window, from the entity table.

What the question itself names is looked up by its value; what it asks for by a word ("which order", 多少钱) brings the newest of
that kind, in spare room only. Asks no model and compares no vectors.
"""

from __future__ import annotations

import re

from keepline.context.draft import Draft, Exact
from keepline.context.render import day_of, exact_line
from keepline.context.stages.recall import question, used
from keepline.memory.naming import entity_of, key_of, keys_in
from keepline.memory.text.plain import plain
from keepline.ports.derived import GetDerived
from keepline.ports.flow import Flow
from keepline.ports.store import Read
from keepline.values.context import Entry, Fate, Section
from keepline.values.entity import Entity, Kind
from keepline.values.session import ENTITIES, Span

MOST_TOKENS, SHARE = 300, 0.05
"""What lines about the question's own values take at most: tokens, and of the limit."""
NEWEST, REACH = 4, 400
"""Of a kind that the question asks for by a word, so many, among so many messages before the window."""
ASKED: dict[Kind, re.Pattern[str]] = {
    Kind.ORDER: re.compile(
        r"\b(?:order|booking|invoice|ticket|reservation|confirmation|parcel|tracking)\b|订单|单号|工单|发票|预订|快递"
    ),
    Kind.AMOUNT: re.compile(
        r"\bhow much\b|\b(?:price|cost|amount|deposit|refund|fee|rent)\b|多少钱|金额|价格|费用|押金|退款|房租|报价"
    ),
    Kind.DATE: re.compile(r"\b(?:which day|what date|what day|deadline)\b|哪天|几号|什么时候|日期|截止"),
    Kind.TIME: re.compile(r"\bwhat time\b|几点"),
    Kind.PERSON: re.compile(r"\b(?:who|whom)\b|谁|哪位|联系人"),
    Kind.ORGANISATION: re.compile(r"\bwhich (?:company|bank|hospital|firm|airline|school)\b|哪家|什么公司|哪个银行"),
    Kind.PLACE: re.compile(r"\b(?:address|where)\b|地址|哪里|哪儿"),
    Kind.PHONE: re.compile(r"\bphone\b|\bnumber to call\b|电话|手机号"),
    Kind.EMAIL: re.compile(r"\be-?mail address\b|\bwhich e-?mail\b|邮箱"),
    Kind.ID: re.compile(
        r"\b(?:member\w*|passport|policy|account|serial|customer) (?:number|no|id)\b|会员号|保单|账号|序列号|护照|证件|编号"
    ),
    Kind.PLATE: re.compile(r"\b(?:plate|registration)\b|车牌"),
    Kind.VERSION: re.compile(r"\bversion\b|版本"),
}


def exact(draft: Draft) -> Flow[Draft]:
    """Put lines in `draft.exact`: first what the question names, then what it asks for, as room allows."""
    log = draft.log
    session = log.view.session
    before = min(draft.window, len(log.view), log.current)
    if session is None or not before:
        return draft
    asked = draft.call.query or (yield from question(draft))
    keys = keys_in(asked, draft.now.date())
    kinds = [kind for kind, pattern in ASKED.items() if pattern.search(plain(asked))]
    if not keys and not kinds:
        return draft
    scope, spans = draft.call.scope, session.upto(before)
    near = tuple(Span(number=s.number, lo=max(s.lo, before - REACH), hi=s.hi) for s in spans if s.hi > before - REACH)
    needs = [GetDerived(scope, ENTITIES, spans=spans, keys=keys, limit=4 * NEWEST)] if keys else []
    needs += [GetDerived(scope, ENTITIES, spans=near, prefix=key_of(kind), limit=NEWEST) for kind in kinds]
    found = yield Read(tuple(needs))
    named = [entity_of(row) for row in found[0]] if keys else []
    wanted = [e for rows in found[bool(keys) :] for e in sorted(map(entity_of, rows), key=lambda e: -e.seq)[:NEWEST]]
    spare = draft.room.aim - used(draft) - sum(p.tokens for p in draft.pieces) - sum(p.tokens for p in draft.filled)
    own = min(MOST_TOKENS, int(draft.room.limit * SHARE))
    lines = _lines(draft, named, before, max(own, spare))
    lines += _lines(draft, wanted, before, spare - sum(k.tokens for k in lines), (*lines,))
    return draft.evolve(exact=tuple(lines), entries=draft.noted(*(k.entry for k in lines)))


def _lines(draft: Draft, found: list[Entity], before: int, room: int, others: tuple[Exact, ...] = ()) -> list[Exact]:
    """The lines of entities that nothing else of this context shows, newest first, within `room` tokens."""
    shown = "\n".join(
        [*(p.line for p in (*draft.restated, *draft.filled)), *(p.line for p in draft.pieces), *(k.line for k in draft.summary)]
    )
    said = {(k.kind, k.value) for k in others}
    kept: list[Exact] = []
    for e in sorted(found, key=lambda e: -e.seq):
        if e.seq >= before or (e.kind, e.value) in said or e.surface in shown or not draft.log.held[e.seq]:
            continue
        said.add((e.kind, e.value))
        line = exact_line(e, day_of(draft.log.at(e.seq), draft.plan.zone), draft.language)
        tokens = draft.meter.line(line)
        if tokens > room:
            break
        room -= tokens
        entry = Entry(
            section=Section.ENTITIES, fate=Fate.KEPT, rule=f"a named {e.kind}", ids=(e.id,), seqs=(e.seq,), tokens=tokens,
            back=f"keepline get {e.id}",
        )  # fmt: skip
        kept.append(Exact(kind=e.kind, value=e.value, line=line, tokens=tokens, entry=entry))
    return kept
