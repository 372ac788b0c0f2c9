"""The verbs that choose: context for the next call, and search."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from keepline.context.build import build
from keepline.context.count import Meter
from keepline.context.draft import Call
from keepline.engine.base import Base, Messages
from keepline.engine.books import signed
from keepline.engine.bound import Who
from keepline.engine.desk import Desk, Job
from keepline.engine.figures import budget_for, plan_of
from keepline.engine.searching import search
from keepline.memory import log as logbook
from keepline.memory.intake import Given, intake
from keepline.ports.flow import Flow
from keepline.ports.view import Find, Look
from keepline.stores import open as open_store
from keepline.values.budget import Budget
from keepline.values.context import Context
from keepline.values.report import Found
from keepline.values.scope import Scope


class Building(Base):
    """Context and search."""

    def context(  # noqa: PLR0913  # every argument is a question a caller has; a bag of options would only hide them
        self, messages: Messages = (), *, budget: int | Budget | None = None, mode: str = "auto",
        tools: Sequence[Mapping[str, Any]] | None = None, tool_limit: int | None = None, pinned_tools: Sequence[str] = (),
        response_format: Mapping[str, Any] | None = None, model: str | None = None, query: str | None = None,
        keywords: Sequence[str] = (), oversize: str = "cut", pins: bool = True, **who: Unpack[Who],
    ) -> Context:
        """What to send for the next call, with the ledger of why.

        `messages` come after the session's log and are not stored. Without a session they are the whole conversation, and
        nothing is kept of them. `budget` is the window in tokens or a `Budget` (default: the model's window). `mode`: auto,
        full, sliding, summary, retrieval, hybrid. `query` stands in for the question in recall, `keywords` must occur in what
        is recalled. With `tool_limit`, at most so many `tools` are counted and come back in `Context.tools`: the `pinned_tools`,
        those in use, and those that the question can need. `oversize`: "cut" or "error". Raises `BudgetTooSmall`, `Oversize`,
        `BadBudget`, `BadMessage`, `BadChoice`.
        """
        return self.context_job(
            messages, budget=budget, mode=mode, tools=tools, tool_limit=tool_limit, pinned_tools=pinned_tools,
            response_format=response_format, model=model, query=query, keywords=keywords, oversize=oversize, pins=pins, **who,
        ).do()

    def context_job(self, messages: Messages = (), *, budget: int | Budget | None = None, model: str | None = None,
                    keywords: Sequence[str] = (), pinned_tools: Sequence[str] = (), **how: Any) -> Job[Context]:
        """`context` likewise; `how` are the scope's words, and the fields of `Call` that need no work."""
        who = Who(**{word: how.pop(word) for word in Who.__annotations__ if word in how})  # type: ignore[typeddict-item]  # only its own words
        scope = self._scope(who)
        given = intake(messages, given=Given(), now=self._clock.now(), loose=True) if messages else ()
        own = tuple(m.evolve(id=f"new{n}") for n, m in enumerate(given, 1))
        meter = self._meter(model)
        asked = budget_for(budget, model, meter.counter, self.settings)
        call = Call(
            scope=scope, messages=own, budget=asked, keywords=tuple(keywords), pinned_tools=tuple(pinned_tools), **how
        )
        if scope.session is None:
            return self._stateless_job(call, meter)
        return Job(
            desk=self.desk,
            flow=lambda: build(call, plan_of(self.settings), meter, self._clock.now()),
            then=lambda context: self._recorded(scope, context, call.response_format),
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

    def _recorded(self, scope: Scope, context: Context, response_format: Any) -> Context:
        context = signed(self._heads.compared(scope, context, (context.tools, response_format)), self.desk.note)
        self._books.add(scope, context.ledger)
        return self._touched(scope, context)

    def search(self, query: str, *, k: int = 10, keywords: Sequence[str] = (), least: float | None = 0.3,
               **who: Unpack[Who]) -> tuple[Found, ...]:
        """The user's messages that `query` recalls, best first, at most `k`; with a session, of that session only.

        `keywords` must all stand in a message, letter for letter but for case and width. A message that shares no word with
        the query must be at least as near in meaning as the cosine `least` (None: however far; .3 suits the embedded encoder:
        below it, texts on other matters are as near). `scores` say `matched` (1: a word is shared) and `cosine`.
        """
        scope = self._scope(who)
        view = self.desk.look(Look(scope, self._counter.name, False)) if scope.session else None
        if view is not None and view.session is None:
            return ()
        query = query if query.strip() else " ".join(keywords)
        if not query.strip() or k < 1:
            return ()
        return search(self.desk, Find(scope=scope, query=query, k=k, view=view, keywords=tuple(keywords), least=least))
