"""Dates and times of day as they are written, Chinese and English, in ISO form. Relative ones are anchored to the day on which
they were said. Numbers in figures and in Chinese numerals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

Found = tuple[int, int, str]
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = "(?:" + "|".join(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in _MONTHS) + r"|sept)\.?"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = "(?:" + "|".join(_DAYS) + ")"
_HAN = "一二三四五六七八九十百千万亿两零〇半"
_DIGIT = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}

_ISO = re.compile(r"(?<![\d-])(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d-])", re.ASCII)
_ZH = re.compile(rf"(?:(?P<y>(?:19|20)?\d\d)年)?(?P<m>\d{{1,2}}|[{_HAN}]{{1,3}})月(?P<d>\d{{1,2}}|[{_HAN}]{{1,3}})[日号]")
_ZH_MONTH = re.compile(rf"(?P<y>(?:19|20)\d\d)年(?:(?P<m>\d{{1,2}}|[{_HAN}]{{1,3}})月)?")
_EN_DM = re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m>{_MONTH})(?:,? (?P<y>(?:19|20)\d\d))?\b", re.IGNORECASE)
_EN_MD = re.compile(rf"\b(?P<m>{_MONTH}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y>(?:19|20)\d\d)\b)?", re.IGNORECASE)
_REL = re.compile(
    r"\b(?:the day after tomorrow|the day before yesterday|today|tomorrow|yesterday|tonight)\b"
    rf"|\b(?P<which>next|last|this|on) (?P<day>{_DAY})\b|\b(?P<bare>{_DAY})\b"
    r"|大后天|后天|明天|明晚|今天|今晚|昨天|昨晚|前天|(?P<w>上上|下下|上|下|这|本)?(?:个)?(?:周|星期|礼拜)(?P<wd>[一二三四五六日天])",
    re.IGNORECASE,
)
_SHIFT = {"the day after tomorrow": 2, "the day before yesterday": -2, "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1,
          "大后天": 3, "后天": 2, "明天": 1, "明晚": 1, "今天": 0, "今晚": 0, "昨天": -1, "昨晚": -1, "前天": -2}  # fmt: skip
_CLOCK = re.compile(
    r"(?<![\w:.])(?P<h>[01]?\d|2[0-3])[:：](?P<m>[0-5]\d)(?::[0-5]\d)?(?:\s?(?P<ap>[ap]\.m\.|[ap]m\b))?(?![\d:])"
    r"|(?<![\w:.])(?P<h2>1[0-2]|0?[1-9])\s?(?P<ap2>[ap]\.m\.|[ap]m\b)",
    re.IGNORECASE | re.ASCII,
)
_CLOCK_ZH = re.compile(
    rf"(?P<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里)?(?P<h>\d{{1,2}}|[{_HAN}]{{1,3}})(?:点钟?|时(?!候|间|常|段|期))"
    rf"(?:(?P<half>半)|(?P<q>[一三])刻|(?P<m>\d{{1,2}}|[{_HAN}]{{1,3}})分?)?"
)


def number(text: str) -> float | None:
    """A number in figures or Chinese numerals; None if it is none."""
    try:
        return float(text)
    except ValueError:
        pass
    total = section = digit = 0
    half = text.endswith("半")
    for c in text.removesuffix("半"):
        if c in _DIGIT:
            digit = _DIGIT[c]
        elif c in "十百千":
            section += (digit or 1) * {"十": 10, "百": 100, "千": 1_000}[c]
            digit = 0
        elif c in "万亿":
            total = (total + section + digit) * {"万": 10_000, "亿": 100_000_000}[c]
            section = digit = 0
        else:
            return None
    return float(total + section + digit) + (0.5 if half else 0) if text else None


def dates(text: str, lo: int, hi: int, said: date) -> Iterator[Found]:
    """The dates in text[lo:hi] as (start, end, ISO date, or year and month); without a year, the one nearest to `said`."""
    taken: list[tuple[int, int]] = []
    for pattern in (_ISO, _ZH, _EN_DM, _EN_MD, _ZH_MONTH, _REL):
        for m in pattern.finditer(text, lo, hi):
            if any(a < m.end() and m.start() < b for a, b in taken):
                continue
            value = _relative(m, said) if pattern is _REL else _written(m, said)
            if value is not None:
                taken.append(m.span())
                yield m.start(), m.end(), value


def times(text: str, lo: int, hi: int) -> Iterator[Found]:
    """The times of day in text[lo:hi] as (start, end, HH:MM)."""
    for m in _CLOCK.finditer(text, lo, hi):
        hour, minute = int(m["h"] or m["h2"]), int(m["m"] or 0)
        half = (m["ap"] or m["ap2"] or "").lower()[:1]
        hour = hour % 12 + 12 if half == "p" else hour % 12 if half == "a" else hour
        yield m.start(), m.end(), f"{hour:02}:{minute:02}"
    for m in _CLOCK_ZH.finditer(text, lo, hi):
        found = number(m["h"])
        if found is None or found > 24:
            continue
        minute = 30 if m["half"] else {"一": 15, "三": 45}[m["q"]] if m["q"] else int(number(m["m"] or "0") or 0)
        late = m["part"] in ("下午", "傍晚", "晚上", "夜里") or (m["part"] == "中午" and found < 3)
        hour = int(found) + 12 if late and found < 12 else int(found) % 24
        yield m.start(), m.end(), f"{hour:02}:{minute:02}"


def _written(m: re.Match[str], said: date) -> str | None:
    named = m.re.groupindex
    month, day = m["m"], m["d"] if "d" in named else None
    month_number = _month(month) if month else None
    year = int(m["y"]) + (2000 if len(m["y"]) == 2 else 0) if m["y"] else None
    if day is None:
        return f"{year}-{month_number:02}" if year and month_number else str(year) if year else None
    at = number(day)
    if month_number is None or at is None:
        return None
    return _iso(year, month_number, int(at), said)


def _month(word: str) -> int | None:
    low = word.lower().rstrip(".")
    found = next((n for n, name in enumerate(_MONTHS, 1) if len(low) >= 3 and name.startswith(low[:3])), None)
    if found is not None:
        return found
    value = number(low)
    return int(value) if value is not None and 1 <= value <= 12 else None


def _iso(year: int | None, month: int, day: int, said: date) -> str | None:
    near = (said.year - 1, said.year, said.year + 1)
    years = [year] if year else sorted(near, key=lambda y: abs((y - said.year) * 12 + month - said.month))
    for y in years:
        try:
            return date(y, month, day).isoformat()
        except ValueError:
            continue
    return None


def _relative(m: re.Match[str], said: date) -> str:
    word = m.group().lower()
    if word in _SHIFT:
        return (said + timedelta(days=_SHIFT[word])).isoformat()
    if m["wd"]:
        day = "一二三四五六日".find(m["wd"].replace("天", "日"))
        weeks = {"上上": -2, "上": -1, "下": 1, "下下": 2}.get(m["w"] or "", 0)
        monday = said - timedelta(days=said.weekday())
        found = monday + timedelta(days=day, weeks=weeks)
        return (found if m["w"] or found >= said else found + timedelta(weeks=1)).isoformat()
    day = _DAYS.index((m["day"] or m["bare"]).lower())
    ahead = (day - said.weekday()) % 7
    if (m["which"] or "").lower() == "last":
        return (said - timedelta(days=(said.weekday() - day) % 7 or 7)).isoformat()
    if (m["which"] or "").lower() == "next":
        return (said + timedelta(days=ahead or 7)).isoformat()
    return (said + timedelta(days=ahead)).isoformat()
