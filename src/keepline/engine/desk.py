"""Answers the needs of flows: the store's reads and writes, vectors, and looks at warm copies that are as new as the store.

Knows which part answers what; decides nothing about contexts or memories. Thread-safe: the warm copies of one owner are
used by one thread at a time.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

import numpy as np
import threadpoolctl
from numpy.typing import NDArray

from keepline.context.tag import SPACE
from keepline.context.tagging import settle_tags
from keepline.errors import ModelDown, Moved
from keepline.memory.indexing import WarmIndex, settle_recall
from keepline.memory.naming import settle_entities
from keepline.memory.warm import Warm
from keepline.ports.encoder import Embed, Encoder
from keepline.ports.flow import Flow, Meet, R, arun, run
from keepline.ports.model import Ask, Model, Reply
from keepline.ports.store import Behind, GetSession, GetUser, ListSessions, Read, Store, Write
from keepline.ports.view import Alike, Find, Hit, Look, View, Words
from keepline.values.message import Message
from keepline.values.scope import Scope
from keepline.values.session import ENTITIES, RECALL, TAGS, VIEWS, Session, User

BATCH = 256
"""Messages a settling step takes: bounds one transaction and one encoder call."""
TRIES = 50
"""How often a flow is run again when what it rested on moved; contention ends long before."""


class Owner:
    """One owner's warm copies and the lock that guards them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.warm = Warm()
        self.index = WarmIndex()
        self.unembedded: dict[int, int] = {}
        self.sessions: tuple[User | None, tuple[Session, ...]] | None = None  # replaced whole: read by any thread


