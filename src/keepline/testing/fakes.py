"""Stand-ins that behave like the real parts and can be told what to do: a clock that waits, an encoder without weights, a
counter one can reckon with in one's head. They know no store and no engine."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepline.errors import ModelDown
from keepline.ports.model import Ask, Reply, json_in
from keepline.values.message import content_text
from keepline.values.text import clean, safe_cut


class FrozenClock:
    """A clock that stands until it is moved.

    >>> clock = FrozenClock()
    >>> clock.advance(days=1)
    datetime.datetime(2026, 1, 2, 0, 0, tzinfo=datetime.timezone.utc)
    """

    def __init__(self, at: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        """`at` is the time that it shows, with its zone."""
        self._at = at.astimezone(UTC)

    def now(self) -> datetime:
        """The time that it was set to, in UTC."""
        return self._at

    def set(self, at: datetime) -> datetime:
        """Show `at` from now on, earlier times included. Returns the new time."""
        self._at = at.astimezone(UTC)
        return self._at

    def advance(self, seconds: float = 0, **more: float) -> datetime:
        """Go forward by `seconds` and whatever `timedelta` takes (minutes, hours, days …). Returns the new time."""
        return self.set(self._at + timedelta(seconds=seconds, **more))


class EncoderDown(RuntimeError):
    """What a `HashEncoder` raises once it has been told to fail."""


class HashEncoder:
    """Vectors from hashed character trigrams: deterministic everywhere, and texts that share words are near each other.

    Means nothing: "car" and "automobile" are strangers. `calls` counts the calls of `encode`, `seen` the texts.
    """

    max_tokens = 256

    def __init__(self, dim: int = 64, *, name: str | None = None, fail_after: int | None = None) -> None:
        """`fail_after` calls of `encode` work, then each raises `EncoderDown` (None: never)."""
        self.dim = dim
        self.name = name or f"hash-{dim}"
        self.calls = 0
        self.seen = 0
        self.fail_after = fail_after

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows (n, dim) float32; an empty text is the first axis."""
        if self.fail_after is not None and self.calls >= self.fail_after:
            raise EncoderDown(f"told to fail after {self.fail_after} calls")
        self.calls += 1
        self.seen += len(texts)
        return np.stack([self._one(t) for t in texts]) if texts else np.zeros((0, self.dim), np.float32)

    def _one(self, text: str) -> NDArray[np.float32]:
        row = np.zeros(self.dim, np.float32)
        padded = f" {clean(text).casefold().strip()[:2_000]} "
        for i in range(len(padded) - 2 if padded.strip() else 0):
            digest = hashlib.blake2b(padded[i : i + 3].encode(), digest_size=8).digest()
            row[int.from_bytes(digest[:7], "big") % self.dim] += 1 if digest[7] & 1 else -1
        if not row.any():
            row[0] = 1
        return row / np.linalg.norm(row)


class PlainCounter:
    """One token a word (or a character), a fixed price a message: for sums that one checks by hand.

    `unit` is "word" (runs without whitespace) or "char"; `overhead` tokens are added to each message, `reply` to each call;
    a tool costs its number of words in all.
    """

    exact = True
    margin_share = 0.0
    lines_add = False

    def __init__(self, unit: str = "word", *, overhead: int = 0, reply: int = 0) -> None:
        self.name = f"plain-{unit}-{overhead}-{reply}"
        self._unit = re.compile(r"\S+" if unit == "word" else r"(?s).")
        self.overhead = overhead
        self.reply = reply

    def text(self, text: str) -> int:
        """Words or characters of `text`."""
        return sum(1 for _ in self._unit.finditer(text))

    def message(self, body: Mapping[str, Any]) -> int:
        """Words of the readable content and of the tool calls' names and arguments, and the overhead."""
        calls = body.get("tool_calls") or ()
        inner = [c.get("function") or {} for c in calls if isinstance(c, Mapping)]
        said = [content_text(body.get("content")), *(str(f.get(k, "")) for f in inner for k in ("name", "arguments"))]
        return self.overhead + sum(map(self.text, said))

    def call(self, tools: Sequence[Mapping[str, Any]] | None, response_format: Mapping[str, Any] | None) -> int:
        """The reply's price and the words of tools and format."""
        asked = [*(tools or ()), *([response_format] if response_format else ())]
        return self.reply + sum(self.text(str(a)) for a in asked)

    def clip(self, text: str, tokens: int) -> tuple[int, int]:
        """As `TokenCounter.clip`: whole units at both ends, the odd one in the tail."""
        units = [m.span() for m in self._unit.finditer(text)]
        if len(units) <= tokens:
            return len(text), len(text)
        head = tokens // 2
        i = units[head - 1][1] if head else 0
        j = units[len(units) - (tokens - head)][0] if tokens else len(text)
        return safe_cut(text, i), _cut_after(text, j)


class ScriptedModel:
    """A model that gives the replies it was told, in order, the last one again and again: text, a callable from the `Ask` to
    text, or an exception to raise. `asks` are the questions so far.

    >>> model = ScriptedModel(["Ann prefers trains."])
    >>> model.reply(Ask(purpose="summarise", system="", text="…")).text
    'Ann prefers trains.'
    """

    def __init__(
        self, replies: Sequence[str | Exception | Callable[[Ask], str]] = (), *, name: str = "scripted", window: int = 0
    ) -> None:
        """`window`: the most tokens it takes (0: not known). Without replies it is down."""
        self.name = name
        self.window = window
        self.script = list(replies)
        self.asks: list[Ask] = []

    def reply(self, ask: Ask) -> Reply:
        """The next reply; raises what stands in the script."""
        self.asks.append(ask)
        if not self.script:
            raise ModelDown(model=self.name, why="no reply is scripted")
        said = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else said(ask)
        return Reply(text=text, value=json_in(text) if ask.schema is not None else None)


def _cut_after(text: str, j: int) -> int:
    while safe_cut(text, j) != j:
        j += 1
    return j
