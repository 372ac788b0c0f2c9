"""Where a re-sent history belongs: which known log it continues, and from which message on.

Pure: compares messages with rows; reads and writes nothing. Only chained messages are compared: system text is set by the
program, not said in the conversation. A tombstone matches any one message of its role, but words that agree weigh more.

Three ways to belong, the one that explains most messages wins, ties in this order:

    root     the history begins where the log begins
    tail     the client cut the front: the history begins with the log's last messages
    inside   front and end were cut, or the end was changed: it begins somewhere in the log
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keepline.memory import chain
from keepline.ports.store import ROLES, Row
from keepline.values.message import Message, Role, canonical
from keepline.values.session import Session

ENOUGH = 2
"""Messages that must agree before a history without its beginning is taken for part of a log, rather than a new one that
happens to begin with the same words."""


class History:
    """What a client sent: its chained messages as the bytes that digests cover, each computed once. `spoken` are their
    places among all messages, `told` those of system text."""

    def __init__(self, messages: Sequence[Message]) -> None:
        roles = [m.role for m in messages]
        self.spoken = tuple(i for i, role in enumerate(roles) if not role.instructs)
        self.told = tuple(i for i, role in enumerate(roles) if role.instructs)
        self.covered = [canonical(messages[i].body) for i in self.spoken]
        self.roles = [roles[i] for i in self.spoken]

    def __len__(self) -> int:
        return len(self.spoken)


@dataclass(frozen=True)
class Track:
    """A session and the rows of its log, root first; with `tail`, only its last rows."""

    session: Session
    rows: tuple[Row, ...]
    tail: bool = False

    @cached_property
    def chained(self) -> list[Row]:
        """The rows that are matched: all but system text."""
        return [row for row in self.rows if row.digest]


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The first `known` messages of the history are the rows of `track.chained` that end before `end`; of these, the words
    of `seen` agree, the others are tombstones."""

    track: Track
    known: int
    seen: int
    end: int

    @property
    def leaf(self) -> bool:
        """Whether the log ends with what matched: the history continues it."""
        return self.end == len(self.track.chained)


def best(key: bytes, tracks: Sequence[Track], history: History, name: str | None) -> Match | None:
    """The place that explains most of `history`, or None. `name` is the session that the caller named; among equals it
    comes first, then a log that ends there, then the newest.

    Without a name only a root, or a tail that has words of the assistant, will do: two people's "ok" are not one talk.
    """
    if not len(history):
        return None
    matcher = _Matcher(key, history)
    roots = [m for t in tracks if not t.tail and (m := matcher.root(t)).known and (name is not None or m.seen)]
    found = max(roots, key=lambda m: _rank(m, name), default=None)
    if found is not None and found.seen and (found.leaf or found.known == len(history)):
        return found
    tries = [matcher.tail(t, named=name is not None) for t in tracks]
    if name is not None:
        tries += [matcher.inside(t) for t in tracks]
    other = max((m for m in tries if m), key=lambda m: _rank(m, name), default=None)
    if other is None or (found is not None and (found.seen, found.known) >= (other.seen, other.known)):
        return found
    return other


def _rank(match: Match, name: str | None) -> tuple[int, int, bool, bool, int]:
    session = match.track.session
    return match.seen, match.known, match.leaf, session.name == name, session.number


def _more(found: Match | None, track: Track, log: NDArray[np.int64], known: int, end: int) -> Match | None:
    """`found`, or the match with these figures if at least as many words agree, and any."""
    seen = int((log[end - known : end] >= 0).sum())
    if not seen or (found is not None and (seen, known) < (found.seen, found.known)):
        return found
    return Match(track=track, known=known, seen=seen, end=end)


class _Matcher:
    """One history against many logs. What forks share is compared once: equal digests are equal beginnings."""

    def __init__(self, key: bytes, history: History) -> None:
        self.key = key
        self.history = history
        self._agreed: dict[tuple[int, bytes], bool] = {}
        self._codes: dict[bytes, int] = {}
        self._known_rows: dict[bytes, int] = {}

    def root(self, track: Track) -> Match:
        """How many messages of the history agree with the log's from the root: maybe none."""
        parent, n = b"", 0
        for row in track.chained:
            if n == len(self.history) or not self._agrees(n, parent, row):
                break
            parent, n = row.digest, n + 1
        seen = sum(not row.message.erased for row in track.chained[:n])
        return Match(track=track, known=n, seen=seen, end=n)

    def _agrees(self, n: int, parent: bytes, row: Row) -> bool:
        if row.message.erased:
            return row.message.role is self.history.roles[n]
        at = (n, row.digest)
        if at not in self._agreed:
            self._agreed[at] = chain.digest(self.key, parent, row.salt, self.history.covered[n]) == row.digest
        return self._agreed[at]

    def tail(self, track: Track, *, named: bool) -> Match | None:
        """The run of the log's last messages with which the history begins: the one with most words that agree."""
        log, there = self._rows(track), len(track.chained)
        found: Match | None = None
        for k in range(min(there, len(self.history)), 0, -1):
            if found is not None and k <= found.seen:
                break
            if self._alike(log[there - k :], k):
                enough = k >= ENOUGH and Role.ASSISTANT in self.history.roles[:k]
                if enough or (named and len(self.history) > 1):
                    found = _more(found, track, log, k, there)
        return found

    def inside(self, track: Track) -> Match | None:
        """The run anywhere in the log with which the history begins: the one with most words that agree; of equals the
        latest."""
        if track.tail or len(self.history) < ENOUGH:
            return None
        log, found = self._rows(track), None
        first = np.flatnonzero(self._same(log, np.full(len(log), self._sent[0]), np.full(len(log), self._roles[0])))
        for at in first.tolist():
            most = min(len(log) - at, len(self.history))
            if found is not None and most < found.seen:
                break
            differ = np.flatnonzero(~self._same(log[at : at + most], self._sent[:most], self._roles[:most]))
            k = int(differ[0]) if len(differ) else most
            if k >= ENOUGH:
                found = _more(found, track, log, k, at + k)
        return found

    # Words as numbers: equal words, equal number; a tombstone of role r is −1 − r.

    @cached_property
    def _sent(self) -> NDArray[np.int64]:
        return np.array([self._code(words) for words in self.history.covered], np.int64)

    @cached_property
    def _roles(self) -> NDArray[np.int64]:
        return np.array([ROLES.index(role) for role in self.history.roles], np.int64)

    def _code(self, words: bytes) -> int:
        return self._codes.setdefault(words, len(self._codes))

    def _rows(self, track: Track) -> NDArray[np.int64]:
        return np.array([self._row(row) for row in track.chained], np.int64)

    def _row(self, row: Row) -> int:
        if row.message.erased:
            return -1 - ROLES.index(row.message.role)
        if row.digest not in self._known_rows:
            self._known_rows[row.digest] = self._code(canonical(row.message.body))
        return self._known_rows[row.digest]

    def _alike(self, log: NDArray[np.int64], k: int) -> bool:
        ends = np.array([0, k - 1])
        if not self._same(log[ends], self._sent[ends], self._roles[ends]).all():
            return False
        return bool(self._same(log, self._sent[:k], self._roles[:k]).all())

    @staticmethod
    def _same(log: NDArray[np.int64], sent: NDArray[np.int64], roles: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray((log == sent) | (log == -1 - roles), np.bool_)
