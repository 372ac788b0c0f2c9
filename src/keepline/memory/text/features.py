"""A sentence as numbers: which cues it shows, its shape, its n-grams, its place in the message.

Pure arithmetic on text. Does not know what follows from the numbers.
"""

from __future__ import annotations

import math
import re
import zlib
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from keepline.memory.text.cues import EN, SHAPES, ZH
from keepline.memory.text.plain import plain

BUCKETS = 4096
"""Into how many numbers n-grams are hashed."""

_NAMES = tuple(EN)
assert tuple(ZH) == _NAMES


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern if pattern.startswith("^") and "|," not in pattern else rf"(?<!\w)(?:{pattern})(?!\w)")


_EN = tuple(re.compile(p) if n in ("no_noun",) else _words(p) for n, p in EN.items())
_ZH = tuple(re.compile(p) for p in ZH.values())
_SHAPES = tuple(re.compile(p) for p in SHAPES.values())
_HAN = re.compile(r"[\u3400-\u9fff]")
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[\u3400-\u9fff]|[?!]")
_EXTRA = (
    "log_width", "short", "long", "question", "exclaim", "ellipsis", "commas", "colon_end", "quote_marks", "chinese", "mixed",
    "first", "last", "alone", "message_long", "bulleted", "own_share", "cue_count", "starts_lower", "digits_share",
)  # fmt: skip
NAMES = (*_NAMES, *(f"{n}!" for n in _NAMES), *SHAPES, *_EXTRA)
"""The name of each number of `cues`: one a cue, one that it is among the first eight characters or words, "
"shapes, others."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sentence stands: `index` of `count` sentences, in a message `width` wide; whether it is a list item; which share
    of it are its author's own words (0..1)."""

    index: int = 0
    count: int = 1
    width: int = 0
    bulleted: bool = False
    own: float = 1.0


def cues(text: str, place: Place) -> NDArray[np.float32]:
    """float32 (len(NAMES),) of one sentence."""
    low = plain(text)
    han = len(_HAN.findall(low))
    chinese = han * 3 >= sum(c.isalpha() for c in low) if han else False
    tables = (_ZH, _EN) if chinese and re.search("[a-z]{2}", low) else (_ZH,) if chinese else (_EN,)
    early = 8 if chinese else 24
    values = np.zeros(len(NAMES), np.float32)
    n = len(_NAMES)
    for table in tables:
        for i, pattern in enumerate(table):
            if m := pattern.search(low):
                values[i] = 1
                values[n + i] = max(values[n + i], float(m.start() < early))
    for i, pattern in enumerate(_SHAPES):
        values[2 * n + i] = 1 if pattern.search(low) else 0
    values[2 * n + len(_SHAPES) :] = _extra(text, low, han, float(values[:n].sum()), place)
    return values


def _extra(text: str, low: str, han: int, found: float, place: Place) -> list[float]:
    wide = len(low) + han
    letters = max(1, sum(c.isalnum() for c in low))
    return [
        math.log1p(wide) / 4, wide < 14, wide > 120, "?" in low, "!" in low, "…" in text or ".." in text,
        min(4, low.count(",") + low.count("、")) / 4, low.rstrip().endswith(":"), bool(re.search("[\"“”「」『』]", text)),
        han > 0, han > 0 and bool(re.search("[a-z]{3}", low)), place.index == 0, place.index == place.count - 1,
        place.count == 1, min(1.0, place.width / 1200), place.bulleted, place.own, found / 10, text[:1].islower(),
        sum(c.isdigit() for c in low) / letters,
    ]  # fmt: skip


def ngrams(text: str) -> NDArray[np.int64]:
    """The sorted unique buckets of the words, word pairs, CJK characters and runs of two and three of one sentence."""
    tokens = _TOKEN.findall(plain(text))
    tokens = ["0" * min(len(t), 4) if t.isdigit() else t for t in tokens]
    grams = set(tokens)
    grams.update(f"{a} {b}" for a, b in pairwise(tokens))
    grams.update(f"{a} {b} {c}" for a, b, c in zip(tokens, tokens[1:], tokens[2:], strict=False) if _HAN.match(a + b + c))
    if tokens:
        grams.add("^" + tokens[0])
        grams.add("^" + " ".join(tokens[:2]))
        grams.add(tokens[-1] + "$")
    return np.unique(np.fromiter((zlib.crc32(g.encode()) % BUCKETS for g in grams), np.int64, len(grams)))
