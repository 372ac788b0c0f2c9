"""Plays a case's steps in order, loops included, and keeps what each left behind. Knows no step and no check."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from keepline.errors import KeeplineError
from keepline.evals.cases.expand import expand
from keepline.evals.cases.processes import play_parallel
from keepline.evals.cases.results import Result
from keepline.evals.cases.steps import STEPS, set_time
from keepline.evals.cases.world import World

Step = Mapping[str, Any]
Names = Mapping[str, Any]


def perform(world: World, steps: Sequence[Step], names: Names | None = None) -> None:
    """Play `steps`; `names` are the values of the loops around them."""
    names = names or {}
    for step in steps:
        op = step["op"]
        if op == "for_each":
            for i, value in enumerate(step["in"]):
                perform(world, step["do"], {**names, step["var"]: expand(value, names), "i": i})
        elif op == "repeat":
            for i in range(step["times"]):
                perform(world, step["do"], {**names, "i": i})
        elif op == "parallel":
            world.errors += play_parallel(world, step)
        elif op in ("add", "append"):
            for i in range(step.get("times", 1)):
                play_step(world, step, {"i": i, **names} if "times" not in step else {**names, "i": i})
        else:
            play_step(world, step, names)


def play_step(world: World, step: Step, names: Names) -> Result:
    """Play one step that is no loop; what it saves and what it raises is kept in `world`."""
    given = expand(dict(step), {**names, **world.latest()})
    name, op = given.get("save"), given["op"]
    before = copy.deepcopy(given.get("messages"))
    awaited = name in world.awaited
    there = world.census() if awaited else 0
    set_time(world, given)
    if "llm_script" in given:
        world.llm.script(given["llm_script"])
    try:
        result = STEPS[op](world, given) or Result(op=op)
    except Exception as error:  # whatever a step raises is what the case asks about
        refusal = isinstance(error, KeeplineError)
        result = Result(op=op, error=f"{'' if refusal else type(error).__name__ + ': '}{error}", crash=not refusal)
        if awaited and refusal:
            result = replace(result, effect=world.census() != there)
        else:
            world.errors.append(f"{op}: {result.error}")
    world.inputs.append((before, given.get("messages")))
    if name:
        world.saved.setdefault(name, []).append(replace(result, given=before if result.given is None else result.given))
    return result
