"""Logic yields what it needs and is sent the answer; two drivers, one logic.

Knows nothing of models, stores or messages. A yielded list means only that its needs are independent of each other;
writes that belong together are one need (one transaction), never a list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any, TypeVar

R = TypeVar("R")
Flow = Generator[Any, Any, R]
Meet = Mapping[type, Callable[[Any], Any]]
AsyncMeet = Mapping[type, Callable[[Any], Awaitable[Any]]]


def run(flow: Flow[R], meet: Meet) -> R:
    """Drive `flow` to its end in this thread.

    `meet` maps a need's type to what answers it. An error while a need is met is raised inside the flow, at the line that
    asked; what the flow does not catch leaves `run` unchanged. The flow is closed on every way out. Returns its result.
    """
    try:
        need = next(flow)
        while True:
            try:
                answer = [meet[type(n)](n) for n in need] if isinstance(need, list) else meet[type(need)](need)
            except Exception as error:
                need = flow.throw(error)
            else:
                need = flow.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # a generator's return value is untyped at run time
    finally:
        flow.close()


async def arun(flow: Flow[R], meet: AsyncMeet, step: Step | None = None) -> R:
    """The same, awaiting each answer; the needs of a list side by side, all cancelled if one fails.

    The first error of a list is raised inside the flow. `step` runs the flow's own work up to its next need, for instance
    in a thread (None: in this one). Cancelling the task closes the flow.
    """
    step = step or _here
    try:
        done, need = await step(_advance, flow.send, None)
        while not done:
            failure: Exception | None = None
            answer: Any = None
            try:
                answer = await _together(need, meet) if isinstance(need, list) else await meet[type(need)](need)
            except Exception as error:
                failure = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
            done, need = await (step(_advance, flow.throw, failure) if failure else step(_advance, flow.send, answer))
        return need  # type: ignore[no-any-return]  # a generator's return value is untyped at run time
    finally:
        flow.close()


Step = Callable[..., Awaitable[tuple[bool, Any]]]


async def _here(work: Callable[..., tuple[bool, Any]], *args: Any) -> tuple[bool, Any]:
    return work(*args)


def _advance(move: Callable[[Any], Any], value: Any) -> tuple[bool, Any]:
    """(False, next need) or (True, result): a StopIteration cannot cross a thread's future."""
    try:
        return False, move(value)
    except StopIteration as end:
        return True, end.value


async def _together(needs: list[Any], meet: AsyncMeet) -> list[Any]:
    async def one(need: Any) -> Any:
        return await meet[type(need)](need)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(n)) for n in needs]
    return [t.result() for t in tasks]
