"""Where sentences and clauses stand in what a person wrote: Chinese, English, mixed, punctuated or not.

Gives spans of the text, never copies. Does not know who speaks or what a sentence means; `quotes.py` says whose words
they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keepline.memory.text.quotes import quoted

Span = tuple[int, int]

EDGE_CHARACTERS = 60_000
EDGE_SENTENCES = 200
"""Of one text only its first and last 60,000 characters, and of these the first and last 200 sentences, are examined:
a person's own words stand around what was pasted, and the work on a 20 MB message stays bounded."""
LONG = 240
"""A sentence wider than this (a CJK character counts two) is split into runs of clauses."""
SHORT = 20
"""A clause narrower than this does not stand alone: it stays with its neighbour."""

_WIDE = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff01-\uff60"
_CJK = re.compile(f"[{_WIDE}]")
_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_CLOSERS = "\"'”’」』）)]】》"
_STOP = re.compile(rf"(?:[。｡．！？!?…]+|\.+)[{re.escape(_CLOSERS)}]*[~～]*")
_MARKER = re.compile(r"\s*(?:\(?\d{1,3}[.)、]|[（(]?[一二三四五六七八九十]{1,3}[）)、.]|[-*•·●○◦▪–—]+)\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“])(?:[A-Za-z]|mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|e\.g|i\.e|no|nos|fig|vol|ed|approx|dept|est"
    r"|inc|ltd|co"
    r"|corp|ave|rd|blvd|apt|ext|tel|min|max|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|a\.m|p\.m|u\.s|u\.k|ph\.d)$",
    re.IGNORECASE,
)
_SPEECH_GOES_ON = re.compile(r"\s*(?:[,，、。.:：;；)）]|的|这|那|是|他|她|[a-z])")
_SOFT = re.compile(
    r"[;；]\s*|[,，]\s*(?=(?:and|but|so|oh|anyway|also|btw|by the way|because|though|although|which|then|plus|or|"
    r"no|just|please|hey|well|ok|不过|但|而且|另外|还有|对了|所以|因为|然后|顺便|反正|话说|欸|诶|哦|啊|记得"
    r"|以后|请|别)\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(rf"[,，;；:：]+\s*|\s[-–—]+\s|——+|(?<=[{_WIDE}])\s+(?=[{_WIDE}])|\s*[(（]|[)）]\s*"
    rf"|、(?=[^、，。]{{6,}})")
_LOOSE = re.compile(
    r"\s+(?=(?:and|but|so|because|since|then|oh|please)\b)"
    r"|(?<!\band)(?<!\bbut)(?<!\bso)(?<!because)(?<!\bsince)(?<!\bthen)\s+(?=(?:i|we|my|he|she|they|it)\b)"
    r"|(?=以后|以後|今后|另外|还有|還有|然后|然後|但是|可是|而且|所以|因为|因為"
    r"|对了|對了|顺便|记得|記得|千万|千萬|医生说|这事|結果|结果|总算|不过|不過)",
    re.I,
)
_TURN = re.compile(r"\s+(?=(?:anyway|by the way|btw|oh and|and also|and please|but please|so please|from now on"
    r"|also)\b)", re.I)


def width(text: str, start: int = 0, end: int | None = None) -> int:
    """How wide text[start:end] is: one a character, two a CJK character."""
    end = len(text) if end is None else end
    return end - start + len(_CJK.findall(text, start, end))


def sentences(text: str) -> list[Span]:
    """The spans of the sentences of `text`, in order, apart, without outer white space.

    A full stop inside a number, URL, abbreviation or quotation ends nothing; a line end always does. Sentences wider than
    `LONG` come as runs of clauses. Every letter and digit of what is examined (see `EDGE_CHARACTERS`) is in one span.
    """
    spans: list[Span] = []
    for lo, hi in _examined(text):
        for line in _LINE.finditer(text, lo, hi):
            spans += _line(text, line.start(), line.end())
    if len(spans) > 2 * EDGE_SENTENCES:
        spans = spans[:EDGE_SENTENCES] + spans[-EDGE_SENTENCES:]
    return spans


