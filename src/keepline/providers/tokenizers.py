"""Token counters by name of a vocabulary or model. Knows prompts' overhead as OpenAI documents it; asks no network, ever.

Overhead of a message and of the reply: OpenAI cookbook, "How to count tokens with tiktoken", section 6 (3 tokens a message,
1 more with a name, 3 to prime the reply); its example messages and tools are tests. Where a provider publishes none it is
counted alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from keepline.providers.definitions import format_cost, tools_cost
from keepline.providers.models import FAMILIES, O200K, UNKNOWN, Family, find
from keepline.providers.parts import message_parts
from keepline.providers.vocabulary import PIECE, Vocabulary, installed, pieces, vocabulary
from keepline.values.text import safe_cut

NAME, REPLY = 1, 3

ESTIMATE_MARGIN = 0.10
"""Share of a window kept free where counts are estimated, until usage reports have taught better."""

# Chinese, Japanese and Korean letters with their punctuation and full-width forms.
_CJK = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]+"
)


def counter(name: str | None = None) -> Counter:
    """A counter for a vocabulary (a counter's own `name`, as `o200k_base`) or a model's name; None: `o200k_base`.

    A model whose vocabulary is not published or not installed is estimated (`exact` False); so is a name never heard of.
    """
    if not name:
        return Counter(O200K)
    model = find(name)
    family = FAMILIES.get(name) or (model.family if model else UNKNOWN)
    return Counter(family if installed(family.vocabulary) else UNKNOWN)


class Counter:
    """Counts as one family of models does (`keepline.ports.tokens.TokenCounter`). Threads may share it.

    Exact figures are the provider's own for text, and by published formula for pictures, tools and overhead; an estimate is
    o200k_base times the family's factors, weighed by the share of CJK characters and rounded up. In a text of more than
    8,192 characters only a run of over 32,768 characters without a space, digit or CJK punctuation is not counted exactly.
    """

    def __init__(self, family: Family) -> None:
        self._family = family
        self.name = family.name
        self.exact = self.lines_add = family.exact
        self.margin_share = 0.0 if family.exact else ESTIMATE_MARGIN

    @property
    def _words(self) -> Vocabulary:
        return vocabulary(self._family.vocabulary)

    def text(self, text: str) -> int:
        """Tokens of bare text. Surrogate halves count as U+FFFD."""
        if self.exact and len(text) <= PIECE:  # nearly every text there is
            return self._words.count(text)
        return math.ceil(round(sum(self._measure(text[i:j]) for i, j in pieces(text)), 6))

    def message(self, body: Mapping[str, Any]) -> int:
        """Tokens of one message with its overhead; see `keepline.providers.parts` for what counts in it."""
        named = NAME if isinstance(body.get("name"), str) else 0
        return self._family.message + named + message_parts(body, self.text, self._family.images)

    def call(self, tools: Sequence[Mapping[str, Any]] | None, response_format: Mapping[str, Any] | None) -> int:
        """Tokens beside the messages: reply priming, tool definitions, response format."""
        extra = self._family.tools_extra if tools else 0
        defined = tools_cost(tools or (), self.text, self._family.function)
        return REPLY + extra + defined + format_cost(response_format, self.text)

    def clip(self, text: str, tokens: int) -> tuple[int, int]:
        """Offsets (i, j): text[:i] and text[j:] together take at most `tokens`, the tail at least half of them if it can.

        (len, len) when all fits. Reads only as much of the text as may stay. Cuts between grapheme clusters.
        """
        n, tokens = len(text), max(tokens, 0)
        if self._fits(text, tokens):
            return n, n
        aim = tokens - tokens // 2
        while True:
            j = self._tail(text, aim)
            over = self.text(text[j:]) - (tokens - tokens // 2)
            if over <= 0 or j >= n:
                break
            aim -= over
        spent = self.text(text[j:]) if j < n else 0
        aim = tokens - spent
        while True:
            i = min(j, self._head(text, aim))
            over = (self.text(text[:i]) if i else 0) + spent - tokens
            if over <= 0:
                return i, j
            aim -= over

    def _measure(self, piece: str) -> float:
        """Tokens of a piece, not rounded."""
        count = self._words.count(piece)
        family = self._family
        if family.exact or not piece:
            return count
        if piece.isascii() or family.plain == family.cjk:
            return count * family.plain
        share = sum(map(len, _CJK.findall(piece))) / len(piece)
        return count * (family.plain + (family.cjk - family.plain) * share)

    def _fits(self, text: str, tokens: int) -> bool:
        if len(text) > tokens * self._words.longest:  # not even if each were the longest token there is
            return not text
        left = float(tokens)
        for i, j in pieces(text):
            left -= self._measure(text[i:j])
            if round(left, 6) < 0:  # as `text` rounds: sums of factors are not exact
                return False
        return True

    def _head(self, text: str, tokens: int) -> int:
        """The largest place such that what is before it takes about `tokens`, never beyond the piece that exceeds them."""
        left = float(tokens)
        for start, end in pieces(text):
            cost = self._measure(text[start:end])
            if cost > left:
                return self._bisect(text, start, end, left, head=True)
            left -= cost
        return len(text)

    def _tail(self, text: str, tokens: int) -> int:
        """The smallest place such that what is after it takes about `tokens`."""
        n, reach = len(text), max(1_024, tokens * 4)
        while True:
            begin = safe_cut(text, n - reach)
            spans = list(pieces(text, begin))
            left = float(tokens)
            for start, end in reversed(spans):
                cost = self._measure(text[start:end])
                if cost > left:
                    return self._bisect(text, start, end, left, head=False)
                left -= cost
            if begin == 0:
                return 0
            reach *= 4

    def _bisect(self, text: str, start: int, end: int, room: float, *, head: bool) -> int:
        """The place within a piece up to which (head) or from which (tail) it takes at most `room`."""
        inside, outside = (start, end) if head else (end, start)  # what takes nothing, and what takes too much
        while True:
            middle = safe_cut(text, (inside + outside) // 2)
            if not head and middle <= outside:
                middle = _next_cut(text, (inside + outside) // 2, inside)
            if middle in (inside, outside) or not start < middle < end:
                return inside
            part = text[start:middle] if head else text[middle:end]
            if self._measure(part) <= room:
                inside = middle
            else:
                outside = middle


def _next_cut(text: str, i: int, end: int) -> int:
    """The smallest place > `i` where the text may be cut, `end` at most."""
    step = 1
    while i + step < end:
        place = safe_cut(text, i + step)
        if place > i:
            return place
        step += 1
    return end
