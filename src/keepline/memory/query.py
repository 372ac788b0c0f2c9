"""What a query is, and what of it is matched by words. Knows no index.

A question that asks for something and a statement that merely recalls it are different queries: a question shares words and
its answer's neighbourhood with what it asks for; a statement often shares nothing but the drift.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from keepline.memory.segment import stem, term_ids

_ASKS_EN = re.compile(
    r"\s*(what|when|where|who|whom|whose|which|why|how|do|does|did|is|are|was|were|can|could|would|will|should|has|have|had|"
    r"tell me|list|name|find|show)\b",
    re.IGNORECASE,
)
_ASKS_ZH = re.compile(r"[吗呢]\s*[。.！!]?\s*$|什么|怎么|哪|谁|多少|几[个点岁时号]|为何|是否|如何|多久|多大")
_EMPTY = """a an the of to in on at for and or is are was were be been do does did what when where who whom which why how i
you he she it they we my your his her their our me him them us that this these those with about from as by has have had will
would can could should not no any there s t
的 了 是 在 我 你 他 她 它 们 吗 呢 吧 啊 哪 谁 几 这 那 有 和 就 都 也 还 要 会 能 什么 怎么 多少"""
"""Words that nearly every question has: they say nothing of what is asked."""
MOST_TERMS = 200
"""Terms of a query that are looked up; a pasted page asks nothing more by its 201st word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """A query made ready: `asks` whether it is a question; `ids` u64 (k,) its terms without function words (all of them
    when nothing else is left) and `weights` f64 (k,) the square root of how often each stands in it, at most √3."""

    text: str
    asks: bool
    ids: NDArray[np.uint64]
    weights: NDArray[np.float64]


def read_query(text: str) -> Query:
    """`text` as a `Query`."""
    ids, counts = term_ids(text, query=True)
    keep = ~np.isin(ids, _empty_ids())
    if keep.any():
        ids, counts = ids[keep], counts[keep]
    if len(ids) > MOST_TERMS:
        ids, counts = ids[:MOST_TERMS], counts[:MOST_TERMS]
    return Query(text=text, asks=asks(text), ids=ids, weights=np.sqrt(np.minimum(counts, 3).astype(np.float64)))


def asks(text: str) -> bool:
    """Whether `text` asks: a question mark, a question word at its head (English), or one anywhere (Chinese)."""
    return "?" in text or "？" in text or bool(_ASKS_EN.match(text)) or bool(_ASKS_ZH.search(text))


@cache
def _empty_ids() -> NDArray[np.uint64]:
    return term_ids(" ".join(stem(word) for word in _EMPTY.split()), query=True)[0]
