"""The verbs that show what is kept: messages, sessions, pins, ledgers, and how things stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from keepline.engine.base import Base
from keepline.engine.bound import Who
from keepline.engine.searching import named
from keepline.errors import BadChoice, NotFound
from keepline.memory import log as logbook
from keepline.memory.naming import entity_of, key_of
from keepline.memory.text.entities import entities
from keepline.ports.derived import GetDerived
from keepline.ports.store import Behind, GetLedgers, GetPins, GetRows, GetSession, GetUser, Read
from keepline.ports.view import Look
from keepline.values.entity import Entity, Kind
from keepline.values.message import Message
from keepline.values.report import Standing, Status
from keepline.values.scope import Scope
from keepline.values.session import ENTITIES, VIEWS, Session
from keepline.values.summary import Segment


class Reading(Base):
    """Looking without changing anything."""

    def get(self, id: str, **who: Unpack[Who]) -> Message:
        """The message with this id, whole. Raises `NotFound`; another user's message is not found either."""
        found = named(self.desk, self._scope(who), (id,))
        if not found:
            raise NotFound(what="message", id=id)
        return found[0]

    def sessions(self, **who: Unpack[Who]) -> tuple[Session, ...]:
        """The user's sessions, oldest first."""
        return self.desk.sessions(self._scope(who))

    def pins(self, *, candidates: bool = False, **who: Unpack[Who]) -> tuple[Standing, ...]:
        """The session's standing rules and facts with their words, ended ones too, in the order they were said; with
        `candidates`, also sentences that are less sure and only fill spare room."""
        scope = self._scope(who)
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

    def ledgers(self, *, id: str | None = None, limit: int = 20, **who: Unpack[Who]) -> tuple[dict[str, Any], ...]:
        """The accounts of past builds, newest first, as plain dicts."""
        self._books.flush()
        (ledgers,) = self.store.read(Read((GetLedgers(self._scope(who), id, limit),)))
        return tuple(ledgers)

    def verify(self, **who: Unpack[Who]) -> int:
        """Check the chain of the session, or of all the user's sessions → messages checked. Raises `ChainBroken`."""
        scope = self._scope(who)
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
        troubles = self._summaries.troubles(None if user is None else Scope(user=user, tenant=tenant, session=session))
        notes += [f"the summary of {name} is pending, the old one stays: {why}" for name, why in troubles.items()]
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

    def summaries(self, **who: Unpack[Who]) -> tuple[Segment, ...]:
        """The segments of the session's rolling summary, oldest first: what they stand for, who wrote them, what was dropped."""
        scope = self._scope(who)
        scope.need_session("summaries")
        return tuple(sorted(self.desk.look(Look(scope, self._counter.name, False)).segments, key=lambda s: s.lo))

    def entities(
        self, *, kind: str | None = None, value: str | None = None, limit: int = 100, **who: Unpack[Who]
    ) -> tuple[Entity, ...]:
        """What was named, newest last, at most `limit`: of the user, or of the session; of a `kind` (order, amount, date, time,
        person, organisation, place, phone, email, id, plate, version), or exactly the `value`, in its normal form or as written.
        Raises `BadChoice` for an unknown kind."""
        scope = self._scope(who)
        if kind is not None and kind not in list(Kind):
            raise BadChoice(what="the kind", value=kind, choices=", ".join(Kind))
        kinds = list(Kind) if kind is None else [Kind(kind)]
        spans = None
        for session in self.desk.sessions(scope):
            if scope.session in (None, session.name):
                self.desk.settle(scope.at(session.name), ENTITIES)
        if scope.session is not None:
            found = self.desk.look(Look(scope, self._counter.name, False)).session
            spans = found.spans if found else ()
        if value is not None:
            said = {value, value.upper(), *(e.value for e in entities(value, self._clock.now().date()))}
            keys = tuple(key_of(k, v) for k in kinds for v in sorted(said))
            need = GetDerived(scope, ENTITIES, spans=spans, keys=keys, limit=limit)
        else:
            need = GetDerived(scope, ENTITIES, spans=spans, prefix=key_of(kinds[0]) if kind else "", limit=limit)
        (rows,) = self.store.read(Read((need,)))
        return tuple(map(entity_of, rows))

    def list(
        self, *, limit: int = 100, after: int = -1, covered_by: str | None = None, **who: Unpack[Who]
    ) -> tuple[Message, ...]:
        """The session's messages with seq > `after`, oldest first, at most `limit`; only those that the segment `covered_by` of
        its summary stands for. Raises `NotFound` for an unknown segment."""
        scope = self._scope(who)
        scope.need_session("list")
        if covered_by is not None:
            found = next((s for s in self.summaries(**who) if s.id == covered_by), None)
            if found is None:
                raise NotFound(what="segment", id=covered_by)
            after, limit = max(after, found.lo - 1), min(limit, found.hi - 1 - max(after, found.lo - 1))
        (session,) = self.store.read(Read((GetSession(scope),)))
        if session is None:
            return ()
        seqs = tuple(range(after + 1, min(session.count, after + 1 + limit)))
        (rows,) = self.store.read(Read((GetRows(scope, session.spans, seqs),)))
        return tuple(r.message for r in rows)
