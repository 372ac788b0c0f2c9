"""The checks of cases by name: on a saved result, or on the whole run. A check on a step inside a loop holds if it holds for
every round. Knows which check looks at what; what each asks is in `on_contexts` and `on_memories`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from keepline.evals.cases import on_contexts, on_memories
from keepline.evals.cases.on_contexts import unless
from keepline.evals.cases.results import Result, items_of
from keepline.evals.cases.world import World

Args = Mapping[str, Any]

ON_RESULT: dict[str, Callable[[Result, Args], str | None]] = {**on_contexts.CHECKS, **on_memories.CHECKS}


def unmet(world: World, check: Args) -> str | None:
    """Why the check does not hold in `world`; None if it holds."""
    name = check["check"]
    if name in ON_WORLD:
        why = ON_WORLD[name](world, check)
        return f"{name}: {why}" if why else None
    if name not in ON_RESULT:
        return f"no check is called {name!r}"
    rounds = world.saved.get(check.get("on", ""), [])
    if not rounds:
        return f"{name}: no step saved {check.get('on')!r}"
    if name == "hits_for":
        rounds = [r for r in rounds if r.query in check["queries"]]
        if len(rounds) < len(check["queries"]):
            return f"{name}: not every query was asked"
    for n, result in enumerate(rounds, 1):
        why = result.error if result.error and name != "refused" else ON_RESULT[name](result, check)
        if why:
            return f"{name} on {check['on']}{f' (round {n})' if len(rounds) > 1 else ''}: {why}"
    return None


def no_exception(world: World, _c: Args) -> str | None:
    return "; ".join(world.errors) or None


def input_unchanged(world: World, _c: Args) -> str | None:
    changed = [n for n, (before, after) in enumerate(world.inputs, 1) if before != after]
    return unless(not changed, f"the messages given to step {changed} were changed")


def llm_calls_at_most(world: World, c: Args) -> str | None:
    return unless(len(world.llm.calls) <= c["n"], f"there were {len(world.llm.calls)}")


def no_llm_call_over_limit(world: World, _c: Args) -> str | None:
    most = world.llm.limit
    over = [n for n in world.llm.calls if most is not None and n > most]
    return unless(not over, f"calls of {over} tokens, {most} allowed")


def active_has_anywhere(world: World, c: Args) -> str | None:
    found = items_of(world.messages(c["user_id"]))
    return unless(any(c["text"] in i.text for i in found), f"{c['text']!r} is in no memory of {c['user_id']}")


def event_time(world: World, c: Args) -> str | None:
    return on_memories.event_time(items_of(world.messages(c["user_id"])), c)


def event_time_in(world: World, c: Args) -> str | None:
    return on_memories.event_time_in(items_of(world.messages(c["user_id"])), c)


def common_prefix_at_least(world: World, c: Args) -> str | None:
    a, b = (_request(world, c[name]) for name in ("a", "b"))
    same = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    share = same / len(a) if a else 0.0
    return unless(share >= c["fraction_of_a"], f"they share {share:.2f} of the first")


def equal_before_first_user(world: World, c: Args) -> str | None:
    heads = []
    for name in (c["a"], c["b"]):
        messages = list(world.latest()[name].messages or ())
        first = next((n for n, m in enumerate(messages) if m["role"] == "user"), len(messages))
        heads.append(messages[:first])
    return unless(json.dumps(heads[0]) == json.dumps(heads[1]), "what stands before the first user message differs")


def _request(world: World, name: str) -> str:
    """The messages as a client would write them, without the bracket that closes the list."""
    return json.dumps(list(world.latest()[name].messages or ()), ensure_ascii=False)[:-1]


ON_WORLD: dict[str, Callable[[World, Args], str | None]] = {f.__name__: f for f in (
    no_exception, input_unchanged, llm_calls_at_most, no_llm_call_over_limit, active_has_anywhere, event_time,
    event_time_in, common_prefix_at_least, equal_before_first_user,
)}  # fmt: skip
