"""A client that re-sends its whole history: what is known is not stored again, what ends inside a log forks it, what is
new is added.

A fork of session `chat` is named `chat~2`, `chat~3`, …; it owns only its own messages and stands on the parent's for the
rest. The caller goes on saying `chat`: every call finds its place among `chat` and its forks again. Without a session the
place is found among all of the owner's. Flows; knows no SQL. How histories and logs are compared is in `match`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from keepline.errors import BadMessage, Moved
from keepline.memory import chain
from keepline.memory.extend import TRIES, Fresh, extend, newcomer
from keepline.memory.match import History, Match, Track, best
from keepline.ports.flow import Flow
from keepline.ports.store import FindRows, GetRows, GetUser, ListSessions, Read, Row
from keepline.ports.tokens import TokenCounter
from keepline.values.message import Message, canonical
from keepline.values.scope import Scope
from keepline.values.session import Session, Span, User

PEEK = 8
"""Rows from a log's beginning that are read to see whether it can be a history's own."""
TAILS = 32
"""Newest sessions whose ends are compared with a history that fits no log's beginning and names no session."""

_FORK = re.compile(r"~\d+$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Synced:
    """What `sync` did. `session` is the conversation's name now (another one when it forked), `known` how many messages of
    the history were there already, `added` those that were not, as stored. `forked`: a fork was made by this call.
    Of the added, `changed` stand where the log had other words, and `repeated` come after those with the same words as
    there. `notes` are faults of the history that a build mends."""

    session: str
    known: int
    added: tuple[Message, ...] = ()
    forked: bool = False
    changed: int = 0
    repeated: int = 0
    notes: tuple[str, ...] = ()


def sync(
    scope: Scope, history: Sequence[Message], counter: TokenCounter, now: datetime, fresh: Fresh, *, branch: bool = True
) -> Flow[Synced]:
    """Bring the log up to `history` (from `intake`), which a client sent whole or with its front cut.

    It is matched from the root; ending at a log's end continues that session, ending inside forks it; a headless one is
    matched by the longest run at the log's end. A single message that fits nowhere starts a new session. System text is
    stored only where it differs from the session's last. Twice the same history adds nothing the second time. With
    `branch` false a history that is known whole writes nothing, even where it ends inside (an older export of a file).
    `counter` counts what is new, `fresh` makes secrets. Raises `BadMessage` for an empty history.
    """
    if not history:
        raise BadMessage(where="messages", why="the history is empty; give at least one message")
    counts: dict[int, int] = {}
    tried = 0
    while True:
        ground = yield from _survey(scope, history, fresh)
        if ground is None:
            continue
        plan = _decide(ground, scope, history, now)
        if plan.nothing(branch):
            return plan.result((), branch)
        for i in plan.new:
            counts.setdefault(i, counter.message(history[i].body))
        new = [history[i].evolve(counts={counter.name: counts[i]}) for i in plan.new]
        new = yield from _free_ids(scope, new)
        try:
            stored = yield from extend(
                scope, ground.user, plan.session, new, fresh, number=ground.number, careful=tried > 0
            )
        except Moved:
            tried += 1
            if tried == TRIES:
                raise
            continue
        return plan.result(stored, branch)


# ---------------------------------------------------------------- what is there


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ground:
    """What the decision rests on: the owner, the names of all sessions, and the logs that may be the history's own."""

    user: User
    names: frozenset[str]
    number: int
    tracks: tuple[Track, ...]
    history: History


def _survey(scope: Scope, messages: Sequence[Message], fresh: Fresh) -> Flow[_Ground | None]:
    """Read it; None if something was erased meanwhile."""
    there, sessions = yield Read((GetUser(scope), ListSessions(scope)))
    user = there or newcomer(fresh)
    history = History(messages)
    near = _family(sessions, scope.session)
    tails: tuple[Track, ...] = ()
    if scope.session is None and sessions:
        near = yield from _by_root(scope, sessions, user.key, history)
        if not near:
            tails = yield from _tails(scope, sessions, history)
    later, tracks = yield from _tracks(scope, near)
    if near and (later is None or later.epoch != user.epoch):
        return None
    return _Ground(
        user=user, names=frozenset(s.name for s in sessions),
        number=max((s.number for s in sessions), default=-1) + 1, tracks=tracks + tails, history=history,
    )  # fmt: skip


def _family(sessions: Sequence[Session], name: str | None) -> list[Session]:
    """The session called `name` and its forks."""
    if name is None:
        return []
    return [s for s in sessions if s.name == name or (s.name.startswith(f"{name}~") and s.name[len(name) + 1 :].isdecimal())]


def _by_root(scope: Scope, sessions: Sequence[Session], key: bytes, history: History) -> Flow[list[Session]]:
    """The sessions whose log begins with the history's first message (or with no message at all, if it has none)."""
    roots = [s.spans[0].number if s.spans else s.number for s in sessions]
    numbers = tuple(dict.fromkeys(roots))
    answers = yield Read(tuple(GetRows(scope, (Span(number=n, lo=0, hi=PEEK),)) for n in numbers))
    fits = {n for n, rows in zip(numbers, answers, strict=True) if _may_begin(rows, key, history)}
    return [s for s, root in zip(sessions, roots, strict=True) if root in fits]


def _may_begin(rows: Sequence[Row], key: bytes, history: History) -> bool:
    first = next((row for row in rows if row.digest), None)
    if first is None:
        return len(rows) == PEEK or not len(history)
    if not len(history):
        return False
    if first.message.erased:
        return first.message.role is history.roles[0]
    return chain.digest(key, b"", first.salt, history.covered[0]) == first.digest


def _tails(scope: Scope, sessions: Sequence[Session], history: History) -> Flow[tuple[Track, ...]]:
    """The ends of the newest logs, long enough for the history."""
    newest = sorted(sessions, key=lambda s: s.number)[-TAILS:]
    most = 2 * len(history) + PEEK
    asked = tuple(GetRows(scope, _last(s, most)) for s in newest)
    answers = yield Read(asked)
    return tuple(Track(s, rows, tail=True) for s, rows in zip(newest, answers, strict=True))


def _last(session: Session, most: int) -> tuple[Span, ...]:
    lowest = session.count - most
    spans = (replace(s, lo=max(s.lo, lowest)) for s in session.spans)
    return tuple(s for s in spans if s.lo < s.hi)


def _tracks(scope: Scope, sessions: Sequence[Session]) -> Flow[tuple[User | None, tuple[Track, ...]]]:
    """The whole logs of `sessions`; what forks share is read once."""
    reach: dict[int, int] = {}
    for span in (span for s in sessions for span in s.spans):
        reach[span.number] = max(span.hi, reach.get(span.number, 0))
    asked = tuple(GetRows(scope, (Span(number=n, lo=0, hi=hi),)) for n, hi in reach.items())
    user, *answers = yield Read((GetUser(scope), *asked))
    runs = {n: (rows, [row.message.seq for row in rows]) for n, rows in zip(reach, answers, strict=True)}
    return user, tuple(Track(s, _path(s, runs)) for s in sessions)


def _path(session: Session, runs: dict[int, tuple[tuple[Row, ...], list[int]]]) -> tuple[Row, ...]:
    found: list[Row] = []
    for span in session.spans:
        rows, seqs = runs[span.number]
        found += rows[bisect_left(seqs, span.lo) : bisect_left(seqs, span.hi)]
    return tuple(found)


# ---------------------------------------------------------------- what to do


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plan:
    """Extend `session` (number −1: make it) by the messages of the history at `new`. `parent` is the session it forks."""

    session: Session
    parent: Session | None
    new: tuple[int, ...]
    known: int
    changed: int
    repeated: int
    notes: tuple[str, ...]

    def nothing(self, branch: bool) -> bool:
        """Whether there is nothing to write."""
        return not self.new and (self.session.number >= 0 or (self.parent is not None and not branch))

    def result(self, stored: tuple[Message, ...], branch: bool) -> Synced:
        parent = self.parent if branch or self.new else None
        name = self.parent.name if self.parent and not parent else self.session.name
        return Synced(
            session=name, known=self.known, added=stored, forked=parent is not None,
            changed=self.changed, repeated=self.repeated, notes=self.notes,
        )


def _decide(ground: _Ground, scope: Scope, messages: Sequence[Message], now: datetime) -> _Plan:
    match = best(ground.user.key, ground.tracks, ground.history, scope.session)
    if match and not match.leaf and scope.session is None and len(ground.history) == 1:
        match = None  # "hi" begins many conversations: alone, it is a new one
    rows: tuple[Row, ...] = ()
    changed = repeated = 0
    if match is None:
        session, rows = _start(ground, scope, now)
    elif match.leaf:
        session, rows = match.track.session, match.track.rows
    else:
        session, rows = _fork(ground, match, now)
        changed, repeated = _compare(match, ground.history)
    spoken = match.known if match else 0
    new = _new(messages, ground.history, rows, spoken)
    return _Plan(
        session=session, parent=None if match is None or match.leaf else match.track.session, new=new,
        known=len(messages) - len(new),
        changed=changed, repeated=repeated, notes=_orphans(messages, new, rows),
    )  # fmt: skip


def _start(ground: _Ground, scope: Scope, now: datetime) -> tuple[Session, tuple[Row, ...]]:
    """The session of a history that continues none: the named one while it is empty, else a new one."""
    name = scope.session or _name_of(ground)
    here = next((t for t in ground.tracks if t.session.name == name and not t.tail), None)
    if here is not None and (not here.chained or not len(ground.history)):
        return here.session, here.rows
    return Session(name=_free(name, ground.names), number=-1, started=now), ()


def _fork(ground: _Ground, match: Match, now: datetime) -> tuple[Session, tuple[Row, ...]]:
    parent, last = match.track.session, match.track.chained[match.end - 1]
    cut = last.message.seq + 1
    session = Session(
        name=_free(_FORK.sub("", parent.name), ground.names), number=-1, started=now, path=parent.upto(cut), start=cut,
        count=cut, head=last.digest, positions={view: min(at, cut) for view, at in parent.positions.items()},
    )  # fmt: skip
    return session, tuple(row for row in match.track.rows if row.message.seq < cut)


def _free(name: str, names: frozenset[str]) -> str:
    """`name`, or the first of `name~2`, `name~3`, … that no session has."""
    free, n = name, 1
    while free in names:
        n += 1
        free = f"{name}~{n}"
    return free


def _name_of(ground: _Ground) -> str:
    """A name made of the first message's words, by a keyed hash: two calls that store the same history at once meet in
    one session, and the name tells nothing of the words."""
    words = ground.history.covered[0] if len(ground.history) else b""
    mark = hashlib.blake2b(words, key=ground.user.key, digest_size=5, person=b"session").digest()
    return "c" + base64.b32encode(mark).decode().lower()


def _new(messages: Sequence[Message], history: History, rows: Sequence[Row], spoken: int) -> tuple[int, ...]:
    """Which messages to store: those after the first `spoken` of the chained, and the system text that is not in force.

    The history's system texts are compared with the last ones of the log, so that several of them, or one that changed
    midway, are each stored once.
    """
    told = [row.message for row in rows if not row.digest]
    sent = [(messages[i].role, canonical(messages[i].body)) for i in history.told]
    there = [(m.role, None if m.erased else canonical(m.body)) for m in told]
    shared = min(len(sent), len(there))
    while not all(_is(a, b) for a, b in zip(there[len(there) - shared :], sent, strict=False)):
        shared -= 1
    return tuple(sorted(history.told[shared:] + history.spoken[spoken:]))


def _is(there: tuple[object, bytes | None], sent: tuple[object, bytes]) -> bool:
    return there == sent or (there[1] is None and there[0] is sent[0])


def _compare(match: Match, history: History) -> tuple[int, int]:
    """Of the messages after a fork: how many stand where the log has other words, and how many where it has the same."""
    after = [row.message for row in match.track.chained[match.end :]]
    sent = zip(history.roles[match.known :], history.covered[match.known :], strict=False)
    same = [
        there.role is role and (there.erased or canonical(there.body) == words)
        for there, (role, words) in zip(after, sent, strict=False)
    ]
    return same.count(False), same.count(True)


def _orphans(messages: Sequence[Message], new: Sequence[int], rows: Sequence[Row]) -> tuple[str, ...]:
    """A note if new tool results answer no call that is known."""
    if not any(messages[i].answers for i in new):
        return ()
    called = {call for row in rows for call in row.message.calls}
    added, lost = set(new), 0
    for i, message in enumerate(messages):
        if i in added:
            lost += sum(call not in called for call in message.answers)
        called |= set(message.calls)
    return (f"{lost} tool results answer no call of this conversation; they are kept in the log",) if lost else ()


def _free_ids(scope: Scope, messages: list[Message]) -> Flow[list[Message]]:
    """Drop ids that other messages have: a re-sent history must come in, whatever its program used as ids."""
    ids = tuple(dict.fromkeys(m.id for m in messages if m.id))
    if not ids:
        return messages
    (found,) = yield Read((FindRows(scope, ids),))
    taken = {row.message.id for row in found}
    free: list[Message] = []
    for message in messages:
        free.append(message.evolve(id="") if message.id in taken else message)
        taken.add(message.id)
    return free
