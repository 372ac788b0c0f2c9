"""The path of a build: look, choose a mode, run its stages, lay out, account. A pure function of the log and the call."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from keepline.context.account import Choice, account
from keepline.context.allot import allot
from keepline.context.choose import choose
from keepline.context.count import Meter, counted
from keepline.context.draft import Call, Draft, Laid, Log, Plan, Room
from keepline.context.layout import lay_out
from keepline.context.modes import MODES, Mode, named
from keepline.context.stages.fit import read
from keepline.context.tools import choose_tools
from keepline.context.turns import join, must_send
from keepline.context.words import language
from keepline.errors import BadMessage
from keepline.ports.flow import Flow
from keepline.ports.view import Words
from keepline.values.context import Context
from keepline.values.session import ENTITIES, TAGS


def build(call: Call, plan: Plan, meter: Meter, now: datetime) -> Flow[Context]:
    """The messages to send for `call`, with their ledger.

    Where all fits the soft limit and nothing must give way, the caller's messages come back unchanged and in order.
    Raises `BudgetTooSmall`, `Oversize`, `BadChoice`, or `BadMessage` when there is nothing to send.
    """
    named(call.mode)
    own = [meter.message(m.body) for m in call.messages]
    log = join((yield from counted(call.scope, meter, tagged=False)), call.messages, own)
    tools, gone = yield from choose_tools(call, log)
    call = replace(call, tools=tools)
    draft = (yield from _draft(call, plan, meter, now, log)).evolve(entries=gone)
    if _all_fits(draft):
        choice = Choice(mode="full", why="everything fits", signals={})
        whole = draft.evolve(whole=True, window=_first(log), rounds=_rest_of_turn(log, draft), mode="full")
        whole = yield from read(whole)
        laid = lay_out(whole)
        if laid.tokens <= draft.room.limit:
            return _context(whole, laid, choice)
    if log.view.behind.get(TAGS) or log.view.behind.get(ENTITIES):
        log = join((yield from counted(call.scope, meter, tagged=True)), call.messages, own)
        draft = (yield from _draft(call, plan, meter, now, log)).evolve(entries=gone)
    if call.mode == "auto":
        choice = yield from choose(log, plan, call.budget.window)
    else:
        choice = Choice(mode=call.mode, why="asked for", signals={})
    mode = MODES[choice.mode]
    draft = draft.evolve(mode=choice.mode, room=_room(draft, mode))
    for stage in mode.stages:
        draft = yield from stage(draft)
    assert draft.laid is not None, "the last stage of every mode is fit"
    return _context(draft, draft.laid, choice)


def _draft(call: Call, plan: Plan, meter: Meter, now: datetime, log: Log) -> Flow[Draft]:
    """A draft with nothing chosen, in the conversation's language."""
    if not log.live.any():
        raise BadMessage(where="messages", why="there is nothing to send: the log is empty and no message was given")
    spoken = plan.language or (yield from _language(log))
    room = allot(call.budget, plan, fixed=0, pending=0)
    draft = Draft(call=call, plan=plan, log=log, meter=meter, room=room, now=now, language=spoken)
    return draft.evolve(room=_room(draft, MODES["full"]))


def _room(draft: Draft, mode: Mode) -> Room:
    log, call = draft.log, draft.call
    fixed = draft.meter.counter.call(call.tools, call.response_format) + int(log.tokens[list(log.system)].sum())
    pending = int(log.tokens[list(must_send(draft.log))].sum())
    return allot(
        call.budget, draft.plan, fixed=fixed, pending=pending, recent_share=mode.recent_share, summary_share=mode.summary_share
    )


def _all_fits(draft: Draft) -> bool:
    log, most = draft.log, draft.call.budget.max_messages
    fixed = draft.meter.counter.call(draft.call.tools, draft.call.response_format)
    if most is not None and int(log.live.sum()) - len(log.system) > most:
        return False
    if log.held[: log.cleared].any():  # what was said before a reset is not sent, but its rules hold
        return False
    ceiling = draft.room.limit if draft.call.mode == "full" else draft.room.aim
    return fixed + int(log.tokens.sum()) <= ceiling


def _first(log: Log) -> int:
    return int(log.starts[0]) if len(log.starts) else log.current


def _rest_of_turn(log: Log, draft: Draft) -> tuple[int, ...]:
    must = set(must_send(draft.log))
    return tuple(i for i in range(log.current, len(log)) if log.live[i] and i not in must and i not in log.system)


def _language(log: Log) -> Flow[str]:
    """The language of the current question; of the question before it when it has no letters."""
    n = len(log.view)
    spoken = ""
    for start in reversed([*log.starts[-3:]]):
        i = int(start)
        message = log.own[i - n] if i >= n else (yield Words(log.view, (i,)))[i]
        spoken = language(message.text, "")
        if spoken:
            break
    return spoken or "en"


def _context(draft: Draft, laid: Laid, choice: Choice) -> Context:
    return Context(
        messages=laid.bodies, ledger=account(draft, laid, choice), parts=laid.sections, costs=laid.costs,
        ids=tuple(draft.log.id(i) if i >= 0 else "" for i in laid.indices),
        tools=None if draft.call.tools is None else tuple(draft.call.tools),
    )
