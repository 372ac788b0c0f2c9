"""What survives when a conversation is summarised round after round and must then fit a tenth of its size?

Plays scenarios of the retention format in rounds: a part of the messages, a summary of all there is, the next part. After the
last round, each probe is judged in what is sent, as retention judges it. A stand-in model may write the summaries, and lie.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from keepline.errors import BadChoice
from keepline.evals.figures import Progress, mean, quiet
from keepline.evals.formats import Scenario, scenarios
from keepline.evals.ground import fresh, words
from keepline.evals.retention import Outcome, budget_of, judged
from keepline.memory.text.exact import HEDGE, NEGATION
from keepline.ports.model import Ask, Model
from keepline.testing.fakes import ScriptedModel
from keepline.values.budget import Budget

SIZES = (0.1, 0.2, 0.3)
"""Of the conversation's tokens, what may be sent after the last round."""
ROUNDS = 5
"""As in public measurements of compaction: the fifth is where most rules are gone."""


def run(
    path: str | Path, *, mode: str = "summary", sizes: Sequence[float] = SIZES, rounds: int = ROUNDS, writer: str = "extract",
    pins: bool = True, progress: Progress = quiet,
) -> dict[str, Any]:
    """Play every scenario of `path` and sum up by size. `writer`: who writes the summaries – `extract` (the user's own
    sentences, no model), `copier` (a model that copies what the user said) or `liar` (one that turns numbers, negations and
    doubts). Raises `BadLine`, `BadMessage`, `BadChoice` (mode, writer)."""
    if writer not in WRITERS:
        raise BadChoice(what="the writer", value=writer, choices=", ".join(WRITERS))
    found = scenarios(path)
    outcomes: dict[float, list[Outcome]] = {size: [] for size in sizes}
    calls = 0
    for n, scenario in enumerate(found):
        model = WRITERS[writer]()
        for size, judgements in play(scenario, mode=mode, sizes=sizes, rounds=rounds, model=model, pins=pins).items():
            outcomes[size] += judgements
        calls += len(model.asks) if isinstance(model, ScriptedModel) else 0
        progress(n + 1, len(found))
    return {
        "scenarios": len(found), "rounds": rounds, "mode": mode, "writer": writer, "pins": pins, "model_calls": calls,
        "stale_of": sum(len(s.stale) for s in found),
        "by_size": {f"{size:g}": _figures(outcomes[size]) for size in sizes},
        "misses": [
            {"size": size, "scenario": o.scenario, "kind": o.probe.kind, "must": " | ".join(o.probe.must), "why": o.why}
            for size in sizes for o in outcomes[size] if not o.kept
        ],
    }  # fmt: skip


def play(
    scenario: Scenario, *, mode: str, sizes: Sequence[float], rounds: int, model: Model | None, pins: bool
) -> dict[float, list[Outcome]]:
    """The outcomes of one scenario's probes by size, after `rounds` rounds."""
    counter = words()
    with fresh(model=model, summary_from=0, summary_bill=1.0) as engine:
        for part in _parts(scenario.messages, rounds):
            engine.append(part, user="eval", session="scenario")
            engine.settle(summarise=True, user="eval", session="scenario")
        return {
            size: judged(
                engine, scenario, "scenario", Budget(window=budget_of(scenario, counter, size), reserve=0, margin=0),
                mode=mode, pins=pins,
            )
            for size in sizes
        }  # fmt: skip


def _parts(messages: Sequence[Mapping[str, Any]], rounds: int) -> list[list[Mapping[str, Any]]]:
    """The messages in `rounds` parts, each beginning with a message of the user."""
    starts = [i for i, m in enumerate(messages) if m["role"] == "user"]
    at = [0, *(starts[len(starts) * r // rounds] for r in range(1, rounds)), len(messages)]
    return [list(messages[a:b]) for a, b in pairwise(at) if b > a]


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    kinds = Counter(o.probe.kind for o in outcomes)
    kept = Counter(o.probe.kind for o in outcomes if o.kept)
    total = sum(kept.values())
    return {
        "probes": len(outcomes), "kept": total, "share": round(total / len(outcomes), 4) if outcomes else None,
        "by_kind": {k: f"{kept[k]}/{n}" for k, n in sorted(kinds.items())},
        "stale": len({(o.scenario, s) for o in outcomes for s in o.stale}), "over_budget": sum(o.over for o in outcomes),
        "tokens_mean": mean([o.tokens for o in outcomes], 1),
    }  # fmt: skip


# ---------------------------------------------------------------- stand-in writers


_LINE = re.compile(r"^\[(\S+) · user · \S+\] (.*)$", re.M)


def _copied(ask: Ask) -> str:
    return _reply((id, text) for id, text in _LINE.findall(ask.text))


def _lied(ask: Ask) -> str:
    """Every other statement as it was said, the others with their numbers, negations and doubts turned."""
    return _reply((id, text if n % 2 else _turned(text)) for n, (id, text) in enumerate(_LINE.findall(ask.text)))


def _turned(text: str) -> str:
    for pattern in (NEGATION, HEDGE):
        text = pattern.sub("", text)
    return re.sub(r"\d", lambda d: str((int(d.group()) + 1) % 10), text)


def _reply(rows: Any) -> str:
    found = [{"origin": "user", "text": text, "sources": [id]} for id, text in rows]
    return json.dumps({"statements": found, "open_tasks": []}, ensure_ascii=False)


WRITERS: dict[str, Callable[[], Model | None]] = {
    "extract": lambda: None,
    "copier": lambda: ScriptedModel([_copied], name="copier"),
    "liar": lambda: ScriptedModel([_lied], name="liar"),
}
