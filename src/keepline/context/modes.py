"""The table of modes: a name and its tuple of stages. Adding a mode is a row here; adding a stage is a file in `stages/`."""

from __future__ import annotations

from dataclasses import dataclass

from keepline.context.stages import Stage
from keepline.context.stages.clear import clear
from keepline.context.stages.dedupe import dedupe
from keepline.context.stages.exact import exact
from keepline.context.stages.fill import fill
from keepline.context.stages.fit import fit
from keepline.context.stages.pending import pending
from keepline.context.stages.pin import pin
from keepline.context.stages.recall import recall
from keepline.context.stages.recent import recent
from keepline.context.stages.summarise import summarise
from keepline.errors import BadChoice


@dataclass(frozen=True, kw_only=True, slots=True)
class Mode:
    """What a mode runs, its share of recent turns in what pins and summary leave (the rest is recall's), and the most of the
    input budget that a summary takes."""

    stages: tuple[Stage, ...]
    recent_share: float
    summary_share: float = 0.0


WINDOW = (pin, pending, clear, recent, dedupe, fill, exact, fit)
RECALLING = (pin, pending, clear, recent, recall, dedupe, fill, exact, fit)
SUMMING = (pin, pending, clear, recent, summarise, dedupe, fill, exact, fit)
ALL = (pin, pending, clear, recent, summarise, recall, dedupe, fill, exact, fit)

MODES = {
    "full": Mode(stages=WINDOW, recent_share=1.0),
    "sliding": Mode(stages=WINDOW, recent_share=1.0),
    "summary": Mode(stages=SUMMING, recent_share=1.0, summary_share=0.5),
    "retrieval": Mode(stages=RECALLING, recent_share=0.2),
    "hybrid": Mode(stages=ALL, recent_share=0.6, summary_share=0.1),
}


def named(name: str) -> str:
    """`name` if it can be asked for; raises `BadChoice` otherwise."""
    choices = ["auto", *MODES]
    if name not in choices:
        raise BadChoice(what="mode", value=name, choices=", ".join(choices))
    return name
