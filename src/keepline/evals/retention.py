"""Are the user's rules still in the prompt when they matter? Plays scenarios: a conversation, a budget, questions, and words that
must stand in what is sent with each question.

Judges by the words alone, nothing tagged or registered beforehand; checks the budget by its own count beside the engine's.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keepline.engine import Engine
from keepline.evals.figures import Progress, mean, quantiles, quiet
from keepline.evals.formats import Probe, Scenario, Stale, scenarios
from keepline.evals.ground import fresh, words
from keepline.ports.tokens import TokenCounter
from keepline.values.budget import Budget
from keepline.values.context import Context, Fate, Section
from keepline.values.message import content_text
from keepline.values.report import Standing

PER_MESSAGE = 4
"""Tokens that a scenario's budget adds for each message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One probe played: whether it was kept (`why` not, if not), the call's tokens by the engine's count, whether either count
    is above the budget, the build's milliseconds, and the stale words that still stood there as if they held."""

    scenario: str
    probe: Probe
    kept: bool
    why: str
    tokens: int
    over: bool
    ms: float
    stale: tuple[Stale, ...]


def run(
    path: str | Path, *, mode: str = "auto", fraction: float | None = None, pins: bool = True, progress: Progress = quiet
) -> dict[str, Any]:
    """Play every scenario of `path` and sum up. `fraction` replaces the file's budgets; `pins` False leaves pins out, an
    ablation. The result is the JSON of docs/reference/formats.md, with the misses and why each was missed; `stale` only if the
    file has stale words. Raises `BadLine`, `BadMessage`, `BadChoice` (the mode)."""
    found = scenarios(path)
    total = sum(len(s.probes) for s in found)
    outcomes: list[Outcome] = []
    for scenario in found:
        outcomes += play(scenario, mode=mode, fraction=fraction, pins=pins)
        progress(len(outcomes), total)
    return summary(found, outcomes)


def play(scenario: Scenario, *, mode: str, fraction: float | None, pins: bool) -> list[Outcome]:
    """One outcome a probe, in order."""
    budget = Budget(window=budget_of(scenario, words(), fraction), reserve=0, margin=0)
    with fresh() as engine:
        session = engine.sync(scenario.messages, user="eval", session=scenario.id or "scenario").session
        engine.settle(user="eval", session=session)
        return judged(engine, scenario, session, budget, mode=mode, pins=pins)


def judged(engine: Engine, scenario: Scenario, session: str, budget: Budget, *, mode: str, pins: bool) -> list[Outcome]:
    """One outcome a probe of a conversation that is in `session` of the user "eval". Probes store nothing, so their order does
    not matter."""
    counter = words()
    outcomes = []
    for probe in scenario.probes:
        started = time.perf_counter()
        context = engine.context(
            {"role": "user", "content": probe.ask}, budget=budget, mode=mode, pins=pins, user="eval", session=session
        )
        ms = (time.perf_counter() - started) * 1000
        said = sent(context)
        kept = any(folded(m) in text for m in probe.must if m.strip() for text in said)
        why = "" if kept else reason(engine, scenario, probe, context, session)
        over = max(context.tokens, cost(context.messages, counter)) > budget.limit
        stale = tuple(s for s in scenario.stale if survives(s, context))
        outcomes.append(Outcome(
            scenario=scenario.id, probe=probe, kept=kept, why=why, tokens=context.tokens, over=over, ms=ms, stale=stale,
        ))  # fmt: skip
    return outcomes


