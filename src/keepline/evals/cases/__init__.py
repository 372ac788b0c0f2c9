"""Replays public faults: plays a case's steps through the engine and checks the right outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keepline.evals.cases.checks import unmet
from keepline.evals.cases.play import perform
from keepline.evals.cases.support import missing
from keepline.evals.cases.world import World
from keepline.evals.figures import Progress, quiet
from keepline.evals.formats import Case, cases


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """How a case went: `why` it failed (empty: it passed), or why it could not be played."""

    case: Case
    why: str = ""
    supported: bool = True


def run(path: str | Path, progress: Progress = quiet) -> dict[str, Any]:
    """Play every case of `path` → how many passed, which failed and why, and which this release cannot play (never counted as
    passed; `reasons` says what is missing). Raises `BadLine`, `BadMessage`."""
    found = cases(path)
    verdicts = []
    for n, case in enumerate(found, 1):
        verdicts.append(play(case))
        progress(n, len(found))
    return summary(verdicts)


def play(case: Case) -> Verdict:
    """Play one case in a store of its own."""
    lacking = missing(case.steps)
    if lacking:
        return Verdict(case=case, why=lacking, supported=False)
    awaited = frozenset(c["on"] for c in case.checks if c["check"] == "refused")
    with World(awaited=awaited) as world:
        perform(world, case.steps)
        failures = [why for why in (unmet(world, check) for check in case.checks) if why]
        why = "; ".join(failures) or "; ".join(world.errors)
    return Verdict(case=case, why=why)


def summary(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The figures of a run."""
    return {
        "cases": len(verdicts),
        "passed": sum(v.supported and not v.why for v in verdicts),
        "failed": [{"id": v.case.id, "kind": v.case.kind, "why": v.why} for v in verdicts if v.supported and v.why],
        "not_supported": [v.case.id for v in verdicts if not v.supported],
        "reasons": {v.case.id: v.why for v in verdicts if not v.supported},
    }
