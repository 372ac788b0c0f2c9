"""A corpus's turns as chat messages: who speaks becomes a role or a name, its dates become times.

Knows how corpora write speakers and dates; asks no engine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from keepline.evals.formats import Corpus

ASSISTANTS = frozenset({"assistant", "ai", "助手", "ai助手"})
USERS = frozenset({"", "user", "用户"})

_MONTHS = {m: n for n, m in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)}
_CLOCK = r"(?P<h>\d{1,2}):(?P<m>\d{2})\s*(?P<half>[ap]m)?"
_DATES = tuple(re.compile(p, re.IGNORECASE) for p in (
    r"(?P<Y>\d{4})[-/.年](?P<M>\d{1,2})[-/.月](?P<D>\d{1,2})",       # 2025-12-22 (Monday) · 2024年04月04日 周四
    r"(?P<D>\d{1,2})\.(?P<M>\d{1,2})\.(?P<Y>\d{4})",                 # 29.12.2023
    r"(?P<D>\d{1,2})\s+(?P<N>[a-z]{3})[a-z]*\.?,?\s+(?P<Y>\d{4})",   # 8 May, 2023
    r"(?P<N>[a-z]{3})[a-z]*\.?[\s-](?P<D>\d{1,2}),?[\s-](?P<Y>\d{4})",  # March-15-2024 · May 8, 2023
))  # fmt: skip


def messages_of(corpus: Corpus) -> tuple[Mapping[str, Any], ...]:
    """One chat message a turn. The assistant's turns have its role; every other speaker's are the user's, as both are in talk
    between friends, with the speaker as `name` unless that says no more than "user"."""
    found = []
    for turn in corpus.turns:
        speaker = turn.speaker.strip()
        body: dict[str, Any] = {"role": "assistant" if speaker.casefold() in ASSISTANTS else "user", "content": turn.text}
        if speaker.casefold() not in ASSISTANTS | USERS:
            body["name"] = speaker
        found.append(body)
    return tuple(found)


def time_of(date: str) -> datetime | None:
    """The time that `date` names, as UTC: a day in ISO, Chinese, or with its month's name, and a clock time if there is one.
    None when there is none to be read."""
    for pattern in _DATES:
        found = pattern.search(date)
        if found is None:
            continue
        parts = found.groupdict()
        month = _MONTHS.get(parts["N"].lower(), 0) if parts.get("N") else int(parts["M"])
        clock = re.search(_CLOCK, date, re.IGNORECASE)
        hour, minute = (int(clock["h"]), int(clock["m"])) if clock else (0, 0)
        if clock and clock["half"]:
            hour = hour % 12 + 12 * (clock["half"].lower() == "pm")
        try:
            return datetime(int(parts["Y"]), month, int(parts["D"]), hour, minute, tzinfo=UTC)
        except ValueError:
            return None
    return None