def summary(found: Sequence[Scenario], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of a run."""
    result: dict[str, Any] = {
        "probes": len(outcomes),
        "kept": sum(o.kept for o in outcomes),
        "kept_by_turn": _by(lambda o: o.probe.turn, outcomes, kept=True),
        "kept_by_kind": _by(lambda o: o.probe.kind, outcomes, kept=True),
        "probes_by_turn": _by(lambda o: o.probe.turn, outcomes),
        "probes_by_kind": _by(lambda o: o.probe.kind, outcomes),
        "over_budget": sum(o.over for o in outcomes),
        "tokens": {"mean": mean([o.tokens for o in outcomes], 1), "max": max((o.tokens for o in outcomes), default=0)},
        "build_ms": quantiles([o.ms for o in outcomes], 50, 95),
    }
    if any(s.stale for s in found):
        alive = {(o.scenario, s) for o in outcomes for s in o.stale}
        result["stale"] = len(alive)
        result["stale_of"] = sum(len(s.stale) for s in found)
        result["stale_words"] = [{"scenario": i, "text": s.text, "ended_by": s.ended_by} for i, s in sorted(alive, key=str)]
    result["misses"] = [
        {"scenario": o.scenario, "turn": o.probe.turn, "kind": o.probe.kind, "must": " | ".join(o.probe.must),
         "ask": o.probe.ask, "why": o.why}
        for o in outcomes if not o.kept
    ]  # fmt: skip
    return result


def _by(key: Callable[[Outcome], int | str], outcomes: Sequence[Outcome], *, kept: bool = False) -> dict[str, int]:
    """How many probes by key, in the key's order; with `kept`, of them the kept ones."""
    total = dict.fromkeys(sorted({key(o) for o in outcomes}, key=lambda k: (str(type(k)), k)), 0)
    for o in outcomes:
        total[key(o)] += o.kept or not kept
    return {str(k): n for k, n in total.items()}


# ---------------------------------------------------------------- budgets and words


def budget_of(scenario: Scenario, counter: TokenCounter, fraction: float | None = None) -> int:
    """The input budget in tokens; `fraction` replaces the scenario's own."""
    share = scenario.fraction if fraction is None else fraction
    if share is None:
        return scenario.tokens or 0
    return int(share * cost(scenario.messages, counter))


def cost(messages: Iterable[Mapping[str, Any]], counter: TokenCounter) -> int:
    """Tokens of the messages' texts, and four a message."""
    return sum(counter.text(content_text(m.get("content"))) + PER_MESSAGE for m in messages)


def folded(text: str) -> str:
    """The form in which words are looked for: NFKC, whitespace as single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def sent(context: Context) -> tuple[str, ...]:
    """The words of each message that is sent beside the question, folded."""
    question = _question(context)
    return tuple(folded(content_text(m.get("content"))) for i, m in enumerate(context.messages) if i != question)


def _question(context: Context) -> int:
    """The place of this call's own message: the last one that is pending."""
    return max((i for i, part in enumerate(context.parts) if part is Section.PENDING), default=-1)


def survives(stale: Stale, context: Context) -> bool:
    """Whether ended words stand there as if they held: no later message, and no later line of the same one, has the words that
    ended them."""
    question = _question(context)
    lines = [
        folded(line)
        for i, m in enumerate(context.messages) if i != question
        for line in content_text(m.get("content")).splitlines()
    ]
    text, ended = folded(stale.text), folded(stale.ended_by)
    said = max((n for n, line in enumerate(lines) if text in line), default=None)
    return said is not None and not any(ended in line for line in lines[said:])


# ---------------------------------------------------------------- why not


def reason(engine: Engine, scenario: Scenario, probe: Probe, context: Context, session: str) -> str:
    """Why a probe was missed, for a person: what became of the sentence that it asks for."""
    must = [folded(m) for m in probe.must if m.strip()]
    said = [n for n, m in enumerate(scenario.messages) if any(t in folded(content_text(m.get("content"))) for t in must)]
    if not said:
        return "the conversation does not say it"
    pins = [p for p in engine.pins(user="eval", session=session, candidates=True) if any(t in folded(p.text) for t in must)]
    if pins:
        best = max(pins, key=lambda p: (p.ended_by is None, p.pin.certainty))
        return f"{_fate(best, context)} (certainty {best.pin.certainty:.2f})"
    by_seq = {m.seq: m for m in engine.list(limit=len(scenario.messages), user="eval", session=session)}
    near = [p for p in engine.pins(user="eval", session=session, candidates=True) if p.pin.seq in said]
    if near:
        return f"the pin of #{near[0].id} leaves these words out: “{near[0].text}”"
    stored = [by_seq[n] for n in said if n in by_seq]
    roles = {m.role.value for m in stored}
    if roles and "user" not in roles:
        return f"said by {', '.join(sorted(roles))}, not by the user"
    return "not tagged: " + ", ".join(f"#{m.id} is {m.category or 'untagged'}" for m in stored if m.role == "user")


def _fate(standing: Standing, context: Context) -> str:
    """What became of a pinned sentence in this build."""
    name = f"#{standing.id}"
    if standing.ended_by is not None:
        return f"ended wrongly by #{standing.ended_by}"
    if not standing.pin.stands:
        return f"{name} may be a rule, but no spare room was left for it"
    entries = [e for e in context.ledger.entries if e.section is Section.PINS and standing.id in e.ids]
    if not entries:
        return f"{name} is pinned, but was not looked at in this build"
    if entries[0].fate is Fate.KEPT:
        return f"{name} is pinned; another sentence of it was sent, this one not"
    return f"{name} is pinned, but {entries[0].fate.value}: {entries[0].rule}"
