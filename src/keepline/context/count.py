"""Tokens of lines and of logs. Counts with the counter it is given; knows no vocabulary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keepline.ports.flow import Flow
from keepline.ports.store import PutCounts, Write
from keepline.ports.tokens import TokenCounter
from keepline.ports.view import Look, View, Words
from keepline.values.scope import Scope

BATCH = 2000
"""Messages read and counted at a time when a log has no counts in the asked vocabulary: bounds memory."""
_LINE_END = re.compile(r"\n(?=[^\s/])")
OURS_KEPT = 16
"""Messages of keepline's own whose count is remembered."""


class Meter:
    """A counter that remembers lines: the same pins and stamps are priced at every call of a session."""

    def __init__(self, counter: TokenCounter, most: int = 50_000) -> None:
        """`most` lines are remembered, then all are forgotten at once."""
        self.counter = counter
        self._lines: dict[str, int] = {}
        self._most = most
        self._ours: dict[str, int] = {}

    def line(self, text: str) -> int:
        """Tokens of `text` and the newline after it."""
        known = self._lines.get(text)
        if known is None:
            if len(self._lines) >= self._most:
                self._lines.clear()
            known = self._lines[text] = self.counter.text(text + "\n")
        return known

    def message(self, body: Mapping[str, Any]) -> int:
        """Tokens of one message, its overhead included."""
        return self.counter.message(body)

    def ours(self, text: str) -> int:
        """Tokens of a message that keepline adds, remembered: it is counted when fitted and when laid out, and a summary stands
        still over many calls."""
        known = self._ours.get(text)
        if known is None:
            if len(self._ours) >= OURS_KEPT:
                self._ours.clear()
            known = self._ours[text] = self._counted(text)
        return known

    def _counted(self, text: str) -> int:
        """Most lines of ours stood in the call before: where lines add up, only new ones are counted."""
        if not self.counter.lines_add:
            return self.counter.message({"role": "user", "content": text})
        *lines, last = _LINE_END.split(text)
        return self.counter.message({"role": "user", "content": last}) + sum(map(self.line, lines))


def counted(scope: Scope, meter: Meter, *, tagged: bool) -> Flow[View]:
    """The view of the session with every message counted in the meter's vocabulary; what is missing is counted now and
    kept, so that it is counted once."""
    name = meter.counter.name
    view: View = yield Look(scope, name, tagged)
    outline = view.outline
    missing = [int(s) for s in outline.seq[(outline.tokens < 0) & ~outline.erased]]
    if not missing:
        return view
    for at in range(0, len(missing), BATCH):
        part = tuple(missing[at : at + BATCH])
        words = yield Words(view, part)
        by_number: dict[int, dict[int, int]] = {}
        for seq, message in words.items():
            by_number.setdefault(int(outline.number[seq]), {})[seq] = meter.message(message.body)
        yield Write(tuple(PutCounts(scope, n, name, counts) for n, counts in by_number.items()))
    view = yield Look(scope, name, tagged)
    return view
