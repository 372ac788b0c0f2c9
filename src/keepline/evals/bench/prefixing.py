"""How much of each call a provider's prefix cache can serve over a session, beside the same calls with the time in their system
text: a common habit that makes every prefix new.
"""

from __future__ import annotations

from typing import Any

from keepline.context.prefix import Head, head_of, prefix
from keepline.evals.bench.speech import talk
from keepline.evals.figures import mean, quantiles
from keepline.evals.ground import fresh
from keepline.values.context import Context

SYSTEM = "You are the assistant of a small household. " + "Be brief, be kind, say what you do not know. " * 30
WINDOWS = (4_000, 8_000, 128_000)
LONGER = 4
"""How many answers of the made-up talk one answer is made of: assistants say more than people do."""


def prefixes(*, turns: int = 60, mode: str = "auto", windows: tuple[int, ...] = WINDOWS) -> dict[str, Any]:
    """The share of input tokens that extends the call before, by window: mean and quantiles over the calls of one session of
    `turns` turns; `broken_by` counts what broke a prefix; `timestamped` is the mean share with the time at the head."""
    return {"turns": turns, "mode": mode, "by_window": {str(w): _session(turns, mode, w) for w in windows}}


def _session(turns: int, mode: str, window: int) -> dict[str, Any]:
    said = list(talk(2 * turns * LONGER))
    shares: list[float] = []
    stamped: list[float] = []
    broken: dict[str, int] = {}
    modes: dict[str, int] = {}
    last: Head | None = None
    with fresh(settle="inline") as engine:
        engine.append({"role": "system", "content": SYSTEM}, user="u", session="s")
        for n in range(turns):
            question = said[2 * n * LONGER]
            answer = " ".join(said[2 * (n * LONGER + k) + 1]["content"] for k in range(LONGER))
            context = engine.context([question], budget=window, mode=mode, user="u", session="s")
            modes[context.ledger.mode] = modes.get(context.ledger.mode, 0) + 1
            if context.prefix is not None:
                shares.append(context.prefix.share)
                part = (context.prefix.broken_by or "nothing").split(" ")[0]
                broken[part] = broken.get(part, 0) + 1
            now = _timestamped(context, n)
            if last is not None:
                stamped.append(prefix(last, now).share)
            last = now
            engine.append([question, {"role": "assistant", "content": answer}], user="u", session="s")
    return {
        "kept": {"mean": mean(shares), **quantiles(shares, 5, 50)}, "timestamped": mean(stamped), "broken_by": broken,
        "modes": modes,
    }  # fmt: skip


def _timestamped(context: Context, n: int) -> Head:
    """The head of the same call with the time of the call in front of its system text."""
    first = {**context.messages[0], "content": f"Now: 2026-01-01T00:{n:02}:00Z. {context.messages[0]['content']}"}
    moved = Context(
        messages=(first, *context.messages[1:]), ledger=context.ledger, parts=context.parts, costs=context.costs, ids=context.ids
    )
    return head_of(moved, None)
