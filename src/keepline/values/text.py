"""Text that may be cut, stored and sent: whole characters only. Knows nothing of tokens, budgets or messages' meaning.

A character is what a reader sees as one (an extended grapheme cluster, Unicode UAX #29): an emoji joined from several code
points, a flag, a letter with its marks. A surrogate half is no character at all and cannot be encoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import regex

_CLUSTER = regex.compile(r"\X")
# Read backwards, the first character at which a cluster begins whatever stands further left. Excluded are characters that
# depend on it: Indic consonants, and whatever follows a prepended mark, a joiner or a CR.
_BEGINS = regex.compile(
    r"(?r)(?<![\p{GCB=Prepend}\p{GCB=ZWJ}\p{InCB=Linker}\r])[[\p{GCB=Other}\n]--\p{InCB=Consonant}]", regex.V1
)
_BACK = 1024


def safe_cut(text: str, i: int) -> int:
    """The largest place ≤ `i` where `text` may be cut: between two grapheme clusters, never within a surrogate pair.

    `i` is an offset in code points; below 0 gives 0, beyond the end gives the length. Takes bounded time on text of any
    length; a single cluster, or a run of flags, of more than 1,024 code points may be cut inside.
    """
    if i <= 0:
        return 0
    if i >= len(text):
        return len(text)
    around = text[i - 1 : i + 1]
    if around.isascii() and around != "\r\n":
        return i
    begins = _BEGINS.search(text, max(0, i - _BACK), i)
    place = begins.start() if begins else max(0, i - _BACK)
    for cluster in _CLUSTER.finditer(text, place, min(len(text), i + _BACK)):
        if cluster.end() > i:
            break
        place = cluster.end()
    within_pair = 0 < place < len(text) and "\ud800" <= text[place - 1] <= "\udbff" and "\udc00" <= text[place] <= "\udfff"
    return place - 1 if within_pair else place


def clean(text: str) -> str:
    """`text` without surrogate halves: a pair becomes its character, a lone half U+FFFD. Clean text is returned as it is."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_body(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """`clean` for every string in a message body, keys included. The same object when nothing had to change."""
    return _clean(body)  # type: ignore[no-any-return]  # a mapping goes in, a mapping comes out


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        pairs = [(_clean(k), _clean(v)) for k, v in value.items()]
        same = all(k is k2 and v is v2 for (k, v), (k2, v2) in zip(value.items(), pairs, strict=True))
        return value if same else dict(pairs)
    if isinstance(value, list | tuple):
        items = [_clean(v) for v in value]
        return value if all(a is b for a, b in zip(value, items, strict=True)) else items
    return value