def clauses(text: str, start: int, end: int) -> list[Span]:
    """The clauses of one sentence: cut at commas, dashes, brackets, spaces between CJK characters; none narrower than
    `SHORT` unless the sentence is."""
    inside = [(a, b) for a, b in quoted(text, start, end)]
    cuts = [m.end() for m in _CLAUSE.finditer(text, start, end)] + [m.end() for m in _TURN.finditer(text, start, end)]
    cuts = sorted(c for c in set(cuts) if start < c < end and not any(a < c < b for a, b in inside) and not _in_number(text, c))
    if width(text, start, end) > LONG // 2 and not cuts:
        cuts = [m.end() for m in _LOOSE.finditer(text, start + 1, end) if not any(a < m.end() < b for a, b in inside)]
    pieces = [s for a, b in zip([start, *cuts], [*cuts, end], strict=True) if (s := _trim(text, a, b))]
    return _join_short(text, pieces)


def _examined(text: str) -> Iterator[Span]:
    if len(text) <= 2 * EDGE_CHARACTERS:
        yield 0, len(text)
        return
    yield 0, EDGE_CHARACTERS
    yield len(text) - EDGE_CHARACTERS, len(text)


def _line(text: str, lo: int, hi: int) -> Iterator[Span]:
    marker = _MARKER.match(text, lo, hi)
    inside = list(quoted(text, lo, hi))
    start = lo
    for stop in _STOP.finditer(text, marker.end() if marker else lo, hi):
        if not _ends(text, stop, hi, inside):
            continue
        yield from _sentence(text, start, stop.end())
        start = stop.end()
    yield from _sentence(text, start, hi)


def _ends(text: str, stop: re.Match[str], hi: int, inside: list[Span]) -> bool:
    """Whether this stop ends a sentence."""
    at, after = stop.start(), stop.end()
    for a, b in inside:
        if a < at < b - 1 and after < b:
            return False
        if a < at < b <= after:
            return after >= hi or not _SPEECH_GOES_ON.match(text, after, hi)
    mark = text[at]
    if after >= hi:
        return True
    following = text[after]
    if mark in "。｡！？":
        return True
    if mark in "!?":
        return following.isspace() or bool(_CJK.match(following))
    if mark in "…" or text.startswith("..", at):
        return bool(_CJK.match(following)) or (following.isspace() and text[after : after + 2].strip()[:1].isupper())
    if not following.isspace() and not (mark == "." and _CJK.match(following) and _CJK.match(text[at - 1 : at])):
        return False
    return not _ABBREVIATION.search(text, max(0, at - 12), at)


def _sentence(text: str, lo: int, hi: int) -> Iterator[Span]:
    span = _trim(text, lo, hi)
    if span is None:
        return
    if width(text, *span) <= LONG:
        yield span
        return
    yield from _runs(text, *span)


def _runs(text: str, start: int, end: int) -> Iterator[Span]:
    """A run-on as runs of clauses of at most `LONG`, cut where a new thought begins rather than within one."""
    soft = {m.end() for m in _SOFT.finditer(text, start, end)} | {m.end() for m in _TURN.finditer(text, start, end)}
    at = start
    for a, b in clauses(text, start, end):
        new_thought = a in soft and width(text, at, a) >= LONG // 3
        if a > at and (new_thought or width(text, at, b) > LONG):
            yield from _pieces(text, at, a)
            at = a
    yield from _pieces(text, at, end)


def _pieces(text: str, lo: int, hi: int) -> Iterator[Span]:
    """[lo, hi), or when it has no clause to be cut at, pieces of it cut at spaces."""
    while width(text, lo, min(hi, lo + 2 * LONG + 1)) > 2 * LONG:
        reach = min(hi, lo + LONG)
        space = text.rfind(" ", lo + SHORT, reach)
        cut = space if space > 0 else reach
        if span := _trim(text, lo, cut):
            yield span
        lo = cut
    if span := _trim(text, lo, hi):
        yield span


def _trim(text: str, lo: int, hi: int) -> Span | None:
    while lo < hi and text[lo].isspace():
        lo += 1
    while hi > lo and text[hi - 1].isspace():
        hi -= 1
    return (lo, hi) if any(c.isalnum() for c in text[lo:hi]) else None


def _in_number(text: str, cut: int) -> bool:
    """Whether the cut follows the comma or colon of a number or a time: 1,200 or 9:30."""
    return text[cut - 1] in ",:：，" and text[cut - 2 : cut - 1].isdigit() and text[cut : cut + 1].isdigit()


def _join_short(text: str, pieces: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for a, b in pieces:
        if joined and (width(text, a, b) < SHORT or width(text, *joined[-1]) < SHORT):
            joined[-1] = (joined[-1][0], b)
        else:
            joined.append((a, b))
    return joined
