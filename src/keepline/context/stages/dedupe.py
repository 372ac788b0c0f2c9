"""The same thing said once: a recalled piece that only repeats a pin, a statement of the summary or another
piece gives its place up."""

from __future__ import annotations

from keepline.context.draft import Draft, Piece
from keepline.context.render import folded
from keepline.context.stages.pin import restate
from keepline.context.stages.recall import entry
from keepline.ports.flow import Flow
from keepline.values.context import Entry, Fate


def dedupe(draft: Draft) -> Flow[Draft]:
    """Fix `draft.restated` and take repeated pieces out of `draft.pieces`."""
    yield from ()
    restated, _, _ = restate(draft, draft.window)
    said = {p.key for p in restated} | {folded(k.statement.text) for k in draft.summary}
    kept: list[Piece] = []
    entries: list[Entry] = []
    for piece in draft.pieces:
        text = folded(piece.text)
        if text in said:
            entries.append(entry(piece, Fate.LEFT_OUT, "said already"))
            continue
        said.add(text)
        kept.append(piece)
    return draft.evolve(restated=restated, pieces=tuple(kept), entries=draft.noted(*entries))
