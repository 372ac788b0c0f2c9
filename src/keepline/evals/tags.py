"""How much is tagged, and how much of the text is pinned? Keeping everything is not an answer.

Counts what the engine found; judges none of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from keepline.engine import Engine
from keepline.evals.figures import Progress, quiet
from keepline.evals.formats import Body, Corpus, conversations
from keepline.evals.ground import fresh, words
from keepline.evals.talk import messages_of
from keepline.ports.tokens import TokenCounter

USER = "eval"


def run(path: str | Path, progress: Progress = quiet) -> dict[str, Any]:
    """Tag every conversation of `path` (a recall corpus, or lines of chat messages) → messages by category and by retention, and
    the share of all text tokens (o200k_base) that stands in pinned sentences, ended ones included; with `candidates_share`,
    what less sure sentences that only fill spare room add to it. Raises `BadLine`, `BadMessage`."""
    found = conversations(path)
    counter = words()
    categories: Counter[str] = Counter()
    retentions: Counter[int] = Counter()
    tokens = pinned = candidates = 0
    with fresh() as engine:
        for n, conversation in enumerate(found):
            for session, bodies in _sessions(conversation):
                name = f"{n}/{session}"
                engine.sync(bodies, user=USER, session=name)
                pinned += _pinned(engine, name, counter, candidates=False)
                candidates += _pinned(engine, name, counter, candidates=True)
                for message in engine.list(limit=len(bodies) + 1, user=USER, session=name):
                    categories[message.category or "untagged"] += 1
                    retentions[-1 if message.retention is None else int(message.retention)] += 1
                    tokens += counter.text(message.text)
            engine.forget(user=USER)
            progress(n + 1, len(found))
    messages = sum(categories.values())
    return {
        "messages": messages,
        "by_category": dict(categories.most_common()),
        "by_retention": {str(k): v for k, v in sorted(retentions.items())},
        "constraint_share": round(categories["constraint"] / messages, 4) if messages else 0.0,
        "pinned_tokens_share": round(pinned / tokens, 4) if tokens else 0.0,
        "candidates_share": round((candidates - pinned) / tokens, 4) if tokens else 0.0,
    }


def _sessions(conversation: Corpus | tuple[Body, ...]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    if not isinstance(conversation, Corpus):
        return [("0", list(conversation))]
    sessions: dict[str, list[Mapping[str, Any]]] = {}
    for turn, body in zip(conversation.turns, messages_of(conversation), strict=True):
        sessions.setdefault(turn.session, []).append(body)
    return list(sessions.items())


def _pinned(engine: Engine, session: str, counter: TokenCounter, *, candidates: bool) -> int:
    """Tokens of the session's pinned sentences; asking for pins tags what is not tagged yet."""
    return sum(counter.text(p.text) for p in engine.pins(candidates=candidates, user=USER, session=session))