class Desk:
    """`store`, `encoder` (None: keyword recall only), `model` (None: none is asked) and the warm copies, as a table from need to
    answer.

    `index_bytes` bounds the warm recall indexes of all owners together; the least recently used go first.
    """

    def __init__(self, store: Store, encoder: Encoder | None, *, index_bytes: int, model: Model | None = None) -> None:
        self.store = store
        self.encoder = encoder
        self.model = model
        self.degraded: str | None = None
        self._index_bytes = index_bytes
        self._owners: OrderedDict[tuple[str, str], Owner] = OrderedDict()
        self._lock = threading.Lock()
        self._blas = threadpoolctl.ThreadpoolController()
        self.meet: dict[type, Callable[[Any], Any]] = {
            Read: store.read,
            Write: store.write,
            Embed: self.embed,
            Ask: self.ask,
            Look: self.look,
            Words: self.words,
            Find: self.find,
            Alike: self.alike,
        }
        self._steps: dict[str, Callable[[Scope, int, int], int]] = {
            TAGS: self._tag, RECALL: self._index, ENTITIES: self._name,
        }
        foreign = encoder is not None and encoder.name != SPACE
        self._tagging = {**self.meet, Embed: lambda _: None} if foreign else self.meet

    def run(self, flow: Callable[[], Flow[R]], meet: Meet | None = None) -> R:
        """Drive a flow to its end (`meet`: with these answers); run it anew when what its write rested on has moved."""
        for _ in range(TRIES - 1):
            try:
                return run(flow(), meet or self.meet)
            except Moved:
                continue
        return run(flow(), meet or self.meet)

    async def arun(self, flow: Callable[[], Flow[R]]) -> R:
        """The same beside an event loop: every answer, and the flow's own work, in threads."""
        meet: dict[type, Callable[[Any], Awaitable[Any]]] = {
            need: partial(_threaded, answer) for need, answer in self.meet.items()
        }
        for _ in range(TRIES - 1):
            try:
                return await arun(flow(), meet, _threaded)
            except Moved:
                continue
        return await arun(flow(), meet, _threaded)

    @property
    def note(self) -> str | None:
        """What a ledger says of an encoder that fails: not what it raised, which may hold words of a message."""
        return self.degraded and f"the encoder {self.encoder.name if self.encoder else ''} failed: recall went by words alone"

    def embed(self, need: Embed) -> NDArray[np.float32] | None:
        """Vectors, or None when there is no encoder or it fails; a failure is remembered in `degraded`."""
        if self.encoder is None or not need.texts:
            return None
        try:
            vectors = self.encoder.encode(need.texts)
        except Exception as error:  # an encoder is foreign code: whatever it raises, the chat goes on without it
            self.degraded = f"the encoder {self.encoder.name} failed: {error}"
            return None
        self.degraded = None
        return vectors

    def ask(self, need: Ask) -> Reply:
        """The model's reply. Raises `ModelDown`, `BadReply`."""
        if self.model is None:
            raise ModelDown(model="none", why="no model is configured")
        return self.model.reply(need)

    def look(self, need: Look) -> View:
        """The session's view; with `tagged`, after its messages have been tagged and read for entities."""
        if need.tagged:
            self.settle(need.scope, TAGS, ENTITIES)
        with self._owner(need.scope) as owner:
            view: View = run(owner.warm.look(need.scope, need.vocabulary), self.meet)
            return view

    def words(self, need: Words) -> dict[int, Message]:
        """Messages by seq."""
        with self._owner(need.view.scope) as owner:
            return run(owner.warm.words(need.view, need.seqs), self.meet)

    def find(self, need: Find) -> tuple[Hit, ...]:
        """What the query recalls; rows not yet indexed are indexed first."""
        sessions = [need.view.session] if need.view and need.view.session else self.sessions(need.scope)
        for session in sessions:
            if session.path or session.positions.get(RECALL, 0) < session.count:
                self.settle(need.scope.at(session.name), RECALL, upto=need.before)
        vectors = self.embed(Embed((need.query,)))
        with self._owner(need.scope) as owner:
            run(owner.index.refresh(need.scope), self.meet)
            with self._blas.limit(limits=1):  # a second thread costs more to wake than these products take
                hits = owner.index.find(need, None if vectors is None else vectors[0])
        self._trim()
        return hits

    def alike(self, need: Alike) -> float | None:
        """Mean cosine of neighbouring messages."""
        session = need.view.session
        if session is None or len(need.seqs) < 2:
            return None
        self.settle(need.view.scope, RECALL, upto=need.seqs[-1] + 1)
        with self._owner(need.view.scope) as owner:
            run(owner.index.refresh(need.view.scope), self.meet)
            return owner.index.alike([(int(need.view.outline.number[s]), s) for s in need.seqs])

    def sessions(self, scope: Scope) -> tuple[Session, ...]:
        """The owner's sessions, oldest first; read anew when anything of the owner was written since: a search of a user with
        thousands of them would spend most of its time here."""
        (user,) = self.store.read(Read((GetUser(scope),)))
        if user is None:
            return ()
        owner = self._get(scope)
        if owner.sessions is None or owner.sessions[0] != user:
            there, sessions = self.store.read(Read((GetUser(scope), ListSessions(scope))))
            owner.sessions = there, tuple(sessions)
        return owner.sessions[1]

    def behind(self) -> tuple[Scope, ...]:
        """Sessions that some view has not reached the head of."""
        found = self.store.read(Read(tuple(Behind(view) for view in VIEWS)))
        return tuple(dict.fromkeys(scope for scopes in found for scope in scopes))

    def settle(self, scope: Scope, *views: str, upto: int | None = None) -> int:
        """Bring `views` of the session up to seq `upto` (None: to its head), its forks' parents too; messages done in all."""
        (session,) = self.store.read(Read((GetSession(scope),)))
        if session is None:
            return 0
        done = 0
        begun = [view for view in views if session.path and session.positions.get(view, 0) <= session.start]
        numbers = {s.number for s in session.path}
        for parent in self.sessions(scope) if begun else ():
            if parent.number in numbers:
                done += sum(self._settle_own(scope.at(parent.name), parent, view, None) for view in begun)
        return done + sum(self._settle_own(scope, session, view, upto) for view in views)

    def _settle_own(self, scope: Scope, session: Session, view: str, upto: int | None) -> int:
        goal = session.count if upto is None else min(upto, session.count)
        at = first = max(session.positions.get(view, 0), session.start)
        while at < goal:
            took = self._steps[view](scope, session.number, at)
            if not took:
                break
            at += took
        return at - first

    def _tag(self, scope: Scope, _number: int, _at: int) -> int:
        """One step of the view of tags → messages taken."""
        return self.run(lambda: settle_tags(scope, BATCH), self._tagging)

    def _name(self, scope: Scope, _number: int, _at: int) -> int:
        """One step of the entity table → messages taken."""
        return self.run(lambda: settle_entities(scope, BATCH))

    def _index(self, scope: Scope, number: int, at: int) -> int:
        """One step of the recall view from seq `at` → messages taken. While the encoder fails, rows are indexed by their
        words alone, the view stays behind, and this process remembers how far it came: there it goes on, until a word shows
        that the encoder works again."""
        owner = self._get(scope)
        start = max(at, owner.unembedded.get(number, 0))
        if start > at and self.embed(Embed(("word",))) is not None:
            start = at
        took, embedded = self.run(lambda: settle_recall(scope, start, BATCH, self.encoder is not None))
        if not embedded:
            owner.unembedded[number] = start + took
        elif start == at:
            owner.unembedded.pop(number, None)
        return start + took - at

    def renew(self, scope: Scope, what: str) -> None:
        """Forget what looks at the session kept as `what`: the next one makes it anew."""
        with self._owner(scope) as owner:
            owner.warm.renew(scope.session or "", what)

    def drop(self, scope: Scope) -> None:
        """Forget the owner's warm copies."""
        with self._lock:
            self._owners.pop(scope.owner, None)

    def _get(self, scope: Scope) -> Owner:
        with self._lock:
            owner = self._owners.setdefault(scope.owner, Owner())
            self._owners.move_to_end(scope.owner)
            return owner

    def _owner(self, scope: Scope) -> Holding:
        return Holding(self._get(scope))

    def _trim(self) -> None:
        with self._lock:
            total = sum(o.index.nbytes for o in self._owners.values())
            while total > self._index_bytes and len(self._owners) > 1:
                _, gone = self._owners.popitem(last=False)
                total -= gone.index.nbytes


@dataclass(frozen=True, kw_only=True)
class Job(Generic[R]):
    """A verb made ready: a flow to run (anew) at a desk, what to do with its result, and what to do last in any case."""

    desk: Desk
    flow: Callable[[], Flow[R]]
    then: Callable[[R], R]
    last: Callable[[], None] = lambda: None

    def do(self) -> R:
        """Run it in this thread."""
        try:
            return self.then(self.desk.run(self.flow))
        finally:
            self.last()

    async def ado(self) -> R:
        """Run it beside the event loop; cancelling closes the flow."""
        try:
            return await asyncio.to_thread(self.then, await self.desk.arun(self.flow))
        finally:
            await asyncio.to_thread(self.last)


async def _threaded(work: Callable[..., Any], *args: Any) -> Any:
    """`work` in a thread. Whoever cancels waits until the thread has left it: a flow cannot be closed while it runs."""
    working = asyncio.ensure_future(asyncio.to_thread(work, *args))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait((working,))
        raise


class Holding:
    """`with` an owner's lock held."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner

    def __enter__(self) -> Owner:
        self._owner.lock.acquire()
        return self._owner

    def __exit__(self, *_: object) -> None:
        self._owner.lock.release()
