"""Real processes and threads on one store: many writers at once, and writers that are killed in the middle. Judges nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

from keepline.evals.cases.world import NOTES, World

WORKER = (sys.executable, "-m", "keepline.evals.cases.worker")
ACKNOWLEDGED = 5
"""Writes that a process may finish before it is killed in the next one."""


def play_parallel(world: World, step: Mapping[str, Any]) -> list[str]:
    """Play `step["do"]` in `processes` processes of `threads_each` threads, `times` times each, while this process goes on
    reading. Returns the errors of all."""
    threads = step.get("threads_each", 1)
    workers = [
        _start(world, step["do"], list(range(p * threads, (p + 1) * threads))) for p in range(step.get("processes", 1))
    ]
    for inner in step["do"]:
        world.users.setdefault(str(inner.get("user_id", "default")))
    while any(w.poll() is None for w in workers):
        for user in world.users:
            world.engine.sessions(user=user)
            world.engine.list(limit=20, user=user, session=NOTES)
    errors: list[str] = []
    for worker in workers:
        out, err = worker.communicate()
        errors += json.loads(out)["errors"] if worker.returncode == 0 else [err.strip().splitlines()[-1]]
    return errors


def kill_writers(world: World, times: int) -> int:
    """Let a process write to the default user's notes and kill it, `times` times over; acknowledged messages that are gone."""
    acknowledged: list[str] = []
    for n in range(times):
        note = {"op": "add", "infer": False, "times": 1_000_000,
                "messages": [{"role": "user", "content": f"written before kill {n}: {{i}}"}]}  # fmt: skip
        worker = _start(world, [note], [n], tell=True)
        out: IO[str] = worker.stdout  # type: ignore[assignment]  # it is a pipe
        acknowledged += [out.readline().strip() for _ in range(ACKNOWLEDGED)]
        worker.kill()
        worker.communicate()
    there = {m.id for m in world.messages("default")}
    return sum(id not in there for id in acknowledged)


def _start(
    world: World, steps: Sequence[Mapping[str, Any]], numbers: list[int], *, tell: bool = False
) -> subprocess.Popen[str]:
    worker = subprocess.Popen(WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    job = {"store": world.address, "steps": steps, "workers": numbers, "tell": tell}
    stdin: IO[str] = worker.stdin  # type: ignore[assignment]  # it is a pipe
    stdin.write(json.dumps(job))
    stdin.close()
    worker.stdin = None
    return worker
