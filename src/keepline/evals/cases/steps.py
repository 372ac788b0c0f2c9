"""The steps of cases, each by the verb of the engine that a user would call. Judges nothing; what cannot be done is in `support`.

Stand-ins of verbs that come later are as near as today's verbs allow: `add` of a sentence as it is appends it to a session of
notes under an id made of its words; `compact` to the last messages keeps what a build of so many keeps, beside their summary.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from keepline.context.render import CLOSE, OPEN
from keepline.errors import BadMessage
from keepline.evals.cases.processes import kill_writers
from keepline.evals.cases.results import Item, Result, items_of
from keepline.evals.cases.standins import stand_in
from keepline.evals.cases.world import NOTES, World
from keepline.values.budget import Budget
from keepline.values.context import Context
from keepline.values.message import canonical
from keepline.values.text import safe_cut

Given = Mapping[str, Any]
Step = Callable[[World, Given], Result | None]


# ---------------------------------------------------------------- contexts and counts


def build_context(world: World, s: Given) -> Result:
    started = time.monotonic()
    messages = world.latest()[s["from"]].messages if "from" in s else s.get("messages", ())
    session, user = s.get("session_id"), _user(world, s)
    reserve = s.get("reserve_output", 0)
    asked = Budget(
        window=_window(world, s, messages, user, session), reserve=reserve, margin=0, max_messages=s.get("max_messages")
    )
    context = world.engine.context(messages or (), budget=asked, user=user, session=session)
    took = (time.monotonic() - started) * 1000
    if took > s.get("time_limit_ms", took):
        raise BadMessage(where="build_context", why=f"it took {took:.0f} ms, {s['time_limit_ms']} are allowed")
    return _built(world, context, s["op"], limit=asked.window - reserve)


def _window(world: World, s: Given, messages: Any, user: str, session: str | None) -> int:
    budget = s.get("budget", world.engine.settings.window)
    if isinstance(budget, int):
        return budget
    bodies = [m.body for m in world.messages(user, session)] if session else []
    full = _count(world, [*bodies, *(messages or ())])
    return int(full * budget["fraction_of_full"])


def _count(world: World, messages: Any) -> int:
    return world.counter.call(None, None) + sum(world.counter.message(m) for m in messages)


def _built(world: World, context: Context, op: str, limit: int) -> Result:
    return Result(
        op=op, messages=tuple(context.to_openai()), limit=limit, tokens=context.tokens,
        recount=_count(world, context.messages), report=context.ledger.to_dict(),
    )


def compact(world: World, s: Given) -> Result:
    """Summarise all there is, of a session or of the messages given; with `keep_last_messages` keep so many of these."""
    user = _user(world, s)
    session = s.get("session_id", "default")
    if s.get("messages"):
        session = world.engine.sync(s["messages"], user=user).session
    world.engine.settle(summarise=True, user=user, session=session)
    made = world.engine.summaries(user=user, session=session)
    summary = "\n".join(t.text for segment in made for t in segment.statements)
    report = {"dropped": {segment.id: dict(segment.dropped) for segment in made}}
    if "keep_last_messages" not in s:
        return Result(op=s["op"], summary=summary, report=report)
    budget = Budget(window=world.engine.settings.window, reserve=0, margin=0, max_messages=s["keep_last_messages"])
    context = world.engine.context(s["messages"], budget=budget, user=user)
    return replace(_built(world, context, s["op"], limit=budget.window), summary=summary)


def compact_and_build(world: World, s: Given) -> Result:
    """Summarise the messages given but for the last, then build for it."""
    *earlier, last = s["messages"]
    user = _user(world, s)
    session = world.engine.sync(earlier, user=user).session
    world.engine.settle(summarise=True, user=user, session=session)
    asked = Budget(window=_window(world, s, s["messages"], user, None), reserve=s.get("reserve_output", 0), margin=0)
    context = world.engine.context([last], budget=asked, user=user, session=session)
    return _built(world, context, s["op"], limit=asked.limit)


def count_tokens(world: World, s: Given) -> Result:
    if "text" in s:
        return Result(op=s["op"], number=world.counter.text(s["text"]))
    return Result(op=s["op"], number=sum(world.counter.message(m) for m in s["messages"]))


def truncate_text(_world: World, s: Given) -> Result:
    return Result(op=s["op"], given=s["text"], text=s["text"][: safe_cut(s["text"], s["max_chars"])])


def introspect_markers(_world: World, s: Given) -> Result:
    return Result(op=s["op"], lines=(OPEN, CLOSE))


# ---------------------------------------------------------------- writing


def append(world: World, s: Given) -> Result:
    stored = world.engine.append(
        s["messages"], ts=s.get("timestamp"), user=_user(world, s), session=s.get("session_id", "default")
    )
    return Result(op=s["op"], items=items_of(stored))


def add(world: World, s: Given) -> Result:
    user, messages = _user(world, s), s["messages"]
    if s.get("memory") == "off":  # a call without a session: nothing is read of the user, nothing kept
        context = world.engine.context(messages, budget=world.engine.settings.window, user=user)
        return _built(world, context, s["op"], limit=world.engine.settings.window)
    session = s.get("session_id", NOTES)
    ids = [_note_id(session, m) for m in messages]
    stored = world.engine.append(messages, msg_id=ids, ts=s.get("timestamp"), user=user, session=session)
    return Result(op=s["op"], items=items_of(stored))


def _note_id(session: str, message: Mapping[str, Any]) -> str:
    """The same words in the same place have the same id, in any process."""
    return "n" + hashlib.blake2b(session.encode() + b"\0" + canonical(message), digest_size=12).hexdigest()


def import_(world: World, s: Given) -> Result:
    if "from_inline" in s:
        world.imports = [json.dumps(c, ensure_ascii=False) for c in s["from_inline"]]
    elif "from" in s:
        world.imports = list(world.latest()[s["from"]].lines)
    came = world.engine.import_lines(world.imports, name="the case", skip_bad=True, user=_user(world, s))
    return Result(op=s["op"], report=asdict(came))


def delete(world: World, s: Given) -> Result:
    user = _user(world, s)
    ids = [s["memory_id"]] if "memory_id" in s else [m.id for m in world.messages(user) if s["match"] in m.text]
    return Result(op=s["op"], report={"removed": world.engine.forget(ids, user=user)})


def delete_all(world: World, s: Given) -> Result:
    return Result(op=s["op"], report={"removed": world.engine.forget(user=_named(world, s))})


def delete_session(world: World, s: Given) -> Result:
    return Result(op=s["op"], report={"removed": world.engine.forget(user=_user(world, s), session=s["session_id"])})


def forget(world: World, s: Given) -> Result:
    ids = s.get("memory_ids")
    session = None if ids else s.get("session_id")
    return Result(op=s["op"], report={"removed": world.engine.forget(ids, user=_named(world, s), session=session)})


# ---------------------------------------------------------------- reading


def search(world: World, s: Given) -> Result:
    hits = world.engine.search(s["query"], k=s.get("top_k", 10), user=_named(world, s), session=s.get("session_id"))
    report = {"degraded": world.engine.desk.degraded}
    return Result(op=s["op"], items=items_of([h.message for h in hits]), query=s["query"], report=report)


def get(world: World, s: Given) -> Result:
    return Result(op=s["op"], items=items_of([world.engine.get(s["memory_id"], user=_user(world, s))]))


def get_all(world: World, s: Given) -> Result:
    return Result(op=s["op"], items=items_of(world.messages(_user(world, s))))


def list_messages(world: World, s: Given) -> Result:
    found = world.messages(_user(world, s), s.get("session_id"))
    return Result(
        op=s["op"], messages=tuple(m.to_dict() for m in found if not m.erased), report={"count": len(found)}
    )


def list_constraints(world: World, s: Given) -> Result:
    user = _user(world, s)
    pins = [
        p for session in world.engine.sessions(user=user) for p in world.engine.pins(user=user, session=session.name)
        if p.ended_by is None
    ]
    return Result(
        op=s["op"], items=tuple(Item(text=p.text, id=p.id, source=world.engine.get(p.id, user=user).text) for p in pins)
    )


def status(world: World, s: Given) -> Result:
    shown = [world.engine.status(user=user) for user in world.users]
    pending = sum(max(found.behind.values(), default=0) for found in shown)
    notes = tuple(n for found in shown for n in found.notes)
    return Result(op=s["op"], report={"pending": pending, "messages": sum(f.messages for f in shown), "notes": notes})


def store_scan(world: World, s: Given) -> Result:
    found = [
        f"{needle} in {file.name}"
        for file in world.files() for data in [file.read_bytes()] for needle in s["needles"] if needle.encode() in data
    ]
    return Result(op=s["op"], lines=tuple(found))


def llm_request_log(world: World, s: Given) -> Result:
    return Result(op=s["op"], lines=tuple(world.llm.requests))


# ---------------------------------------------------------------- life of the store, stand-ins, time


def reopen(world: World, _s: Given) -> None:
    world.reopen()


def kill_during_write(world: World, s: Given) -> None:
    lost = kill_writers(world, times=s.get("times", 1))
    world.users.setdefault("default")
    world.engine.verify(user="default")
    if lost:
        raise BadMessage(where="kill_during_write", why=f"{lost} acknowledged messages are gone")


def retry_pending(world: World, _s: Given) -> None:
    for user in world.users:
        world.engine.settle(user=user)


def set_fake_embedder(world: World, s: Given) -> None:
    world.use(stand_in(s, world.usual))


def set_fake_llm(world: World, s: Given) -> None:
    world.llm.limit = s.get("max_input_tokens", world.llm.limit)
    world.llm.down = s.get("mode") == "down"


def nothing(_world: World, _s: Given) -> None:
    """For steps that a check looks after."""


def wait(_world: World, s: Given) -> None:
    time.sleep(s["ms"] / 1000 if "ms" in s else s.get("s", s.get("seconds", 0)))


# ---------------------------------------------------------------- who


def _user(world: World, s: Given) -> str:
    user = str(s.get("user_id", "default"))
    world.users.setdefault(user)
    return user


def _named(world: World, s: Given) -> str:
    """The user of a step that must name one: as an argument or a filter; else nobody, and the engine refuses."""
    user = s.get("user_id") or s.get("filters", {}).get("user_id") or ""
    if user:
        world.users.setdefault(user)
    return user


def set_time(world: World, s: Given) -> None:
    """Let the clock show the step's `now`, if it has one."""
    if "now" in s:
        world.clock.set(datetime.fromisoformat(s["now"]))


STEPS: dict[str, Step] = {
    **{f.__name__: f for f in (
        build_context, compact, compact_and_build, count_tokens, truncate_text, introspect_markers, append, add, delete,
        delete_all, delete_session, forget, search, get, get_all, list_messages, list_constraints, status, store_scan,
        llm_request_log, reopen, kill_during_write, retry_pending, set_fake_embedder, set_fake_llm,
    )},
    "import": import_, "import_again": import_, "restart_process": reopen,
    "compare_input_unchanged": nothing, "sleep_s": wait, "wait_ms": wait,
}  # fmt: skip
"""A step's function by its `op`; loops are in `play`."""
