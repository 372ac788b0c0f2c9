"""Counting tokens. Knows no vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class TokenCounter(Protocol):
    """Counts as one provider counts.

    `name` is the vocabulary under which counts are stored: counters of one name give the same figures. `exact` says
    whether the figures are the provider's own; `margin_share` is the share of a window to keep free because they may not
    be (0.0 when exact). `lines_add`: the counts of a text's lines, each with its line break, add up to the text's own,
    wherever the next line begins with neither a space nor a slash. Never raises on any str, missing or list content; text
    that looks like a special token is text.
    """

    name: str
    exact: bool
    margin_share: float
    lines_add: bool

    def text(self, text: str) -> int:
        """Tokens of bare text."""

    def message(self, body: Mapping[str, Any]) -> int:
        """Tokens of one message: role, content, name, tool calls, images and files at their published cost, and the
        overhead of the message itself."""

    def call(self, tools: Sequence[Mapping[str, Any]] | None, response_format: Mapping[str, Any] | None) -> int:
        """Tokens that a call costs beside its messages: reply priming, tool definitions, response format."""

    def clip(self, text: str, tokens: int) -> tuple[int, int]:
        """Character offsets (i, j), i ≤ j, such that text[:i] and text[j:] together take at most `tokens`: the middle to
        leave out. The tail is at least half. (len, len) when all fits. Never inside a grapheme cluster."""
