"""Lines and blocks as text: stamped with date, speaker, certainty and id, fenced, escaped. Chooses nothing.

Recalled text is data, never instruction: it stands between one pair of fences, cannot close them, and its own line breaks
are indented so that no line of it can pass for a stamp.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from keepline.context.draft import Draft, Priced
from keepline.context.words import BY_NAME
from keepline.errors import BadSetting
from keepline.values.entity import Entity
from keepline.values.message import Message, Role
from keepline.values.summary import Statement

OPEN, CLOSE = "<background>", "</background>"


@lru_cache(maxsize=64)
def zone_of(name: str) -> tzinfo:
    """The zone of an IANA name; raises `BadSetting` for an unknown one."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise BadSetting(name="zone", origin="settings", value=name, why="give an IANA name such as Asia/Shanghai") from None


def day_of(at: datetime, zone: str) -> str:
    """The local date of `at` in `zone`, as YYYY-MM-DD."""
    return at.astimezone(zone_of(zone)).date().isoformat()


def escaped(text: str) -> str:
    """`text` that cannot close or open the fence, its line breaks indented."""
    for mark in (OPEN, CLOSE):
        if mark in text:
            text = text.replace(mark, mark.replace("<", "&lt;").replace(">", "&gt;"))
    return text.strip().replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\n  ")


def folded(text: str) -> str:
    """The form in which two texts are the same thing said: case, spaces and the last stop do not matter."""
    return " ".join(text.split()).casefold().strip(" .。!！")


def pin_line(id: str, text: str) -> str:
    """The line that restates a pin."""
    return f"- #{id} {escaped(text)}"


def stamp(message: Message, language: str, zone: str) -> str:
    """`[2026-08-12 · user's words · confirmed · #m17]`, in the conversation's language."""
    words = BY_NAME[language]
    sure = words.stated if message.role in (Role.USER, Role.SYSTEM, Role.DEVELOPER) else words.unsure
    return _stamp(language, day_of(message.at, zone), words.said[message.role], sure, f"#{message.id}")


def _stamp(language: str, day: str, said: str, *rest: str) -> str:
    joint = " · "
    first = f"{day} {said}" if language == "zh" else f"{day}{joint}{said}"
    return "[" + joint.join((first, *rest)) + "]"


def exact_line(entity: Entity, day: str, language: str) -> str:
    """The line of an entity: its words, its kind, its day, and the message that has them."""
    words = BY_NAME[language]
    whose = words.said[Role(entity.role)]
    return f"- #{entity.id} {words.kinds[entity.kind]}: {escaped(entity.surface)} ({day} · {whose})"


def summary_line(statement: Statement, ids: Sequence[str], language: str) -> str:
    """The line of a statement of the summary: whose words, where they are not the user's own, and the messages behind it."""
    retold = BY_NAME[language].retold
    whose = [] if statement.verbatim else [retold[statement.origin.value]]
    whose += [retold["open"]] if statement.open else []
    mark = f"({' · '.join(whose)}) " if whose else ""
    return f"- {' '.join('#' + i for i in ids)} {mark}{escaped(statement.text)}"


def summary_block(draft: Draft) -> str:
    """The message of the summary: its head, and the lines as they were said, under a stamp a day."""
    lines = [BY_NAME[draft.summary_language].summary, OPEN]
    day = ""
    for k in draft.summary:
        if k.day != day:
            day = k.day
            lines.append(f"[{day}]")
        lines.append(k.line)
    return "\n".join([*lines, CLOSE])


def piece_line(message: Message, text: str, language: str, zone: str) -> str:
    """The line of a recalled piece."""
    return f"{stamp(message, language, zone)} {escaped(text)}"


def block(draft: Draft) -> str:
    """The one message of ours: recalled pieces with the best last, then what may still matter, then the pins."""
    words = BY_NAME[draft.language]
    lines = [words.head, OPEN]
    if draft.pieces:
        lines += [words.recalled, *(p.line for p in reversed(draft.pieces))]
    if draft.exact:
        lines += [words.exact, *(k.line for k in draft.exact)]
    sure = draft.restated + tuple(p for p in draft.filled if p.pin.stands)
    maybe = tuple(p for p in draft.filled if not p.pin.stands)
    for title, pins in ((words.maybe, maybe), (words.pins, sure)):
        if pins:
            lines += [title, *_by_day(pins, draft.language)]
    return "\n".join([*lines, CLOSE])


def _by_day(pins: tuple[Priced, ...], language: str) -> list[str]:
    """The lines of pins, oldest first, under a stamp a day."""
    words = BY_NAME[language]
    lines: list[str] = []
    day = ""
    for p in sorted(pins, key=lambda p: (p.pin.seq, p.pin.start)):
        if p.day != day:
            day = p.day
            lines.append(_stamp(language, day, words.said[Role.USER], words.stated))
        lines.append(p.line)
    return lines
