"""A session's life: contexts begun anew and taken back, forks, checkpoints across processes, an end, no trace."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from making import ANN, NOW, assistant, everything, make, said, talk, texts, user

from keepline.engine import AsyncEngine, Engine
from keepline.errors import BadChoice, BadMessage, NotFound
from keepline.testing.fakes import FrozenClock
from keepline.values.budget import Budget

TIGHT = Budget(window=500, reserve=0)
RULE = user("Never book the Grand Hotel.")


def begun(engine: Engine) -> None:
    engine.append(RULE, category="constraint", **ANN)
    engine.append([user("the zeppelin leaves at noon"), assistant("ok"), *talk(3)], **ANN)


@pytest.mark.req("LIFE-01")
@pytest.mark.parametrize("mode", ["full", "sliding", "summary", "retrieval", "hybrid", "auto"])
def test_after_a_reset_nothing_said_before_enters_but_the_rules_hold(engine: Engine, mode: str) -> None:
    begun(engine)
    done = engine.reset(**ANN)
    assert done.cleared == 9
    engine.append([user("new topic"), assistant("go on")], **ANN)
    context = engine.context([user("so?")], budget=9_000, mode=mode, **ANN)
    verbatim = [m["content"] for m, id in zip(context.messages, context.ids, strict=True) if id]
    assert verbatim == ["new topic", "go on", "so?"]
    assert "Grand Hotel" in said(context)
    assert any("begun anew" in n for n in context.ledger.notes)
    assert len(engine.list(**ANN)) == 11  # the log has it all


@pytest.mark.req("LIFE-01")
def test_memory_may_go_too_and_undo_takes_each_reset_back(engine: Engine) -> None:
    begun(engine)
    engine.reset(**ANN)
    engine.append(talk(30), **ANN)
    asked = [user("when does the zeppelin leave")]
    kept = engine.context(asked, budget=TIGHT, mode="retrieval", **ANN)
    assert "zeppelin leaves at noon" in said(kept)
    engine.reset(memory="drop", **ANN)
    engine.append([user("hm"), assistant("yes")], **ANN)
    gone = engine.context(asked, budget=TIGHT, mode="retrieval", **ANN)
    assert "noon" not in said(gone)
    assert "Grand Hotel" not in said(gone)
    assert engine.undo(**ANN).cleared == 9
    assert "Grand Hotel" in said(engine.context(asked, budget=TIGHT, mode="retrieval", **ANN))
    assert engine.undo(**ANN).cleared == 0
    assert "Never book" in said(engine.context([user("so?")], budget=99_000, mode="full", **ANN))
    with pytest.raises(NotFound, match="reset"):
        engine.undo(**ANN)
    with pytest.raises(BadChoice, match="drop"):
        engine.reset(memory="burn", **ANN)
    with pytest.raises(NotFound):
        engine.reset(user="ann", session="none")


@pytest.mark.req("LIFE-02")
def test_a_fork_shares_its_beginning_and_goes_its_own_way(engine: Engine) -> None:
    begun(engine)
    made = engine.fork("other", at=3, **ANN)
    assert (made.name, made.count) == ("other", 3)
    other = {"user": "ann", "session": "other"}
    engine.append([user("only here"), assistant("yes")], **other)
    assert texts(engine.list(**other))[:2] == texts(engine.list(**ANN))[:2]
    assert "only here" not in texts(engine.list(**ANN))
    assert [p.text for p in engine.pins(**other)] == ["Never book the Grand Hotel."]
    assert engine.fork(**ANN).name == "s~2"
    assert engine.verify(user="ann") > 0
    for bad in ({"name": "other"}, {"at": 0}, {"at": 99}):
        with pytest.raises(BadMessage):
            engine.fork(**bad, **ANN)
    with pytest.raises(NotFound):
        engine.fork(user="bob", session="s")


WRITER = """
import keepline
with keepline.open({path!r}, settle="manual") as engine:
    chat = engine.user("ann").session("s")
    chat.append([{{"role": "user", "content": "plan a trip"}}, {{"role": "assistant", "content": "where to?"}}])
    chat.save({{"city": "Porto", "nights": 3, "asked": ["dates"]}}, next="ask_budget")
    chat.save({{"city": "Porto", "nights": 4, "asked": ["dates", "nights"]}}, next="book")
