"""One logic, two drivers: what a flow can rely on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from keepline.ports.flow import Flow, arun, run


@dataclass(frozen=True)
class Double:
    number: int


@dataclass(frozen=True)
class Fail:
    words: str


def double(need: Double) -> int:
    return need.number * 2


def fail(need: Fail) -> None:
    raise ValueError(need.words)


MEET: dict[type, Callable[[Any], Any]] = {Double: double, Fail: fail}


def later(answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
    async def met(need: Any) -> Any:
        await asyncio.sleep(0)
        return answer(need)

    return met


def sync(flow: Flow[Any]) -> Any:
    return run(flow, MEET)


def awaited(flow: Flow[Any]) -> Any:
    return asyncio.run(arun(flow, {kind: later(answer) for kind, answer in MEET.items()}))


both = pytest.mark.parametrize("drive", [sync, awaited])


@pytest.mark.req("FLOW-01")
@both
def test_needs_are_met_in_order_and_flows_compose(drive: Callable[[Flow[Any]], Any]) -> None:
    def inner(n: int) -> Flow[int]:
        first = yield Double(n)
        second = yield [Double(first), Double(first + 1)]
        return sum(second)

    def outer() -> Flow[list[int]]:
        return [(yield from inner(1)), (yield from inner(10))]

    assert drive(outer()) == [10, 82]


@pytest.mark.req("FLOW-01")
@both
def test_a_flow_without_needs_and_an_empty_list_are_fine(drive: Callable[[Flow[Any]], Any]) -> None:
    def nothing() -> Flow[str]:
        return "done"
        yield

    def empty() -> Flow[list[int]]:
        return (yield [])

    assert drive(nothing()) == "done"
    assert drive(empty()) == []


@pytest.mark.req("FLOW-03")
@both
def test_an_error_is_raised_at_the_line_that_asked_and_can_be_caught_there(drive: Callable[[Flow[Any]], Any]) -> None:
    def flow() -> Flow[list[object]]:
        seen: list[object] = []
        for need in (Double(1), Fail("first"), [Double(2), Fail("second")], Double(3)):
            try:
                seen.append((yield need))
            except ValueError as error:
                seen.append(str(error))
        return seen

    assert drive(flow()) == [2, "first", "second", 6]


@pytest.mark.req("FLOW-03")
@both
def test_a_flow_may_end_with_what_it_caught(drive: Callable[[Flow[Any]], Any]) -> None:
    def flow() -> Flow[str]:
        try:
            yield Fail("no")
        except ValueError:
            return "gave up"
        return "never"

    assert drive(flow()) == "gave up"


@pytest.mark.req("FLOW-03")
@both
def test_what_is_not_caught_leaves_unchanged_and_closes_the_flow(drive: Callable[[Flow[Any]], Any]) -> None:
    closed: list[str] = []

    def flow() -> Flow[None]:
        try:
            yield Double(1)
            yield Fail("as it was")
        finally:
            closed.append("closed")

    with pytest.raises(ValueError, match=r"^as it was$"):
        drive(flow())
    assert closed == ["closed"]


@pytest.mark.req("FLOW-03")
@both
def test_an_unknown_need_is_an_error_at_the_line_that_asked(drive: Callable[[Flow[Any]], Any]) -> None:
    def flow() -> Flow[str]:
        try:
            yield "not a need"
        except KeyError:
            return "told"
        return "never"

    assert drive(flow()) == "told"


@pytest.mark.req("FLOW-03")
def test_an_interrupt_closes_the_flow() -> None:
    closed: list[str] = []

    def interrupted(need: Double) -> int:
        raise KeyboardInterrupt

    def flow() -> Flow[None]:
        try:
            yield Double(1)
        finally:
            closed.append("closed")

    with pytest.raises(KeyboardInterrupt):
        run(flow(), {Double: interrupted})
    assert closed == ["closed"]


@pytest.mark.req("FLOW-02")
def test_needs_of_a_list_are_all_begun_before_any_ends() -> None:
    async def scene() -> list[str]:
        events: list[str] = []
        all_begun = asyncio.Event()

        async def met(need: Double) -> int:
            events.append(f"begin {need.number}")
            if need.number == 3:
                all_begun.set()
            await all_begun.wait()
            events.append(f"end {need.number}")
            return need.number

        def flow() -> Flow[list[int]]:
            return (yield [Double(1), Double(2), Double(3)])

        assert await arun(flow(), {Double: met}) == [1, 2, 3]
        return events

    events = asyncio.run(scene())
    assert events[:3] == ["begin 1", "begin 2", "begin 3"]
    assert sorted(events[3:]) == ["end 1", "end 2", "end 3"]


@pytest.mark.req("FLOW-02")
def test_when_one_need_of_a_list_fails_the_others_are_cancelled() -> None:
    async def scene() -> tuple[str, list[str]]:
        events: list[str] = []

        async def waits(need: Double) -> int:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                events.append("cancelled")
                raise
            return need.number

        async def fails(need: Fail) -> None:
            raise ValueError(need.words)

        def flow() -> Flow[str]:
            try:
                yield [Double(1), Fail("broken"), Double(2)]
            except ValueError as error:
                return str(error)
            return "never"

        return await arun(flow(), {Double: waits, Fail: fails}), events

    assert asyncio.run(scene()) == ("broken", ["cancelled", "cancelled"])


@pytest.mark.req("FLOW-03")
def test_cancelling_the_task_closes_the_flow() -> None:
    async def scene() -> list[str]:
        events: list[str] = []
        asked = asyncio.Event()

        async def met(need: Double) -> int:
            asked.set()
            await asyncio.Event().wait()
            return need.number

        def flow() -> Flow[None]:
            try:
                yield Double(1)
            finally:
                events.append("closed")

        task = asyncio.create_task(arun(flow(), {Double: met}))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return events

    assert asyncio.run(scene()) == ["closed"]
