"""The asynchronous twin: the same verbs and results, beside a loop that goes on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from making import ANN, assistant, make, said, talk, texts, user
from test_settling import Gate

from keepline.engine import AsyncEngine
from keepline.errors import BadMessage, EmptyUser, NotFound
from keepline.testing.fakes import PlainCounter
from keepline.values.budget import Budget

TIGHT = Budget(window=300, reserve=0)


class Slow(PlainCounter):
    """A counter that says when it was asked, and counts once it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.let = threading.Event(), threading.Event()

    def message(self, body: Mapping[str, Any]) -> int:
        self.asked.set()
        assert self.let.wait(30)
        return super().message(body)


@pytest.mark.req("ASYNC-01")
def test_every_verb_is_awaitable_and_gives_the_same() -> None:
    async def scene() -> None:
        with make() as engine, make() as twin:
            keep = AsyncEngine(twin)
            history = [user("Never call me before nine."), *talk(12)]
            lines = ['{"role": "user", "content": "from a file", "session": "f"}']
            assert texts(await keep.append(history, **ANN)) == texts(engine.append(history, **ANN))
            assert (await keep.sync(history, **ANN)).added == engine.sync(history, **ANN).added == ()
            assert await keep.import_lines(lines, user="ann") == engine.import_lines(lines, user="ann")
            asked: list[dict[str, Any]] = [
                {"mode": "hybrid"}, {"keywords": ["then"], "mode": "retrieval"}, {"pins": False}, {"query": "nine", "tools": []},
            ]
            for more in asked:
                ours = await keep.context([user("so?")], budget=TIGHT, **more, **ANN)
                theirs = engine.context([user("so?")], budget=TIGHT, **more, **ANN)
                assert ours.to_openai() == theirs.to_openai()
                assert ours.ledger.mode == theirs.ledger.mode
            whole = await keep.context([*history, user("so?")], budget=TIGHT, user="ann")
            assert whole.to_openai() == engine.context([*history, user("so?")], budget=TIGHT, user="ann").to_openai()
            assert await keep.search("nine", user="ann") == engine.search("nine", user="ann")
            assert (await keep.settle()).messages == engine.settle().messages
            for verb in ("list", "pins", "verify", "status"):
                who = {k: ANN[k] for k in ("user", "session")}
                assert await getattr(keep, verb)(**who) == getattr(engine, verb)(**who)
            assert len(await keep.sessions(user="ann")) == 2
            assert len(await keep.ledgers(user="ann")) == 4
            assert (await keep.get("m0", user="ann")).text == "Never call me before nine."
            assert texts(await keep.user("ann").session("s").list(limit=1)) == ["Never call me before nine."]
            assert await keep.forget(user="ann") == engine.forget(user="ann") == 26

    asyncio.run(scene())


@pytest.mark.req("ASYNC-01")
def test_errors_come_to_whoever_awaits_and_closing_is_a_context() -> None:
    async def scene() -> None:
        async with AsyncEngine(make()) as keep:
            with pytest.raises(EmptyUser):
                await keep.append(user("x"), user="", session="s")
            with pytest.raises(BadMessage):
                await keep.append({"role": "robot", "content": "x"}, **ANN)
            with pytest.raises(NotFound):
                await keep.get("m0", user="ann")
            with pytest.raises(TypeError):
                await keep.context([user("x")], no_such_argument=1, **ANN)
            with pytest.raises(AttributeError):
                _ = keep.settings
            assert await keep.list(**ANN) == ()

    asyncio.run(scene())


@pytest.mark.req("ASYNC-02")
def test_the_loop_goes_on_while_a_verb_works() -> None:
    async def scene() -> None:
        gate = Gate()
        with make(encoder=gate) as engine:
            keep = AsyncEngine(engine)
            await keep.append(talk(3), **ANN)
            searching = asyncio.create_task(keep.search("then", user="ann"))
            assert await asyncio.to_thread(gate.asked.wait, 30)
            assert len(await keep.list(**ANN)) == 6
            assert not searching.done()
            gate.let.set()
            assert await searching

    asyncio.run(scene())


@pytest.mark.req("ASYNC-02")
def test_the_loop_goes_on_while_twenty_megabytes_are_appended() -> None:
    async def scene() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        text = ("word" * 25 + " ") * 200_000
        with make() as engine:
            ticking = asyncio.create_task(tick())
            (stored,) = await AsyncEngine(engine).append(user(text), **ANN)
            ticking.cancel()
            assert len(stored.text) > 20_000_000
            assert ticks > 20

    asyncio.run(scene())


@pytest.mark.req("ASYNC-02")
def test_many_verbs_at_once_lose_nothing(path: Path) -> None:
    async def scene() -> None:
        with make(path, settle="background") as engine:
            keep = AsyncEngine(engine)
            await asyncio.gather(
                *(keep.append([user(f"q{i}"), assistant(f"a{i}")], **ANN) for i in range(20)),
                *(keep.context([user("so?")], budget=TIGHT, user="ann", session="t") for _ in range(5)),
                *(keep.context([*talk(20), user(f"so {i}?")], budget=TIGHT, user="ann") for i in range(5)),
            )
            assert await keep.verify(user="ann") == 40

    asyncio.run(scene())


@pytest.mark.req("ASYNC-03")
def test_cancelling_an_append_while_it_counts_writes_nothing_and_locks_nothing() -> None:
    async def scene() -> None:
        slow = Slow()
        with make(counter=slow) as engine:
            keep = AsyncEngine(engine)
            appending = asyncio.create_task(keep.append(user("x"), **ANN))
            assert await asyncio.to_thread(slow.asked.wait, 30)
            appending.cancel()
            slow.let.set()
            with pytest.raises(asyncio.CancelledError):
                await appending
            assert await keep.list(**ANN) == ()
            assert len(await keep.append(user("y"), **ANN)) == 1

    asyncio.run(scene())


@pytest.mark.req("ASYNC-03")
@pytest.mark.parametrize("session", ["s", None], ids=["of a session", "given whole"])
def test_cancelling_a_context_closes_its_flow(session: str | None) -> None:
    async def scene() -> None:
        gate = Gate()
        with make(encoder=gate) as engine:
            keep = AsyncEngine(engine)
            history = [] if session else talk(20)
            await keep.append(talk(20), **ANN)
            building = asyncio.create_task(
                keep.context([*history, user("then?")], budget=TIGHT, mode="hybrid", user="ann", session=session)
            )
            assert await asyncio.to_thread(gate.asked.wait, 30)
            building.cancel()
            gate.let.set()
            with pytest.raises(asyncio.CancelledError):
                await building
            assert await keep.ledgers(user="ann") == ()
            context = await keep.context([*history, user("then?")], budget=TIGHT, mode="hybrid", user="ann", session=session)
            assert "then" in said(context)
            assert [s.name for s in await keep.sessions(user="ann")] == ["s"]

    asyncio.run(scene())
