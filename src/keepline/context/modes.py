"""The table of modes: a name and its tuple of stages. Adding a mode is a row here; adding a stage is a file in `stages/`."""

from __future__ import annotations

from dataclasses import dataclass

from keepline.context.stages import Stage
from keepline.context.stages.dedupe import dedupe
from keepline.context.stages.fill import fill
from keepline.context.stages.fit import fit
from keepline.context.stages.pending import pending
from keepline.context.stages.pin import pin
from keepline.context.stages.recall import recall
from keepline.context.stages.recent import recent
from keepline.errors import BadChoice


@dataclass(frozen=True, kw_only=True, slots=True)
class Mode:
    """What a mode runs, and its share of recent turns in what pins leave (the rest is recall's)."""

    stages: tuple[Stage, ...]
    recent_share: float


WINDOW = (pin, pending, recent, dedupe, fill, fit)
RECALLING = (pin, pending, recent, recall, dedupe, fill, fit)

MODES = {
    "full": Mode(stages=WINDOW, recent_share=1.0),
    "sliding": Mode(stages=WINDOW, recent_share=1.0),
    "retrieval": Mode(stages=RECALLING, recent_share=0.2),
    "hybrid": Mode(stages=RECALLING, recent_share=0.6),
}
STANDS_IN = {"summary": "hybrid"}
"""Modes of the design that this release answers with another; the ledger says so."""


def named(name: str) -> str:
    """`name` if it can be asked for; raises `BadChoice` otherwise."""
    choices = ["auto", *MODES, *STANDS_IN]
    if name not in choices:
        raise BadChoice(what="mode", value=name, choices=", ".join(choices))
    return name
