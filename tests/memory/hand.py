"""A hand that drives the log's flows over a real store, counting in letters so that figures can be checked by eye."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from keepline.memory import imports, log
from keepline.memory.intake import Given, intake
from keepline.ports.flow import Flow, run
from keepline.ports.store import EraseRows, GetRows, GetSession, ListSessions, Read, Row, Store, Write
from keepline.testing.fakes import PlainCounter
from keepline.values.message import Message
from keepline.values.scope import Scope

NOW = datetime(2026, 8, 12, 9, 0, tzinfo=UTC)
COUNTER = PlainCounter("letter", overhead=4)


class Hand:
    """Drives the log's flows over one store, as one user; `need`s can be looked at before they are met."""

    def __init__(self, store: Store, user: str = "ann") -> None:
        self.store = store
        self.user = user
        self.writes = 0
        self.before: Callable[[Any], None] = lambda need: None

    def drive(self, flow: Flow[Any]) -> Any:
        return run(flow, {Read: self._read, Write: self._write})

    def _read(self, need: Read) -> Any:
        self.before(need)
        return self.store.read(need)

    def _write(self, need: Write) -> int:
        self.before(need)
        version = self.store.write(need)
        self.writes += 1
        return version

    def scope(self, session: str | None = "s") -> Scope:
        return Scope(user=self.user, session=session)

    def append(self, messages: Any, session: str = "s", *, strict: bool = True, **given: Any) -> tuple[Message, ...]:
        checked = intake(messages, given=Given(**given), now=NOW, loose=not strict)
        return self.drive(log.append(self.scope(session), checked, COUNTER, NOW, secrets.token_bytes, strict=strict))

    def sync(self, history: Any, session: str | None = "s") -> log.Synced:
        checked = intake(history, now=NOW, loose=True)
        return self.drive(log.sync(self.scope(session), checked, COUNTER, NOW, secrets.token_bytes))

    def take(self, text: str) -> list[imports.Imported | imports.Fault]:
        """Import a file's text."""
        done: list[imports.Imported | imports.Fault] = []
        for item in imports.parse_lines(text.splitlines(keepends=True), now=NOW):
            if isinstance(item, imports.Fault):
                done.append(item)
                continue
            done.append(self.drive(imports.import_conversation(
                self.scope(None), item.name, item.messages, COUNTER, NOW, secrets.token_bytes
            )))
        return done

    def erase(self, ids: Sequence[str] | None, session: str | None = "s") -> int:
        return self.drive(log.erase(self.scope(session), ids))

    def verify(self, session: str | None = None) -> int:
        return self.drive(log.verify_log(self.scope(session)))

    def rows(self, session: str = "s") -> tuple[Row, ...]:
        (found,) = self.store.read(Read((GetSession(self.scope(session)),)))
        if found is None:
            return ()
        return self.store.read(Read((GetRows(self.scope(session), found.spans),)))[0]

    def words(self, session: str = "s") -> list[str | None]:
        """What the session's log says, system text too; None for what was erased."""
        return [None if r.message.erased else r.message.text for r in self.rows(session)]

    def sessions(self) -> list[str]:
        return [s.name for s in self.store.read(Read((ListSessions(self.scope()),)))[0]]

    def blot(self, *ids: str) -> None:
        """Erase messages, as another process would."""
        self.store.write(Write((EraseRows(self.scope(), ids),)))


def talk(*words: str) -> list[dict[str, Any]]:
    """A conversation: user and assistant in turn."""
    return [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(words)]


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def texts(synced: log.Synced) -> list[str]:
    return [m.text for m in synced.added]


def outcome(synced: log.Synced) -> tuple[str, int, list[str], bool]:
    return synced.session, synced.known, texts(synced), synced.forked


TEN = talk(*(f"w{i}" for i in range(10)))
