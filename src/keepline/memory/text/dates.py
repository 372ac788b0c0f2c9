"""Until when a sentence says that something holds: weekdays, relative and absolute dates, Chinese and English.

Computed from the day on which it was said. Knows no zone, no clock times and no calendars of holidays but the fixed ones.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date, timedelta

from keepline.memory.text.plain import plain

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FEASTS = {"元旦": (1, 1), "国庆": (10, 1), "五一": (5, 1), "圣诞": (12, 25)}
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九十")} | {"两": 2, "半": 0, "天": 7, "日": 7}
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "a": 1, "an": 1, "couple of": 2, "a couple of": 2, "few": 3,
}  # fmt: skip
_N = r"(\d{1,3}|a couple of|couple of|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|few)"
_ZN = r"(\d{1,3}|[一二两三四五六七八九十]{1,3})"
_WEEKDAY = r"(next |this |coming )?(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b"
_MONTH_DAY = rf"({'|'.join(_MONTHS)})[a-z]*\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?"
_DAY_MONTH = rf"(?:the )?(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({'|'.join(_MONTHS)})[a-z]*\b(?:,? (\d{{4}}))?"
_HOLDS_TO = re.compile(
    r"\b(?:until|till|'til|til|up until|through|expir\w+(?: on)?|ends?(?: on)?|ending|good (?:to|for)"
    r"|valid (?:to|for)|runs? (?:to|out on)|"
    r"no later than|lasts?)\s+"
)
_BEFORE = re.compile(r"\b(?:before|prior to|up to)\s+(?:the )?")
_FROM = re.compile(r"\b(?:from|starting(?: on| from)?|as of|beginning|effective)\s+(?:the )?")
_FOR = re.compile(
    rf"\b(?:(?:for|over|during) (?:only |just |about )?(?:the |another )?(?:next|coming|following"
    rf"|rest of (?:the|this)) {_N}? ?(day|week|fortnight|month|year)s?"
    rf"|(?:(?<!been )for|only for|just for) (?:only |just |another )?{_N} (day|week|fortnight)s?)\b"
)
_SO_FAR = re.compile(r"\b(?:been|was|were|had|lived|worked|did|went|stayed|ago)\b")
_THIS = re.compile(r"\b(?:this|the current) (week|month|year)\b(?! (?:or|and))|\bjust for (today|tonight"
    r"|tomorrow)\b|\b(?:only|just) (today|tonight|tomorrow)\b")
_ZH_DAY = (
    r"(?:(?:(下下|下|这|本)?(?:个)?(?:周|星期|礼拜)([一二三四五六日天末]))|(今天|今晚|今日|明天|明晚|后天"
    r"|大后天)|(?:(\d{4})年)?(\d{1,2}|[一二三四五六七八九十]{1,3})月"
    r"(?:(\d{1,2}|[一二三四五六七八九十]{1,3})[日号]?|(底|末|中旬))?|(?<![\d月])(\d{1,2})[号日]|((?:这|本"
    r"|下)?(?:个)?(?:月底|月末|月初|年底|年末|周末|月))|(\d{4}-\d{1,2}-\d{1,2})|(元旦|国庆|五一|圣诞))"
)
_ZH_TO = re.compile(rf"(?:只到|就到|到|至|截至|截止到?|直到|持续到|有效期到?|管到|用到|维持到|延到"
    rf"|撑到){_ZH_DAY}(?:的时候)?(为止|截止|前|之前|以前)?")
_ZH_BEFORE = re.compile(rf"{_ZH_DAY}(?:之前|以前|前|过后|之后|以后|后)(?!面|边)")
_ZH_FROM = re.compile(rf"(?:从|自)?{_ZH_DAY}(?:开始|起)")
_ZH_FOR = re.compile(rf"(?:接下来|未来|往后|后面|今后|这|近|最近)(?:的)?{_ZN}个?(天|周|星期|礼拜|月)"
    rf"|{_ZN}个?(天|周|星期|礼拜|月)(?:之内|以内|内)|(这周|本周|这星期|这个?礼拜|这个月|本月|今年)")


def until(text: str, said: date) -> date | None:
    """The last day on which what `text` says holds, from words like "until Friday", "for two weeks", "只到周五", "月底前";
    None if it names none. `said` is the day on which it was said; dates without a year lie after it."""
    low = plain(text)
    day = _until_en(low, said) or _until_zh(low, said)
    return day if day is not None and day >= said else None


def since(text: str, said: date) -> date | None:
    """The future day from which what `text` says holds ("from Monday", "下周一起"); None if it names none or an earlier one."""
    low = plain(text)
    days = [_near(low, m.end(), said) for m in _FROM.finditer(low)]
    days += [_day_zh(m.groups(), said) for m in _ZH_FROM.finditer(low)]
    return next((day for day in days if day is not None and day > said), None)


def _until_en(low: str, said: date) -> date | None:
    for pattern, shift in ((_HOLDS_TO, 0), (_BEFORE, -1)):
        for to in pattern.finditer(low):
            if day := _near(low, to.end(), said):
                return day + timedelta(days=shift)
    if (span := _FOR.search(low)) and not _SO_FAR.search(low, 0, span.start()):
        return _after(said, _number(span[1] or span[3]), span[2] or span[4], rest="rest" in span[0])
    if this := _THIS.search(low):
        word = this[1] or this[2] or this[3]
        if word in ("today", "tonight", "tomorrow"):
            return said + timedelta(days=word == "tomorrow")
        return _after(said, 0, word, rest=True)
    return None


def _until_zh(low: str, said: date) -> date | None:
    if to := _ZH_TO.search(low):
        day = _day_zh(to.groups()[:11], said)
        return day and day - timedelta(days=to.group(12) in ("前", "之前", "以前"))
    if before := _ZH_BEFORE.search(low):
        day = _day_zh(before.groups(), said)
        return day and day - timedelta(days=not before.group().endswith("后"))
    if (span := _ZH_FOR.search(low)) is None:
        return None
    if this := span.group(5):
        return _after(said, 0, {"月": "month", "年": "year"}.get(this[-1], "week"), rest=True)
    count, unit = (span.group(1), span.group(2)) if span.group(1) else (span.group(3), span.group(4))
    return _after(said, _number_zh(count), {"天": "day", "月": "month"}.get(unit, "week"))


def _after(said: date, count: int, unit: str, rest: bool = False) -> date:
    if rest and not count:
        return {"week": said + timedelta(days=6 - said.weekday()), "month": _month_end(said)}.get(
            unit, date(said.year, 12, 31) if unit == "year" else said
        )
    count = count or 1
    if unit == "month":
        return _months_later(said, count)
    return said + timedelta(days=count * {"day": 1, "week": 7, "fortnight": 14, "year": 365}[unit])


def _near(low: str, at: int, said: date) -> date | None:
    """The day named at `at` of an English text or up to four words later ("until the exam on 3 June")."""
    for skipped in range(5):
        if (day := _day(low, at, said)) and not (skipped and low.startswith("may", at)):
            return day
        if not (m := re.compile(r"[\w'-]+,? ").match(low, at)):
            return None
        at = m.end()
    return None


def _day(low: str, at: int, said: date) -> date | None:
    """The day named at `at` of an English text."""
    for pattern, rule in _RULES:
        if m := pattern.match(low, at):
            return rule(m, said)
    return None


def _weekday(m: re.Match[str], said: date) -> date:
    number = _DAYS.index(m.group(2)[:3])
    if m.group(1) == "next ":
        return said + timedelta(days=7 - said.weekday() + number)
    return said + timedelta(days=(number - said.weekday()) % 7 or 7)


def _month_only(m: re.Match[str], said: date) -> date:
    month = _MONTHS.index(m.group(1)) + 1
    year = int(m.group(2)) if m.group(2) else said.year + (month < said.month)
    return _month_end(date(year, month, 1))


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], date | None]], ...] = (
    (re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})"), lambda m, _: _valid(int(m[1]), int(m[2]), int(m[3]))),
    (re.compile(r"(?:the )?end of (?:the |this )?(week|month|year)"), lambda m, said: _after(said, 0, m[1], rest=True)),
    (re.compile(r"(?:today|tonight)\b"), lambda _, said: said),
    (re.compile(r"tomorrow\b"), lambda _, said: said + timedelta(days=1)),
    (re.compile(r"christmas"), lambda _, said: _coming(said, 12, 25)),
    (re.compile(r"new year"), lambda _, said: _coming(said, 1, 1)),
    (re.compile(_MONTH_DAY), lambda m, said: _dated(said, m[3], _MONTHS.index(m[1]) + 1, int(m[2]))),
    (re.compile(_DAY_MONTH), lambda m, said: _dated(said, m[3], _MONTHS.index(m[2]) + 1, int(m[1]))),
    (re.compile(_WEEKDAY), _weekday),
    (re.compile(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)\b"), lambda m, said: _day_of_month(said, int(m[1]))),
    (re.compile(rf"(?:the end of |late |early |mid[- ]?)?({'|'.join(_MONTHS)})[a-z]*\b(?: (\d{{4}}))?"), _month_only),
)


def _day_zh(groups: tuple[str | None, ...], said: date) -> date | None:
    """The day of the groups of `_ZH_DAY`."""
    which, weekday, near, year, month, day, _, alone, end, iso, feast = groups[:11]
    found: date | None = None
    if iso:
        found = _valid(*(int(n) for n in iso.split("-")))
    elif weekday:
        number = 7 if weekday == "末" else _DIGITS[weekday]
        found = said + timedelta(days=(number - 1 - said.weekday()) % 7 or 7)
        if which in ("下", "下下"):
            found = said + timedelta(days=7 * len(which) - said.weekday() + number - 1)
    elif near:
        found = said + timedelta(days={"明": 1, "后": 2, "大": 3}.get(near[0], 0))
    elif month:
        found = _month_day_zh(year, _number_zh(month), day, said)
    elif alone:
        found = _day_of_month(said, int(alone))
    elif feast:
        found = _coming(said, *_FEASTS[feast])
    elif end:
        found = _end_zh(end, said)
    return found


def _month_day_zh(year: str | None, month: int, day: str | None, said: date) -> date | None:
    if not 1 <= month <= 12:
        return None
    if day:
        return _dated(said, year, month, _number_zh(day))
    return _month_end(date(int(year) if year else said.year + (month < said.month), month, 1))


def _end_zh(end: str, said: date) -> date:
    if "年" in end:
        return date(said.year, 12, 31)
    if "周" in end:
        return said + timedelta(days=6 - said.weekday() + 7 * ("下" in end))
    return _month_end(_months_later(said.replace(day=1), 1) if "下" in end else said)


def _number(word: str | None) -> int:
    return int(word) if word and word.isdigit() else _NUMBERS.get(word or "", 0)


def _number_zh(word: str) -> int:
    if word.isdigit():
        return int(word)
    tens, ten, units = word.partition("十")
    if not ten:
        return _DIGITS.get(word[:1], 0)
    return (_DIGITS.get(tens, 1) if tens else 1) * 10 + (_DIGITS.get(units, 0) if units else 0)


def _valid(year: int, month: int, day: int) -> date | None:
    return date(year, month, day) if 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1] else None


def _dated(said: date, year: str | None, month: int, day: int) -> date | None:
    return _valid(int(year), month, day) if year else _coming(said, month, day)


def _coming(said: date, month: int, day: int) -> date | None:
    found = _valid(said.year, month, day)
    return _valid(said.year + 1, month, day) if found and found < said else found


def _day_of_month(said: date, day: int) -> date | None:
    if not 1 <= day <= 31:
        return None
    base = said if day >= said.day else _months_later(said.replace(day=1), 1)
    return _valid(base.year, base.month, min(day, calendar.monthrange(base.year, base.month)[1]))


def _month_end(day: date) -> date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def _months_later(day: date, count: int) -> date:
    month = day.month - 1 + count
    year, month = day.year + month // 12, month % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))
