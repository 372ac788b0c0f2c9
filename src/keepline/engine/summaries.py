"""Rolling summaries kept up: one writer a session at a time, a failing model left alone for a while, the failure shown.

Knows when to try; what is written and whether it is due is the flow's.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from keepline.engine.desk import Desk
from keepline.errors import ModelError
from keepline.memory.summary import Writer, settle_summary
from keepline.ports.clock import Clock
from keepline.values.scope import Scope
from keepline.values.session import SUMMARY

PATIENCE, MOST_PATIENCE = timedelta(seconds=10), timedelta(minutes=30)
"""How long a model that failed is left alone: twice as long at each failure, up to the most."""

Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Trouble:
    """A session whose last summary call failed: why, how often in a row, and until when it is left alone."""

    why: str
    times: int
    until: datetime


class Summaries:
    """Makes the segments that are due."""

    def __init__(self, desk: Desk, writer: Writer, clock: Clock) -> None:
        self._desk = desk
        self._writer = writer
        self._clock = clock
        self._busy: set[Place] = set()
        self._lock = threading.Lock()
        self._troubles: dict[Place, Trouble] = {}

    def settle(self, scope: Scope, *, forced: bool = False) -> int:
        """Make the segments of the session that are due (`forced`: all that there is to make) → messages covered.

        A model's failure leaves the old summary and is told by `troubles`; forced, it is raised.
        """
        place = _place(scope)
        with self._lock:
            trouble = self._troubles.get(place)
            if place in self._busy or (trouble and not forced and self._clock.now() < trouble.until):
                return 0
            self._busy.add(place)
        done = 0
        try:
            while segment := self._desk.run(lambda: settle_summary(scope, self._writer, self._clock.now(), forced=forced)):
                done += segment.hi - segment.lo
                self._troubles.pop(place, None)
                if forced:  # who asks for a summary wants to see it
                    self._desk.renew(scope, SUMMARY)
        except ModelError as error:
            times = trouble.times + 1 if trouble else 1
            wait = min(PATIENCE * 2 ** min(times - 1, 12), MOST_PATIENCE)
            self._troubles[place] = Trouble(str(error), times, self._clock.now() + wait)
            if forced:
                raise
        finally:
            self._busy.discard(place)
        return done

    def troubles(self, scope: Scope | None = None) -> Mapping[str, str]:
        """Why the last call failed, by session: of the user (or session) of `scope`, or of all."""
        wanted = None if scope is None else (scope.owner, scope.session)
        return {
            place[2]: t.why for place, t in list(self._troubles.items())
            if wanted is None or (place[:2] == wanted[0] and wanted[1] in (None, place[2]))
        }


def _place(scope: Scope) -> Place:
    return (*scope.owner, scope.session or "")
