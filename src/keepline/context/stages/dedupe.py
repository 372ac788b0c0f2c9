"""The same thing said once: a recalled piece that only repeats a pin or another piece gives its place up."""

from __future__ import annotations

from keepline.context.draft import Draft, Piece
from keepline.context.stages.pin import restate
from keepline.context.stages.recall import entry
from keepline.ports.flow import Flow
from keepline.values.context import Entry, Fate


def dedupe(draft: Draft) -> Flow[Draft]:
    """Fix `draft.restated` and take repeated pieces out of `draft.pieces`."""
    yield from ()
    restated, _, _ = restate(draft, draft.window)
    said = {_folded(p.text) for p in restated}
    kept: list[Piece] = []
    entries: list[Entry] = []
    gone: set[int] = set()
    for piece in draft.pieces:
        text = _folded(piece.message.text[piece.hit.start : piece.hit.end])
        if text in said:
            gone.add(piece.hit.seq)
            entries.append(entry(piece, Fate.LEFT_OUT, "said already"))
            continue
        said.add(text)
        kept.append(piece)
    others = tuple(e for e in draft.entries if not (e.rule == "recalled" and e.seqs and e.seqs[0] in gone))
    return draft.evolve(restated=restated, pieces=tuple(kept), entries=(*others, *entries))


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold().strip(" .。!！")
