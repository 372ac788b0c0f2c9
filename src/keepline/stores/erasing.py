"""Erasing as steps: the words go, and everything derived from them; what others still stand on stays as a tombstone.

Pure; executes nothing. That the bytes leave the file is the business of whoever executes. Ledgers hold no words and stay.
"""

from __future__ import annotations

from sqlalchemy import bindparam, delete, or_, select, update

from keepline.ports import store as ops
from keepline.ports.derived import WHOLE
from keepline.ports.store import UNKNOWN
from keepline.stores.keys import at, batches, owned
from keepline.stores.reading import SESSION, SESSIONS, to_path, to_sessions
from keepline.stores.schema import bodies, derived, endings, lineage, messages, metadata, pins, positions, recall, sessions
from keepline.stores.steps import Account, Step, Steps, many
from keepline.stores.writing_views import AT_NAME, drop_rows

_NAMED = select(messages.c.number, messages.c.seq).where(
    owned(messages), messages.c.id.in_(bindparam("ids", expanding=True)), messages.c.erased == 0
)
_BLANK_MESSAGE = update(messages).where(at(messages)).values(
    erased=1, category=UNKNOWN, retention=UNKNOWN, given=0, counts="{}", links=None, rev=bindparam("r"),
)  # fmt: skip
_BLANK_BODY = update(bodies).where(at(bodies)).values(body=b"", salt=b"")
_DERIVED = (
    delete(recall).where(at(recall)),
    delete(pins).where(at(pins)),
    delete(endings).where(at(endings)),
    delete(endings).where(owned(endings), endings.c.by_number == bindparam("n"), endings.c.by_seq == bindparam("s")),
)


def rows(op: ops.EraseRows, account: Account) -> Steps[None]:
    """Erase messages by id."""
    places: list[tuple[int, int]] = []
    for piece in batches(dict.fromkeys(op.ids)):
        places += [(row[0], row[1]) for row in (yield Step(_NAMED, account.who | {"ids": piece}))]
    yield from _blank(places, account)


def _blank(places: list[tuple[int, int]], account: Account) -> Steps[None]:
    """Make tombstones of the messages at (number, seq). A pin that one of them had ended stands again."""
    if not places:
        return
    account.erased = account.words_gone = True
    keys = [account.who | {"n": number, "s": seq} for number, seq in places]
    yield from many(_BLANK_MESSAGE, [key | {"r": account.version} for key in keys])
    yield from many(_BLANK_BODY, keys)
    for statement in _DERIVED:
        yield from many(statement, keys)
    yield from _without(places, account)


_OTHERS = select(sessions.c.number, sessions.c.path).where(owned(sessions), sessions.c.name != bindparam("name"))
_OWN = select(messages.c.number, messages.c.seq).where(
    owned(messages), messages.c.number == bindparam("n"), messages.c.erased == 0
)
_DROP_SESSION = (
    delete(sessions).where(owned(sessions), sessions.c.number == bindparam("n")),
    delete(positions).where(owned(positions), positions.c.number == bindparam("n")),
)
_DROP_ROWS = tuple(
    delete(table).where(owned(table), table.c.number == bindparam("n"), table.c.seq >= bindparam("s"))
    for table in (messages, bodies)
)
_DROP_DERIVED = (
    delete(recall).where(owned(recall), recall.c.number == bindparam("n")),
    delete(pins).where(owned(pins), pins.c.number == bindparam("n")),
    delete(endings).where(
        owned(endings), or_(endings.c.number == bindparam("n"), endings.c.by_number == bindparam("n"))
    ),
)


