"""How long an append takes: durable, counted, chained; and what tagging and embedding cost afterwards, in batches."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from keepline.evals.bench.child import beside, in_child, need, timed
from keepline.evals.bench.speech import talk
from keepline.evals.figures import quantiles, rss_mb
from keepline.evals.ground import fresh

PEERS = {"langgraph SqliteStore.put, no vectors": "appending:langgraph"}
BATCH = 100


def append(*, messages: int = 2000) -> dict[str, Any]:
    """`messages` appended one by one, and as many again `BATCH` at a time; then settled. Milliseconds; `settle_ms` is per
    message, for tagging and for embedding and indexing together."""
    with tempfile.TemporaryDirectory(prefix="keepline-bench-") as folder:
        mine = in_child("appending:measure", folder=folder, messages=messages)
        return {**mine, "import_ms": importing(), "peers": beside(PEERS, folder=folder, messages=messages)}


def measure(*, folder: str, messages: int) -> dict[str, Any]:
    """Our own figures."""
    path = Path(folder) / "keepline.db"
    said = list(talk(2 * messages))
    with fresh(store=f"sqlite:///{path}") as engine:
        engine.append(said[0], user="warm", session="s")
        took = [timed(engine.append, m, user="u", session="one") for m in said[:messages]]
        batches = [said[i : i + BATCH] for i in range(messages, 2 * messages, BATCH)]
        many = sum(timed(engine.append, b, user="u", session="many").wall for b in batches)
        engine.settle(user="warm")
        settled = engine.settle(user="u")
    return {
        "messages": messages, "append_ms": quantiles([t.wall for t in took], 50, 95, 99),
        "append_cpu_ms": quantiles([t.cpu for t in took], 50, 95, 99), "batched_append_ms": round(many / messages, 4),
        "settle_ms": round(settled.seconds * 1000 / (2 * messages), 4), "rss_mb": rss_mb(),
        "store_mb": round(path.stat().st_size / 1e6, 2), "characters_mean": _mean_length(said),
    }  # fmt: skip


def langgraph(*, folder: str, messages: int) -> dict[str, Any]:
    """The same messages put into LangGraph's SQLite store, one by one."""
    store_type = need("langgraph.store.sqlite").SqliteStore
    with store_type.from_conn_string(str(Path(folder) / "langgraph.db")) as store:
        store.setup()
        took = [timed(store.put, ("u", "s"), str(n), m, index=False) for n, m in enumerate(talk(messages))]
    return {
        "append_ms": quantiles([t.wall for t in took], 50, 95, 99),
        "append_cpu_ms": quantiles([t.cpu for t in took], 50, 95, 99), "rss_mb": rss_mb(),
    }


def importing() -> float:
    """Milliseconds that `import keepline` adds to starting Python; the best of three."""
    def run(code: str) -> float:
        return min(timed(subprocess.run, (sys.executable, "-c", code), check=True).wall for _ in range(3))

    return round(run("import keepline") - run("pass"), 1)


def _mean_length(said: list[dict[str, str]]) -> float:
    return round(sum(len(m["content"]) for m in said) / len(said), 1)
