"""Derived rows: kept with their lineage, found by place, id and key, and gone with any message they were made from. And what
a session carries beside its log: where a context begins, and when the session ends.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from keepline.errors import Moved
from keepline.ports import store as ops
from keepline.ports.derived import Derived, DropDerived, GetDerived, PutDerived
from keepline.ports.store import Read, Store, Write
from keepline.testing.conformance.base import Suite
from keepline.testing.conformance.rows import counters, say, session_of, start, who
from keepline.values.scope import Scope
from keepline.values.session import Span

ANN, BEN, FORK = who("ann"), who("ben"), who("ann", "fork")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def made(name: str, lo: int, hi: int, *, key: str = "", at: float = 0.0, number: int = 0) -> Derived:
    return Derived(
        kind="note", id=name, number=number, lo=lo, hi=hi, key=key, at=at, body={"words": f"\x00 {name} 张总 \ud83d"},
        sources=tuple((number, seq) for seq in range(lo, hi)),
    )  # fmt: skip


def put(store: Store, *rows: Derived, scope: Scope = ANN) -> None:
    store.write(Write((PutDerived(scope, rows),)))


def names(store: Store, need: GetDerived) -> list[str]:
    return [row.id for row in store.read(Read((need,)))[0]]


class DerivedSuite(Suite):
    """What is made from the log."""

    def test_a_derived_row_comes_back_as_it_was_put(self, store: Store) -> None:
        say(store, ANN, "one", "two", "three")
        rows = (made("a", 0, 2, key="k", at=7.5), made("b", 2, 3))
        put(store, *rows)
        assert store.read(Read((GetDerived(ANN, "note"),))) == (rows,)

    def test_rows_are_found_by_place_id_key_and_age(self, store: Store) -> None:
        say(store, ANN, "one", "two", "three", "four")
        put(store, made("a", 0, 2, key="k", at=3), made("b", 2, 3, key="l", at=2), made("c", 3, 4, key="k", at=1))
        assert names(store, GetDerived(ANN, "note", spans=(Span(number=0, lo=0, hi=3),))) == ["a", "b"]
        assert names(store, GetDerived(ANN, "note", spans=(Span(number=0, lo=1, hi=3),))) == ["b"]
        assert names(store, GetDerived(ANN, "note", keys=("k",))) == ["a", "c"]
        assert names(store, GetDerived(ANN, "note", ids=("c", "b", "unknown"))) == ["b", "c"]
        assert names(store, GetDerived(ANN, "note", limit=2)) == ["a", "b"]
        assert names(store, GetDerived(ANN, "note", keys=("k",), limit=1)) == ["a"]
        assert names(store, GetDerived(ANN, "note", prefix="k")) == ["a", "c"]
        assert names(store, GetDerived(ANN, "note", prefix="k", limit=1)) == ["a"]
        assert names(store, GetDerived(ANN, "note", prefix="k", spans=(Span(number=0, lo=2, hi=4),), limit=1)) == ["c"]
        assert names(store, GetDerived(ANN, "note", prefix="m")) == []
        assert names(store, GetDerived(ANN, "other")) == []

    def test_a_row_is_replaced_by_its_kind_and_id(self, store: Store) -> None:
        say(store, ANN, "one", "two")
        put(store, made("a", 0, 2))
        put(store, made("a", 1, 2))
        ((row,),) = store.read(Read((GetDerived(ANN, "note"),)))
        assert (row.lo, row.sources) == (1, ((0, 1),))

    def test_what_was_written_since_a_version_is_found(self, store: Store) -> None:
        say(store, ANN, "one", "two")
        put(store, made("a", 0, 1))
        version = counters(store, ANN)[0]
        put(store, made("b", 1, 2))
        assert names(store, GetDerived(ANN, "note", since=version)) == ["b"]

    def test_another_users_rows_are_never_found(self, store: Store) -> None:
        say(store, ANN, "one")
        say(store, BEN, "one")
        put(store, made("a", 0, 1, key="k"))
        assert names(store, GetDerived(BEN, "note")) == []
        assert names(store, GetDerived(BEN, "note", ids=("a",), keys=("k",))) == []
        put(store, made("a", 0, 1), scope=BEN)
        store.write(Write((DropDerived(BEN, "note", ("a",)),)))
        assert names(store, GetDerived(ANN, "note")) == ["a"]

    def test_a_row_goes_with_any_message_it_was_made_from(self, store: Store) -> None:
        ids = say(store, ANN, "one", "two", "three")
        put(store, made("a", 0, 2), made("b", 2, 3))
        store.write(Write((ops.SetPosition(ANN, "note", 3),)))
        store.write(Write((ops.EraseRows(ANN, (ids[1],)),)))
        assert names(store, GetDerived(ANN, "note")) == ["b"]
        session = session_of(store, ANN)
        assert session is not None
        assert session.positions["note"] == 0

    def test_a_row_made_from_an_erased_message_is_not_put(self, store: Store) -> None:
        ids = say(store, ANN, "one", "two")
        store.write(Write((ops.EraseRows(ANN, (ids[0],)),)))
        put(store, made("a", 0, 2), made("b", 1, 2), made("c", 1, 9))
        assert names(store, GetDerived(ANN, "note")) == ["b"]

    def test_a_forks_position_goes_back_with_its_parents_row(self, store: Store) -> None:
        ids = say(store, ANN, "one", "two")
        parent = session_of(store, ANN)
        assert parent is not None
        start(store, FORK, path=parent.upto(2), start=2, count=2)
        put(store, made("a", 1, 2))
        store.write(Write((ops.SetPosition(FORK, "note", 2),)))
        store.write(Write((ops.EraseRows(ANN, (ids[1],)),)))
        fork = session_of(store, FORK)
        assert fork is not None
        assert fork.positions["note"] == 1

    def test_a_sessions_rows_go_with_it(self, store: Store) -> None:
        say(store, ANN, "one")
        say(store, who("ann", "other"), "one")
        put(store, made("a", 0, 1), made("b", 0, 1, number=1))
        store.write(Write((ops.EraseSession(ANN),)))
        assert names(store, GetDerived(ANN, "note")) == ["b"]

    def test_dropping_a_row_raises_the_epoch(self, store: Store) -> None:
        say(store, ANN, "one")
        put(store, made("a", 0, 1), made("b", 0, 1))
        epoch = counters(store, ANN)[1]
        store.write(Write((DropDerived(ANN, "note", ("a", "unknown")),)))
        assert names(store, GetDerived(ANN, "note")) == ["b"]
        assert counters(store, ANN)[1] > epoch

    def test_a_session_carries_where_its_context_begins_and_when_it_ends(self, store: Store) -> None:
        say(store, ANN, "one", "two")
        store.write(Write((ops.SetSession(ANN, cleared=1),)))
        store.write(Write((ops.SetSession(ANN, expires=NOON),)))
        say(store, ANN, "three")
        session = session_of(store, ANN)
        assert session is not None
        assert (session.cleared, session.expires, session.count) == (1, NOON, 3)

    def test_sessions_whose_time_is_over_are_named(self, store: Store) -> None:
        for scope, after in ((ANN, 0), (BEN, 1)):
            say(store, scope, "one")
            store.write(Write((ops.SetSession(scope, expires=NOON + timedelta(seconds=after)),)))
        ((found,),) = store.read(Read((ops.Expired(NOON),)))
        assert (found.user, found.session) == ("ann", ANN.session)

    def test_a_session_that_is_gone_cannot_be_changed(self, store: Store) -> None:
        say(store, ANN, "one")
        with pytest.raises(Moved):
            store.write(Write((ops.SetSession(FORK, cleared=1),)))
