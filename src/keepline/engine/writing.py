"""The verbs that change what is kept: append, sync, import, forget, and the settling of views."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from keepline.engine.base import Base, Messages, Progress
from keepline.engine.bound import Who
from keepline.engine.desk import Job
from keepline.engine.searching import named
from keepline.errors import BadLine
from keepline.memory import log as logbook
from keepline.memory.imports import Conversation, Fault, Imported, import_conversation, parse_lines
from keepline.memory.intake import Given, intake
from keepline.values.message import Message
from keepline.values.report import Brought, Settled
from keepline.values.scope import Scope
from keepline.values.session import VIEWS


class Writing(Base):
    """Adding, erasing, settling."""

    def append(
        self, messages: Messages, *, msg_id: Any = None, ts: Any = None, category: Any = None, retention: Any = None,
        **who: Unpack[Who],
    ) -> tuple[Message, ...]:
        """Add messages at the head of a session's log, durable when this returns.

        `messages` is an OpenAI- or Anthropic-style dict or a list of them, kept verbatim. `msg_id` makes it idempotent;
        `ts` (ISO 8601 with zone, or epoch) is when it was said; `category` and `retention` (0..3) override what would be
        found: scalars for one message, sequences for several. Returns them as stored. Raises `BadMessage`, `BadTime`,
        `BadChoice`, `EmptySession`.
        """
        return self.append_job(messages, msg_id=msg_id, ts=ts, category=category, retention=retention, **who).do()

    def append_job(self, messages: Messages, *, msg_id: Any = None, ts: Any = None, category: Any = None,
                   retention: Any = None, **who: Unpack[Who]) -> Job[tuple[Message, ...]]:
        """`append` as a flow to run (anew) and what follows."""
        scope = self._scope(who)
        scope.need_session("append")
        given = Given(msg_id=msg_id, ts=ts, category=category, retention=retention)
        checked = intake(messages, given=given, now=self._clock.now())
        return Job(
            desk=self.desk,
            flow=lambda: logbook.append(scope, checked, self._counter, self._clock.now(), secrets.token_bytes),
            then=lambda stored: self._touched(scope, stored),
        )

    def sync(self, history: Sequence[Mapping[str, Any]], **who: Unpack[Who]) -> logbook.Synced:
        """Bring the log up to a history that a client sent whole: what is known is not stored again, what ends inside
        forks, what is new is added. Returns the session it now is, and what was added."""
        return self.sync_job(history, **who).do()

    def sync_job(self, history: Sequence[Mapping[str, Any]], **who: Unpack[Who]) -> Job[logbook.Synced]:
        """`sync` likewise."""
        scope = self._scope(who)
        checked = intake(history, given=Given(), now=self._clock.now(), loose=True)
        return Job(
            desk=self.desk,
            flow=lambda: self._syncing(scope, checked),
            then=lambda synced: self._touched(scope.at(synced.session), synced),
        )

    def import_lines(self, lines: Iterable[str], *, name: str = "lines", skip_bad: bool = False,
                     progress: Progress | None = None, **who: Unpack[Who]) -> Brought:
        """Add the conversations of a file, given as its lines; running it again adds only what is missing.

        `session` names the conversation of lines that name none; `name` names the file in errors. A line that cannot be used
        raises `BadLine`, what came before it is kept; with `skip_bad` it is reported and the rest goes on.
        """
        scope = self._scope(who)
        done = Brought()
        for found in parse_lines(lines, now=self._clock.now()):
            if isinstance(found, Fault):
                if not skip_bad:
                    raise BadLine(file=name, line=found.line, why=found.why)
                done = replace(done, skipped=(*done.skipped, (found.line, found.why)))
                continue
            came = self._import(scope, found)
            done = replace(
                done, conversations=done.conversations + 1, new=done.new + came.new, unchanged=done.unchanged + came.unchanged,
                changed=done.changed + came.changed, notes=done.notes + came.notes,
            )
            self._touched(scope.at(came.session), None)
            if progress:
                progress(done.conversations, done.conversations)
        return done

    def _import(self, scope: Scope, found: Conversation) -> Imported:
        return self.desk.run(lambda: import_conversation(
            scope.owned(), found.name or scope.session, found.messages, self._counter, self._clock.now(), secrets.token_bytes
        ))

    def forget(self, ids: Sequence[str] | None = None, **who: Unpack[Who]) -> int:
        """Erase messages by id; without ids the session; without a session all of the user. Returns messages erased."""
        scope = self._scope(who)
        which = None if ids is None else tuple(m.id for m in named(self.desk, scope, ids))
        erased = self.desk.run(lambda: logbook.erase(scope, which))
        self.desk.drop(scope)
        self._heads.drop(scope)
        if ids is None and scope.session is None:
            self._books.drop(scope.owner)
        return erased

    def settle(self, *, progress: Progress | None = None, summarise: bool | None = None, user: str | None = None,
               session: str | None = None, tenant: str = "default") -> Settled:
        """Bring every view up to the head: of a session, of a user, or (no user) of all. `progress(done, total)`.

        `summarise`: None makes the summaries that are due, True all there is to summarise now (raises `ModelDown`, `BadReply`
        if the model fails), False none.
        """
        started = time.monotonic()
        if user is not None:
            scope = Scope(user=user, tenant=tenant, session=session)
            names = [session] if session else [s.name for s in self.desk.sessions(scope)]
            scopes = [scope.at(name) for name in names]
        else:
            scopes = list(self.desk.behind())
        total: dict[str, int] = dict.fromkeys(VIEWS, 0)
        summarised = 0
        for n, scope in enumerate(scopes):
            for view, done in self._settle(scope).items():
                total[view] += done
            if summarise is not False:
                summarised += self._summaries.settle(scope, forced=bool(summarise))
            if progress:
                progress(n + 1, len(scopes))
        return Settled(sessions=len(scopes), messages=total, seconds=time.monotonic() - started, summarised=summarised)
