"""How long a search of one user's memories takes, the query's embedding included, and what it holds in memory."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepline.evals.bench.child import beside, in_child, need, timed
from keepline.evals.bench.speech import questions, sentences
from keepline.evals.figures import quantiles, rss_mb
from keepline.evals.ground import fresh
from keepline.ports.encoder import Encoder
from keepline.providers.encoders import encoder

BATCH, SESSION = 1000, 50
"""Memories of an append, and of a session."""
PEERS = {
    "langgraph InMemoryStore, same vectors": "recalling:langgraph_memory",
    "langgraph SqliteStore, same vectors": "recalling:langgraph_sqlite",
}


def recall(*, memories: int = 100_000, searches: int = 100) -> dict[str, Any]:
    """`searches` questions to `memories` of one user, top 10. `cold_ms` is a new process's first search, store, index and
    encoder read in it; `rss_mb` the memory of that process at the end."""
    with tempfile.TemporaryDirectory(prefix="keepline-bench-") as folder:
        filled = in_child("recalling:fill", folder=folder, memories=memories)
        mine = in_child("recalling:measure", folder=folder, searches=searches)
        peers = beside(PEERS, folder=folder, memories=memories, searches=max(5, searches // 10))
        return {"memories": memories, **mine, **filled, "peers": peers}


class Remembering:
    """An encoder whose vectors are kept, in the order in which the texts came: peers get the very same."""

    def __init__(self, base: Encoder) -> None:
        self._base = base
        self.name, self.dim, self.max_tokens = base.name, base.dim, base.max_tokens
        self.kept: dict[str, NDArray[np.float16]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows of the encoder behind it."""
        vectors = self._base.encode(texts)
        self.kept.update(zip(texts, vectors.astype(np.float16), strict=True))
        return vectors


def fill(*, folder: str, memories: int) -> dict[str, Any]:
    """Fill and index the user's memories; leave the vectors in the folder for the peers."""
    path, kept = Path(folder) / "keepline.db", Remembering(_encoder())
    said = list(sentences(memories))
    started = time.perf_counter()
    with fresh(store=f"sqlite:///{path}", encoder=kept) as engine:
        for at in range(0, memories, BATCH):
            for lo in range(at, min(at + BATCH, memories), SESSION):
                part = said[lo : min(lo + SESSION, memories)]
                engine.append([{"role": "user", "content": t} for t in part], user="u", session=f"day{lo // SESSION}")
        engine.search("?", user="u")
    took = time.perf_counter() - started
    np.save(Path(folder) / "vectors.npy", np.stack([kept.kept[t] for t in said]))
    return {"ingest_memories_per_s": round(memories / took, 1), "store_mb": round(path.stat().st_size / 1e6, 1)}


def measure(*, folder: str, searches: int) -> dict[str, Any]:
    """Our own figures."""
    started = time.perf_counter()
    with fresh(store=f"sqlite:///{Path(folder) / 'keepline.db'}") as engine:
        asked = list(questions(searches + 1))
        engine.search(asked[0], user="u")
        cold = (time.perf_counter() - started) * 1000
        took = [timed(engine.search, q, user="u") for q in asked[1:]]
        rss = rss_mb()
    return {
        "searches": searches, "search_ms": quantiles([t.wall for t in took], 50, 95, 99),
        "search_cpu_ms": quantiles([t.cpu for t in took], 50, 95, 99), "cold_ms": round(cold, 1), "rss_mb": rss,
    }


def _encoder() -> Encoder:
    found = encoder("use")
    assert found is not None
    return found


# ---------------------------------------------------------------- peers


def langgraph_memory(*, folder: str, memories: int, searches: int) -> dict[str, Any]:
    """LangGraph's store in memory."""
    store = need("langgraph.store.memory").InMemoryStore(index=_index(folder, memories))
    return _ask(store, memories, searches)


def langgraph_sqlite(*, folder: str, memories: int, searches: int) -> dict[str, Any]:
    """LangGraph's SQLite store (it needs sqlite-vec)."""
    kind = need("langgraph.store.sqlite").SqliteStore
    with kind.from_conn_string(str(Path(folder) / "langgraph.db"), index=_index(folder, memories)) as store:
        store.setup()
        return _ask(store, memories, searches)


def _index(folder: str, memories: int) -> dict[str, Any]:
    """What LangGraph's stores are told of vectors: the memories' own from the run before, the queries' made when asked."""
    rows = np.load(Path(folder) / "vectors.npy").astype(np.float32)
    known = {text: n for n, text in enumerate(sentences(memories))}
    model = _encoder()

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [(rows[known[t]] if t in known else model.encode([t])[0]).tolist() for t in texts]

    return {"dims": rows.shape[1], "embed": embed, "fields": ["text"]}


def _ask(store: Any, memories: int, searches: int) -> dict[str, Any]:
    put = need("langgraph.store.base").PutOp
    said = list(sentences(memories))
    started = time.perf_counter()
    for at in range(0, memories, BATCH):
        store.batch([put(("u",), str(n), {"text": said[n]}) for n in range(at, min(at + BATCH, memories))])
    filled = time.perf_counter() - started
    took = [timed(store.search, ("u",), query=q, limit=10) for q in questions(searches)]
    return {
        "searches": searches, "search_ms": quantiles([t.wall for t in took], 50, 95, 99),
        "search_cpu_ms": quantiles([t.cpu for t in took], 50, 95, 99), "rss_mb": rss_mb(),
        "put_memories_per_s_without_embedding": round(memories / filled, 1),
    }  # fmt: skip
