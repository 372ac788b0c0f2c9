"""The verbs of keepline, a line each where a line is enough. Scope is an argument of every verb, or bound once:
`engine.user("u1").session("s1").append(…)`.

Knows no SQL, no HTTP and no ranking: it hands flows to the desk.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from keepline.context.build import build
from keepline.context.count import Meter
from keepline.context.draft import Call
from keepline.engine.background import Background
from keepline.engine.books import Books, signed
from keepline.engine.bound import Bound, Who, scope_of
from keepline.engine.desk import Desk, Job
from keepline.engine.figures import budget_for, plan_of
from keepline.engine.searching import named, search
from keepline.errors import BadLine, NotFound
from keepline.memory import log as logbook
from keepline.memory.imports import Conversation, Fault, Imported, import_conversation, parse_lines
from keepline.memory.intake import Given, intake
from keepline.ports.clock import Clock
from keepline.ports.encoder import Encoder
from keepline.ports.flow import Flow
from keepline.ports.store import (
    Behind,
    GetLedgers,
    GetPins,
    GetRows,
    GetSession,
    GetUser,
    Read,
    Store,
)
from keepline.ports.tokens import TokenCounter
from keepline.ports.view import Find, Look
from keepline.providers.tokenizers import counter as counter_for
from keepline.settings import Settings
from keepline.stores import open as open_store
from keepline.values.budget import Budget
from keepline.values.context import Context
from keepline.values.message import Message
from keepline.values.report import Brought, Found, Settled, Standing, Status
from keepline.values.scope import Scope
from keepline.values.session import VIEWS, Session

Messages = Mapping[str, Any] | Sequence[Mapping[str, Any]]
Progress = Callable[[int, int], None]
T = TypeVar("T")


class Engine:
    """Context and memory over one store.

    `encoder` None means keyword recall only. `counter` is the vocabulary messages are counted in at append. Made by
    `keepline.open`; closes its store. Thread-safe.
    """

    def __init__(
        self, store: Store, *, settings: Settings, encoder: Encoder | None, counter: TokenCounter, clock: Clock
    ) -> None:
        self.settings = settings
        self.store = store
        self._clock = clock
        self._counter = counter
        self._meters = {counter.name: Meter(counter)}
        self.desk = Desk(store, encoder, index_bytes=settings.index_mb << 20)
        self._scratch: Desk | None = None
        self._lock = threading.Lock()
        self._background = Background(self._catch_up, self.desk.behind)
        self._books = Books(store, settings.ledgers)

    # ------------------------------------------------------------ writing

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

    def sync(self, history: Sequence[Mapping[str, Any]], **who: Unpack[Who]) -> logbook.Synced:
        """Bring the log up to a history that a client sent whole: what is known is not stored again, what ends inside
        forks, what is new is added. Returns the session it now is, and what was added."""
        return self.sync_job(history, **who).do()

    def import_lines(self, lines: Iterable[str], *, name: str = "lines", skip_bad: bool = False,
                     progress: Progress | None = None, **who: Unpack[Who]) -> Brought:
        """Add the conversations of a file, given as its lines; running it again adds only what is missing.

        `session` names the conversation of lines that name none; `name` names the file in errors. A line that cannot be used
        raises `BadLine`, what came before it is kept; with `skip_bad` it is reported and the rest goes on.
        """
        scope = scope_of(who)
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
        scope = scope_of(who)
        which = None if ids is None else tuple(m.id for m in named(self.desk, scope, ids))
        erased = self.desk.run(lambda: logbook.erase(scope, which))
        self.desk.drop(scope)
        if ids is None and scope.session is None:
            self._books.drop(scope.owner)
        return erased

    def settle(self, *, progress: Progress | None = None, user: str | None = None, session: str | None = None,
               tenant: str = "default") -> Settled:
        """Bring every view up to the head: of a session, of a user, or (no user) of all. `progress(done, total)`."""
        started = time.monotonic()
        if user is not None:
            scope = Scope(user=user, tenant=tenant, session=session)
            names = [session] if session else [s.name for s in self.desk.sessions(scope)]
            scopes = [scope.at(name) for name in names]
        else:
            scopes = list(self.desk.behind())
        total: dict[str, int] = dict.fromkeys(VIEWS, 0)
        for n, scope in enumerate(scopes):
            for view, done in self._settle(scope).items():
                total[view] += done
            if progress:
                progress(n + 1, len(scopes))
        return Settled(sessions=len(scopes), messages=total, seconds=time.monotonic() - started)

    # ------------------------------------------------------------ building

    def context(  # noqa: PLR0913  # every argument is a question a caller has; a bag of options would only hide them
        self, messages: Messages = (), *, budget: int | Budget | None = None, mode: str = "auto",
        tools: Sequence[Mapping[str, Any]] | None = None, response_format: Mapping[str, Any] | None = None,
        model: str | None = None, query: str | None = None, keywords: Sequence[str] = (), oversize: str = "cut",
        pins: bool = True, **who: Unpack[Who],
    ) -> Context:
        """What to send for the next call, with the ledger of why.

        `messages` come after the session's log and are not stored. Without a session they are the whole conversation, and
        nothing is kept of them. `budget` is the window in tokens or a `Budget` (default: the model's window). `mode`: auto,
        full, sliding, retrieval, hybrid. `query` stands in for the question in recall, `keywords` must occur in what is
        recalled. `oversize`: "cut" or "error". Raises `BudgetTooSmall`, `Oversize`, `BadBudget`, `BadMessage`, `BadChoice`.
        """
        return self.context_job(
            messages, budget=budget, mode=mode, tools=tools, response_format=response_format, model=model, query=query,
            keywords=keywords, oversize=oversize, pins=pins, **who,
        ).do()

    def search(self, query: str, *, k: int = 10, keywords: Sequence[str] = (), least: float | None = 0.3,
               **who: Unpack[Who]) -> tuple[Found, ...]:
        """The user's messages that `query` recalls, best first, at most `k`; with a session, of that session only.

        `keywords` must all stand in a message, letter for letter but for case and width. A message that shares no word with
        the query must be at least as near in meaning as the cosine `least` (None: however far; .3 suits the embedded encoder:
        below it, texts on other matters are as near). `scores` say `matched` (1: a word is shared) and `cosine`.
        """
        scope = scope_of(who)
        view = self.desk.look(Look(scope, self._counter.name, False)) if scope.session else None
        if view is not None and view.session is None:
            return ()
        query = query if query.strip() else " ".join(keywords)
        if not query.strip() or k < 1:
            return ()
        return search(self.desk, Find(scope=scope, query=query, k=k, view=view, keywords=tuple(keywords), least=least))

    # ------------------------------------------------------------ reading

    def list(self, *, limit: int = 100, after: int = -1, **who: Unpack[Who]) -> tuple[Message, ...]:
        """The session's messages with seq > `after`, oldest first, at most `limit`."""
        scope = scope_of(who)
        scope.need_session("list")
        (session,) = self.store.read(Read((GetSession(scope),)))
        if session is None:
            return ()
        seqs = tuple(range(after + 1, min(session.count, after + 1 + limit)))
        (rows,) = self.store.read(Read((GetRows(scope, session.spans, seqs),)))
        return tuple(r.message for r in rows)

    def sessions(self, **who: Unpack[Who]) -> tuple[Session, ...]:
        """The user's sessions, oldest first."""
        return self.desk.sessions(scope_of(who))

    def pins(self, *, candidates: bool = False, **who: Unpack[Who]) -> tuple[Standing, ...]:
        """The session's standing rules and facts with their words, ended ones too, in the order they were said; with
        `candidates`, also sentences that are less sure and only fill spare room."""
        scope = scope_of(who)
        scope.need_session("pins")
        view = self.desk.look(Look(scope, self._counter.name, True))
        if view.session is None:
            return ()
        pins = sorted((*view.standing, *view.ended), key=lambda p: (p.seq, p.start))
        (rows,) = self.store.read(Read((GetRows(scope, view.session.spans, tuple({p.seq for p in pins})),)))
        texts = {r.message.seq: r.message for r in rows if not r.message.erased}
        ids = view.outline.ids
        return tuple(
            Standing(pin=p, id=ids[p.seq], text=texts[p.seq].text[p.start : p.end],
                     ended_by=None if p.ended_by is None else ids[p.ended_by])
            for p in pins if p.seq in texts and (p.stands or candidates)
        )

    def get(self, id: str, **who: Unpack[Who]) -> Message:
        """The message with this id, whole. Raises `NotFound`; another user's message is not found either."""
        found = named(self.desk, scope_of(who), (id,))
        if not found:
            raise NotFound(what="message", id=id)
        return found[0]

    def ledgers(self, *, id: str | None = None, limit: int = 20, **who: Unpack[Who]) -> tuple[dict[str, Any], ...]:
        """The accounts of past builds, newest first, as plain dicts."""
        self._books.flush()
        (ledgers,) = self.store.read(Read((GetLedgers(scope_of(who), id, limit),)))
        return tuple(ledgers)

    def verify(self, **who: Unpack[Who]) -> int:
        """Check the chain of the session, or of all the user's sessions → messages checked. Raises `ChainBroken`."""
        scope = scope_of(who)
        names = [scope.session] if scope.session else [s.name for s in self.desk.sessions(scope)]
        return sum(self._verified(scope.at(name)) for name in names)

    def _verified(self, scope: Scope) -> int:
        return self.desk.run(lambda: logbook.verify_log(scope))

    def status(self, *, user: str | None = None, session: str | None = None, tenant: str = "default") -> Status:
        """How things stand for a session, a user, or the store."""
        known = Status(
            store=self.settings.address, persistent=self.store.capability.persistent,
            encoder=self.desk.encoder.name if self.desk.encoder else "none", vocabulary=self._counter.name,
        )
        notes = [n for n in (self.desk.degraded, self._background.error, self._books.trouble) if n]
        if not known.persistent:
            notes.append("this store is in memory: nothing outlives the process")
        if user is None:
            behind = self.store.read(Read(tuple(Behind(v) for v in VIEWS)))
            return replace(known, behind={v: len(s) for v, s in zip(VIEWS, behind, strict=True)}, notes=tuple(notes))
        scope = Scope(user=user, tenant=tenant, session=session)
        sessions = [s for s in self.desk.sessions(scope) if session in (None, s.name)]
        spans = tuple(span for s in sessions for span in s.spans[-1:])
        user_row, pins = self.store.read(Read((GetUser(scope), GetPins(scope, spans))))
        behind_by = {v: sum(s.count - max(s.positions.get(v, 0), s.start) for s in sessions) for v in VIEWS}
        if user_row is not None and any(p.stands for p in pins):
            ledger = next(iter(self.ledgers(user=user, tenant=tenant, limit=1)), None)
            notes += [n for n in (ledger or {}).get("notes", ()) if "did not fit their share" in n]
        return replace(
            known, sessions=len(sessions), messages=sum(s.count - s.start for s in sessions),
            pins=sum(p.stands and p.ended_by is None for p in pins),
            ended=sum(p.stands and p.ended_by is not None for p in pins),
            behind=behind_by, notes=tuple(notes),
        )

    # ------------------------------------------------------------ binding, closing

    def user(self, user: str, *, tenant: str = "default", agent: str = "") -> Bound:
        """The same verbs with the user bound."""
        return Bound(self, {"user": user, "tenant": tenant, "agent": agent})

    def close(self) -> None:
        """Join the settling thread and close the store. Unsettled work stays pending and is done at the next start."""
        self._background.close()
        self._books.flush()
        if self._scratch is not None:
            self._scratch.store.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # ------------------------------------------------------------ jobs, shared with the asynchronous twin

    def append_job(self, messages: Messages, *, msg_id: Any = None, ts: Any = None, category: Any = None,
                   retention: Any = None, **who: Unpack[Who]) -> Job[tuple[Message, ...]]:
        """`append` as a flow to run (anew) and what follows."""
        scope = scope_of(who)
        scope.need_session("append")
        given = Given(msg_id=msg_id, ts=ts, category=category, retention=retention)
        checked = intake(messages, given=given, now=self._clock.now())
        return Job(
            desk=self.desk,
            flow=lambda: logbook.append(scope, checked, self._counter, self._clock.now(), secrets.token_bytes),
            then=lambda stored: self._touched(scope, stored),
        )

    def sync_job(self, history: Sequence[Mapping[str, Any]], **who: Unpack[Who]) -> Job[logbook.Synced]:
        """`sync` likewise."""
        scope = scope_of(who)
        checked = intake(history, given=Given(), now=self._clock.now(), loose=True)
        return Job(
            desk=self.desk,
            flow=lambda: self._syncing(scope, checked),
            then=lambda synced: self._touched(scope.at(synced.session), synced),
        )

    def context_job(self, messages: Messages = (), *, budget: int | Budget | None = None, model: str | None = None,
                    keywords: Sequence[str] = (), **how: Any) -> Job[Context]:
        """`context` likewise; `how` are the scope's words, and the fields of `Call` that need no work."""
        who = Who(**{word: how.pop(word) for word in Who.__annotations__ if word in how})  # type: ignore[typeddict-item]  # only its own words
        scope = scope_of(who)
        given = intake(messages, given=Given(), now=self._clock.now(), loose=True) if messages else ()
        own = tuple(m.evolve(id=f"new{n}") for n, m in enumerate(given, 1))
        meter = self._meter(model)
        asked = budget_for(budget, model, meter.counter, self.settings)
        call = Call(scope=scope, messages=own, budget=asked, keywords=tuple(keywords), **how)
        if scope.session is None:
            return self._stateless_job(call, meter)
        return Job(
            desk=self.desk,
            flow=lambda: build(call, plan_of(self.settings), meter, self._clock.now()),
            then=lambda context: self._recorded(scope, context),
        )

    def _stateless_job(self, call: Call, meter: Meter) -> Job[Context]:
        """Build over a conversation that is given whole, in a store that forgets it with the call."""
        scope = Scope(user=secrets.token_hex(8), session="call")
        desk = self._scratch_desk()
        last = max((i for i, m in enumerate(call.messages) if m.role == "user" and not m.only_answers), default=0)
        inner = replace(call, scope=scope, messages=call.messages[last:])

        def flow() -> Flow[Context]:
            if last:
                yield from self._syncing(scope, call.messages[:last])
            return (yield from build(inner, plan_of(self.settings), meter, self._clock.now()))

        def forget() -> None:
            desk.run(lambda: logbook.erase(scope.owned(), None))
            desk.drop(scope)

        def nameless(context: Context) -> Context:
            return signed(replace(context, ledger=replace(context.ledger, session=None)), desk.note)

        return Job(desk=desk, flow=flow, then=nameless, last=forget)

    def _scratch_desk(self) -> Desk:
        with self._lock:
            if self._scratch is None:
                self._scratch = Desk(open_store("sqlite://:memory:"), self.desk.encoder, index_bytes=64 << 20)
            return self._scratch

    def _syncing(self, scope: Scope, checked: tuple[Message, ...]) -> Flow[logbook.Synced]:
        return logbook.sync(scope, checked, self._counter, self._clock.now(), secrets.token_bytes)

    def _meter(self, model: str | None) -> Meter:
        """The meter of a model's vocabulary, kept so that lines are counted once."""
        counter = counter_for(model) if model else self._counter
        return self._meters.setdefault(counter.name, Meter(counter))

    def _recorded(self, scope: Scope, context: Context) -> Context:
        context = signed(context, self.desk.note)
        self._books.add(scope, context.ledger)
        return self._touched(scope, context)

    def _touched(self, scope: Scope, result: T) -> T:
        """The session has something to settle: now, in the background, or when asked."""
        if self.settings.settle == "inline":
            self._background.now(scope)
        elif self.settings.settle == "background":
            self._background.touch(scope)
        return result

    def _settle(self, scope: Scope) -> dict[str, int]:
        return {view: self.desk.settle(scope, view) for view in VIEWS}

    def _catch_up(self, scope: Scope) -> None:
        self._settle(scope)
        self._books.flush()
