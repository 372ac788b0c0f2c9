"""How long it takes to build a context over a long session, the question's embedding included."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from keepline.engine import Engine
from keepline.evals.bench.child import Timed, beside, in_child, need, timed
from keepline.evals.bench.speech import questions, talk
from keepline.evals.figures import quantiles, rss_mb
from keepline.evals.ground import fresh, words
from keepline.values.budget import Budget

MODES, BUDGETS = ("hybrid", "auto"), (8_000, 32_000)
BATCH = 500
PEERS = {
    "langchain trim_messages, counting anew": "building:trim_counting",
    "langchain trim_messages, counts remembered": "building:trim_remembering",
}


def build(*, messages: int = 10_000, builds: int = 60) -> dict[str, Any]:
    """`builds` contexts for each mode and budget over a session of `messages`, each with a new question, the turn before it
    appended and settled. `cold_ms` is a new process's first build, store and encoder opened in it."""
    with tempfile.TemporaryDirectory(prefix="keepline-bench-") as folder:
        filled = in_child("building:fill", folder=folder, messages=messages)
        mine = in_child("building:measure", folder=folder, builds=builds)
        peers = beside(PEERS, messages=messages, builds=max(3, builds // 10))
        return {"messages": messages, **mine, **filled, "peers": peers}


def fill(*, folder: str, messages: int) -> dict[str, Any]:
    """Fill and settle the session."""
    path = Path(folder) / "keepline.db"
    started = time.perf_counter()
    with fresh(store=f"sqlite:///{path}") as engine:
        said = list(talk(messages))
        for i in range(0, messages, BATCH):
            engine.append(said[i : i + BATCH], user="u", session="s")
        engine.settle(user="u", session="s")
    return {"fill_s": round(time.perf_counter() - started, 1), "store_mb": round(path.stat().st_size / 1e6, 1)}


def measure(*, folder: str, builds: int) -> dict[str, Any]:
    """Our own figures. Ledgers are written when the next turn settles, as a program's background thread does."""
    asked = iter(questions(builds * len(MODES) * len(BUDGETS) + 1))
    took: dict[str, list[Timed]] = {}
    started = time.perf_counter()
    with fresh(store=f"sqlite:///{Path(folder) / 'keepline.db'}") as engine:
        engine.context({"role": "user", "content": next(asked)}, budget=8_000, mode="hybrid", user="u", session="s")
        cold = (time.perf_counter() - started) * 1000
        for mode in MODES:
            for budget in BUDGETS:
                for _ in range(builds):
                    took.setdefault(f"{mode} {budget}", []).append(_turn(engine, next(asked), mode, budget))
        rss, pins = rss_mb(), engine.status(user="u").pins
    whole = [t for part in took.values() for t in part]
    return {
        "builds": len(whole), "pins": pins, "build_ms": quantiles([t.wall for t in whole], 50, 95, 99),
        "build_cpu_ms": quantiles([t.cpu for t in whole], 50, 95, 99), "cold_ms": round(cold, 1),
        "by": {name: {**quantiles([t.wall for t in part], 50, 95, 99), "cpu_p50": quantiles([t.cpu for t in part], 50)["p50"]}
               for name, part in took.items()},
        "rss_mb": rss,
    }  # fmt: skip


def _turn(engine: Engine, question: str, mode: str, budget: int) -> Timed:
    """Build for a new question (timed), then let the log grow by it and an answer, and settle (not timed)."""
    asked = {"role": "user", "content": question}
    found = timed(engine.context, asked, budget=Budget(window=budget, reserve=0), mode=mode, user="u", session="s")
    engine.append([asked, {"role": "assistant", "content": "Let me look that up."}], user="u", session="s")
    engine.settle(user="u", session="s")
    return found


def trim_counting(*, messages: int, builds: int) -> dict[str, Any]:
    """LangChain's `trim_messages` to the same budgets, counting with our counter at each call."""
    count = words().text
    return _trim(messages, builds, lambda found: sum(count(str(m.content)) + 4 for m in found))


def trim_remembering(*, messages: int, builds: int) -> dict[str, Any]:
    """The same with every message's count remembered beforehand."""
    counter = words()
    known: dict[int, int] = {}

    def count(found: Any) -> int:
        return sum(known.get(id(m)) or known.setdefault(id(m), counter.text(str(m.content)) + 4) for m in found)

    return _trim(messages, builds, count)


def _trim(messages: int, builds: int, count: Any) -> dict[str, Any]:
    core = need("langchain_core.messages")
    said = [
        (core.HumanMessage if m["role"] == "user" else core.AIMessage)(content=m["content"]) for m in talk(messages)
    ]
    count(said)
    took = []
    for n, question in enumerate(questions(builds)):
        asked = [*said, core.HumanMessage(content=question)]
        how = {"max_tokens": BUDGETS[n % 2], "token_counter": count, "strategy": "last", "start_on": "human"}
        took.append(timed(core.trim_messages, asked, **how))
    return {
        "builds": builds, "build_ms": quantiles([t.wall for t in took], 50, 95, 99),
        "build_cpu_ms": quantiles([t.cpu for t in took], 50, 95, 99), "rss_mb": rss_mb(),
    }
