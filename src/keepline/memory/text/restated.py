"""Whether a sentence says an earlier one again with another value: "the deadline is 3 May", "the deadline is 9 May".

By form alone: the same words around other numbers, dates or identifiers, and these only behind a verb of being. Two things of one
kind ("order A-1 is paid", "order A-2 is paid"), somebody's ("she is 42") and doubts are never taken for one thing changed.
"""

from __future__ import annotations

import re

from keepline.memory.text.exact import HEDGE, spans
from keepline.memory.text.plain import plain

_IS = re.compile(r"\b(?:is|are|=|equals|remains)\b|[:：=]|是|为|定在|定为|改成|改为|改到")
_VAGUE = re.compile(
    r"^\W*(?:an?|another|one|some|he|she|it|this|that|these|those|they|there|who|what|which|other)\b"
    r"|^\W*(?:有|另|又|这|那|他|她|它|谁|哪|一[个位家条件])"
)


def restates(text: str, earlier: str) -> bool:
    """Whether `text` has the words of `earlier` and other values."""
    new, old = plain(text).strip(" .。!！"), plain(earlier).strip(" .。!！")
    if new == old or HEDGE.search(new) or HEDGE.search(old) or _VAGUE.search(new):
        return False
    mine, theirs = _apart(spans(new)), _apart(spans(old))
    if not mine or len(mine) != len(theirs) or _masked(new, mine) != _masked(old, theirs):
        return False
    changed = [a for (a, b), (c, d) in zip(mine, theirs, strict=True) if new[a:b] != old[c:d]]
    verb = _IS.search(new)
    return bool(changed) and verb is not None and verb.start() < changed[0]


def _apart(values: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The values without those that begin inside an earlier one."""
    kept: list[tuple[int, int]] = []
    for start, end in values:
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _masked(text: str, values: list[tuple[int, int]]) -> str:
    kept, at = [], 0
    for start, end in values:
        kept.append(text[at:start])
        at = end
    return "\0".join([*kept, text[at:]])