"""


@pytest.mark.req("LIFE-03")
def test_a_checkpoint_outlives_its_process_with_its_fields_and_its_next_step(path: Path) -> None:
    path.parent.mkdir(parents=True)
    subprocess.run([sys.executable, "-c", WRITER.format(path=str(path))], check=True, timeout=120)
    with make(path) as engine:
        found = engine.load(**ANN)
        assert dict(found.state) == {"city": "Porto", "nights": 4, "asked": ["dates", "nights"]}
        assert (found.next, found.count, found.session) == ("book", 2, "s")
        first = engine.checkpoints(**ANN)[-1]
        assert (first.next, first.state["nights"]) == ("ask_budget", 3)
        assert engine.load(first.id, **ANN) == first
        for who in ({"user": "bob", "session": "s"}, {"user": "ann", "session": "t"}):
            with pytest.raises(NotFound):
                engine.load(**who)
            with pytest.raises(NotFound):
                engine.load(first.id, **who)


@pytest.mark.req("LIFE-03")
def test_a_state_that_cannot_be_kept_is_refused_and_one_that_was_goes_with_the_messages_it_may_quote(path: Path) -> None:
    with make(path) as engine:
        stored = engine.append([user("my card is 4417"), assistant("ok")], **ANN)
        for bad in ({"a": object()}, {"a": float("nan")}, {"a": "x" * 9_000_000}):
            with pytest.raises(BadMessage, match="checkpoint"):
                engine.save(bad, **ANN)
        engine.save({"card": "4417"}, **ANN)
        engine.append([user("later"), assistant("yes")], **ANN)
        engine.forget([stored[0].id], user="ann")
        assert engine.checkpoints(**ANN) == ()
    assert b"4417" not in everything(path.parent)


@pytest.mark.req("LIFE-03")
def test_a_store_in_memory_says_that_it_keeps_nothing(engine: Engine) -> None:
    assert any("in memory" in n for n in engine.status().notes)


@pytest.mark.req("LIFE-04")
def test_a_session_kept_for_a_time_is_gone_after_it_and_each_message_puts_that_off(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keepline.engine.base.PURGE_S", -1.0)
    clock = FrozenClock(NOW)
    with make(path, clock=clock) as engine:
        chat = engine.user("ann").session("t", persist=3_600)
        chat.append(user("the wombat word"))
        clock.advance(minutes=40)
        chat.append(assistant("yes"))
        clock.advance(minutes=40)
        assert len(engine.list(user="ann", session="t")) == 2
        clock.advance(minutes=40)
        assert engine.list(user="ann", session="t") == ()
        assert engine.sessions(user="ann") == ()
        assert engine.search("wombat", user="ann") == ()
    assert b"wombat" not in everything(path.parent)
    with make() as engine, pytest.raises(BadChoice):
        engine.user("ann").session("t", persist="week")


@pytest.mark.req("LIFE-04")
def test_a_session_that_is_not_kept_leaves_no_trace_on_disk(path: Path) -> None:
    with make(path) as engine:
        chat = engine.user("ann").session("t", persist="none")
        chat.append([user("the wombat word"), assistant("ok")])
        assert "wombat" in said(chat.context([user("so?")], budget=9_000))
        assert engine.list(user="ann", session="t") == ()
        assert b"wombat" not in everything(path.parent)

        async def beside() -> int:
            quiet = AsyncEngine(engine).user("ann").session("t", persist="none")
            await quiet.append(user("another"))
            timed = AsyncEngine(engine).user("ann").session("u", persist=60)
            await timed.append(user("for a minute"))
            return len(await quiet.list())

        assert asyncio.run(beside()) == 3
        assert engine.sessions(user="ann")[0].expires is not None
    assert b"wombat" not in everything(path.parent)
