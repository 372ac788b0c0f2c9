"""The sentences of a stretch of a log that are worth keeping, ranked: the user's own words, no model asked.

Pure: messages and pins in, statements out. Decides what a sentence is worth by its form, never whether it is true.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from keepline.memory.text.exact import CONDITION, HEDGE, NEGATION, codes, is_identifier
from keepline.memory.text.filler import opening
from keepline.memory.text.plain import plain
from keepline.memory.text.quotes import foreign
from keepline.memory.text.sentences import sentences, width
from keepline.memory.tools import call_names, failure, results
from keepline.values.message import Category, Message, Role
from keepline.values.summary import Origin, Statement
from keepline.values.tag import Pin

LEAST, MOST = 8, 400
"""The width of a sentence worth keeping: less says nothing, more is a paste."""
_OWN = re.compile(r"\b(?:i|i'm|my|we|our|me)\b|我|咱|俺|本人")
_QUESTION = re.compile(r"[?？]\s*$|吗[。！]?$|呢[。]?$")
_DIGITS = re.compile(r"\d+")


def said(messages: Sequence[Message], pins: Mapping[int, Sequence[Pin]] | None = None) -> list[Statement]:
    """What the user said in `messages`, a statement a sentence, in order, each with its weight; greetings, quoted and pasted
    text left out. `pins` (seq → pins) say what was found to be a rule or a lasting fact: it weighs more. Sentences that
    differ in their digits only weigh less and less: "step 1", "step 2" are one thing said often."""
    found: list[Statement] = []
    seen: Counter[str] = Counter()
    for m in messages:
        if m.erased or m.role is not Role.USER or m.only_answers or m.category is Category.GREETING:
            continue
        text = m.text
        others = foreign(text)
        for start, end in sentences(text):
            if any(lo < end and start < hi for lo, hi in others):
                continue
            at = opening(text, start, end)
            words = " ".join(text[at:end].split())
            if not LEAST <= width(words) <= MOST:
                continue
            shape = _DIGITS.sub("0", plain(words))
            weight = _worth(words) + _pinned(pins, m.seq, start, end) - min(3.0, seen[shape])
            seen[shape] += 1
            found.append(Statement(
                origin=Origin.USER, text=words, sources=(m.seq,), at=m.at.isoformat(), weight=round(weight, 2),
                verbatim=(at, end),
            ))
    return found


def asked_tools(messages: Sequence[Message], words: Mapping[str, str]) -> list[Statement]:
    """What was asked of tools, one statement a tool: its name and how often, never what came back, but why it last failed.
    `words` has the phrases `tool`, with {name} and {n}, and `failed`, with {name}, {n} and {why}."""
    asked: dict[str, list[Message]] = {}
    broken: dict[str, list[tuple[Message, str]]] = {}
    by_call: dict[str, str] = {}
    for m in messages:
        names = call_names(m)
        by_call |= names
        for name in names.values():
            asked.setdefault(name or "?", []).append(m)
        for call, text, marked in results(m):
            why = failure(text, marked=marked)
            if why is not None:
                broken.setdefault(by_call.get(call) or "?", []).append((m, why))
    found = [_tool(words["tool"].format(name=name[:60], n=len(calls)), calls) for name, calls in asked.items()]
    return found + [
        _tool(words["failed"].format(name=name[:60], n=len(rows), why=rows[-1][1]), [m for m, _ in rows])
        for name, rows in broken.items()
    ]


def _tool(text: str, about: Sequence[Message]) -> Statement:
    return Statement(
        origin=Origin.TOOL, text=text, sources=tuple(dict.fromkeys(m.seq for m in about)), at=about[0].at.isoformat(), weight=-1.0
    )


def select(statements: Sequence[Statement], cap: int) -> tuple[Statement, ...]:
    """The weightiest statements whose widths sum to at most `cap`, in their order; of equal ones the later."""
    ranked = sorted(range(len(statements)), key=lambda i: (-statements[i].weight, -i))
    kept: list[int] = []
    left = cap
    for i in ranked:
        size = width(statements[i].text)
        if size <= left:
            left -= size
            kept.append(i)
    return tuple(statements[i] for i in sorted(kept))


def _worth(words: str) -> float:
    low = plain(words)
    named = codes(words)
    weight = 2.0 * any(map(is_identifier, named)) + 1.2 * bool(named)
    weight += 1.2 * bool(NEGATION.search(low)) + 0.6 * bool(HEDGE.search(low)) + 0.6 * bool(CONDITION.search(low))
    weight += 0.8 * bool(_OWN.search(low)) + min(1.0, width(words) / 80)
    return weight - 2.0 * bool(_QUESTION.search(words))


def _pinned(pins: Mapping[int, Sequence[Pin]] | None, seq: int, start: int, end: int) -> float:
    near = [p.certainty for p in (pins or {}).get(seq, ()) if p.start < end and p.end > start]
    return 4.0 * max(near, default=0.0)