def session(op: ops.EraseSession, account: Account) -> Steps[None]:
    """Erase a session; of its rows, those that a fork stands on stay as tombstones, and so do, until the last fork goes,
    those of sessions erased before."""
    name = op.scope.need_session("erasing a session")
    found = next(iter(to_sessions((yield Step(SESSION, account.who | {"name": name})))), None)
    account.sessions.pop(name, None)
    if found is None:
        return
    account.erased = account.words_gone = True
    others = yield Step(_OTHERS, account.who | {"name": name})
    needed: dict[int, int] = {}
    for _, path in others:
        for span in to_path(path):
            needed[span.number] = max(needed.get(span.number, 0), span.hi)
    alive = {number for number, _ in others}
    own = yield Step(_OWN, account.who | {"n": found.number})
    kept = needed.get(found.number, 0)
    yield from _blank([(row[0], row[1]) for row in own if row[1] < kept], account)
    yield from _of_session(found.number, account)
    this = account.who | {"n": found.number}
    for statement in _DROP_DERIVED:
        yield Step(statement, this)
    for statement in _DROP_SESSION:
        yield Step(statement, this)
    for number in {found.number, *(span.number for span in found.path)} - alive:
        for statement in _DROP_ROWS:
            yield Step(statement, account.who | {"n": number, "s": needed.get(number, 0)})


_DROP_OWNER = tuple(delete(table).where(owned(table)) for table in metadata.sorted_tables if "tenant" in table.c)


def user(_: ops.EraseUser, account: Account) -> Steps[None]:
    """Erase all of the owner. Whoever has the name next starts with other counters."""
    if not account.exists:
        return
    for statement in _DROP_OWNER:
        yield Step(statement, account.who)
    account.words_gone = True
    account.exists, account.erased, account.version, account.epoch = False, False, 0, 0
    account.sessions.clear()


# ---------------------------------------------------------------- with the source

_MADE_FROM = select(lineage.c.kind, lineage.c.id).where(
    owned(lineage), lineage.c.number == bindparam("n"), lineage.c.seq.in_(bindparam("seqs", expanding=True))
)
_OF_SESSION = (
    select(derived.c.kind, derived.c.id).where(owned(derived), derived.c.number == bindparam("n")),
    select(lineage.c.kind, lineage.c.id).where(owned(lineage), lineage.c.number == bindparam("n")).distinct(),
)
_PLACE = select(derived.c.kind, derived.c.number, derived.c.lo).where(AT_NAME)
_BACK = (
    update(positions).where(
        owned(positions), positions.c.number == bindparam("n"), positions.c.view == bindparam("k"),
        positions.c.seq > bindparam("lo"),
    ).values(seq=bindparam("lo"))
)  # fmt: skip


def _without(places: list[tuple[int, int]], account: Account) -> Steps[None]:
    """Take away every row that was made from a message at one of (number, seq)."""
    by_number: dict[int, list[int]] = {}
    for number, seq in places:
        by_number.setdefault(number, []).append(seq)
    found: set[tuple[str, str]] = set()
    for number, seqs in by_number.items():
        for piece in batches(seqs):
            found |= set((yield Step(_MADE_FROM, account.who | {"n": number, "seqs": piece})))
    yield from _take(found, account)


def _of_session(number: int, account: Account) -> Steps[None]:
    """Take away every row that is about session `number`, or was made from one of its messages."""
    found: set[tuple[str, str]] = set()
    for statement in _OF_SESSION:
        found |= set((yield Step(statement, account.who | {"n": number})))
    yield from _take(found, account)


def _take(names: set[tuple[str, str]], account: Account) -> Steps[None]:
    """Delete rows; their views go back to where the rows began, in the session and in the forks that stand on it."""
    begins: dict[tuple[str, int], int] = {}
    for kind, name in sorted(names):
        for place in (yield Step(_PLACE, account.who | {"k": kind, "i": name})):
            if place[1] != WHOLE:
                begins[place[:2]] = min(place[2], begins.get(place[:2], place[2]))
    yield from drop_rows(sorted(names), account)
    if not begins:
        return
    sessions = to_sessions((yield Step(SESSIONS, account.who)))
    for (kind, number), lo in begins.items():
        over = [s.number for s in sessions if s.number == number or any(span.number == number for span in s.path)]
        yield from many(_BACK, [account.who | {"n": n, "k": kind, "lo": lo} for n in over])
    account.sessions.clear()
