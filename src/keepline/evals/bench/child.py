"""Runs a measurement in a process of its own, and takes times. Knows nothing of what is measured."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from keepline.errors import MissingExtra


class Timed(NamedTuple):
    """Milliseconds that passed, and of the processor in this thread: on a busy machine the second says more."""

    wall: float
    cpu: float


def timed(work: Callable[..., object], *given: Any, **named: Any) -> Timed:
    """How long `work(*given, **named)` takes."""
    wall, cpu = time.perf_counter(), time.thread_time()
    work(*given, **named)
    return Timed((time.perf_counter() - wall) * 1000, (time.thread_time() - cpu) * 1000)


class ChildFailed(RuntimeError):
    """A measuring process ended with an error. Its text is the last line that it wrote."""


def in_child(task: str, **given: Any) -> dict[str, Any]:
    """Call `task` (`module:function` of this package) with `given` in a new process → its figures, plain values. Raises
    `ChildFailed`."""
    done = subprocess.run(
        (sys.executable, "-m", __name__), input=json.dumps({"task": task, "given": given}), capture_output=True, text=True,
        check=False,
    )
    if done.returncode:
        raise ChildFailed((done.stderr.strip().splitlines() or ["no word"])[-1])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def beside(tasks: dict[str, str], **given: Any) -> dict[str, Any]:
    """The figures of peers by name, each in a process of its own; `{"skipped": why}` for one that cannot be run."""
    found: dict[str, Any] = {}
    for name, task in tasks.items():
        try:
            found[name] = in_child(task, **given)
        except ChildFailed as error:
            found[name] = {"skipped": str(error)}
    return found


def need(module: str) -> Any:
    """A peer's module; raises `MissingExtra` without it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(feature=f"{module} ({error.name or error})", extra="bench") from None


def main() -> None:
    """Do what stdin asks for, print its figures as the last line."""
    job = json.load(sys.stdin)
    module, _, function = job["task"].partition(":")
    try:
        found = getattr(import_module(f"keepline.evals.bench.{module}"), function)(**job["given"])
    except MissingExtra as error:
        sys.exit(str(error))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
