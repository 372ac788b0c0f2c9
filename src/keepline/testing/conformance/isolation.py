"""Nobody reads, finds, lists, guesses, changes or erases what is another's; without an owner nothing is answered."""

from __future__ import annotations

from typing import Any

import pytest

from keepline.errors import EmptyUser, Moved, ScopeError
from keepline.ports import store as ops
from keepline.ports.store import Expect, Read, Store, Write
from keepline.testing.conformance.base import Suite
from keepline.testing.conformance.rows import (
    EVERYTHING,
    counters,
    index_row,
    ledger,
    message,
    pin,
    read_log,
    say,
    session_of,
    start,
    tag,
    texts,
    who,
)
from keepline.values.scope import Scope

ANN, BOB = who("ann"), who("bob")

OTHERS = {
    "another user": BOB,
    "the same user of another tenant": who("ann", tenant="other"),
    "a longer name": who("ann "),
    "another case": who("Ann"),
    "a wildcard": who("an%"),
    "a name and tenant that join alike": who("tann", tenant="defaul"),
    "a quote": who("ann' OR '1'='1"),
}


def _fill(store: Store, scope: Scope) -> tuple[str, ...]:
    """Something of every kind."""
    ids = say(store, scope, "no sugar, please", "I live at 5 Elm Street")
    store.write(Write((
        ops.PutTags(scope, (tag(0, pin(0)),)), ops.PutIndex(scope, (index_row(0), index_row(1))),
        ops.PutLedger(scope, ledger("L1")), ops.SetPosition(scope, "tags", 1),
    )))  # fmt: skip
    return ids


def _all_reads(scope: Any, ids: tuple[str, ...]) -> tuple[Any, ...]:
    return (
        ops.GetUser(scope), ops.GetSession(scope), ops.ListSessions(scope), ops.GetRows(scope, (EVERYTHING,)),
        ops.GetRows(scope, (EVERYTHING,), (0, 1)), ops.FindRows(scope, ids), ops.GetPins(scope, (EVERYTHING,)),
        ops.GetIndex(scope), ops.GetIndex(scope, 1), ops.GetLedgers(scope), ops.GetLedgers(scope, "L1"),
    )  # fmt: skip


class IsolationSuite(Suite):
    """Whose data it is decides first."""

    def test_every_read_without_a_scope_is_refused(self, store: Store) -> None:
        for op in (*_all_reads(None, ("x",)), ops.GetOutline(None, (EVERYTHING,), "v")):  # type: ignore[arg-type]
            with pytest.raises(ScopeError):
                store.read(Read((op,)))

    def test_every_write_without_a_scope_is_refused(self, store: Store) -> None:
        nobody: Any = None
        for op in (ops.PutUser(nobody, b"k"), ops.EraseUser(nobody), ops.EraseRows(nobody, ("x",)),
                   ops.EraseSession(nobody), ops.PutRows(nobody, ()), ops.SetPosition(nobody, "tags", 1)):  # fmt: skip
            with pytest.raises(ScopeError):
                store.write(Write((op,)))

    def test_a_forged_empty_user_is_refused(self, store: Store) -> None:
        forged = who("ann")
        object.__setattr__(forged, "user", " ")
        with pytest.raises(EmptyUser):
            store.read(Read((ops.ListSessions(forged),)))
        with pytest.raises(EmptyUser):
            store.write(Write((ops.EraseUser(forged),)))

    @pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
    def test_nothing_of_another_is_read_found_listed_or_guessed(self, store: Store, other: Scope) -> None:
        ids = _fill(store, ANN)
        answers = store.read(Read(_all_reads(other, ids)))
        assert not any(answers)
        outline = store.read(Read((ops.GetOutline(other, (EVERYTHING,), "o200k_base"),)))[0]
        assert len(outline.seq) == 0

    @pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
    def test_each_reads_only_their_own_where_numbers_and_places_are_the_same(self, store: Store, other: Scope) -> None:
        say(store, ANN, "ann's words")
        say(store, other, "the other's words")
        assert texts(store, ANN) == ["ann's words"]
        assert texts(store, other) == ["the other's words"]

    def test_one_write_cannot_be_for_two_owners(self, store: Store) -> None:
        say(store, ANN, "mine")
        with pytest.raises(ScopeError):
            store.write(Write((ops.PutUser(BOB, b"k"), ops.EraseUser(ANN))))
        with pytest.raises(ScopeError):
            store.write(Write((ops.PutUser(BOB, b"k"),), (Expect(ANN, count=1),)))
        assert texts(store, ANN) == ["mine"]
        assert counters(store, BOB) == (0, 0)

    def test_another_cannot_change_what_is_not_theirs(self, store: Store) -> None:
        ids = _fill(store, ANN)
        start(store, BOB)
        before = (read_log(store, ANN), session_of(store, ANN), counters(store, ANN))
        store.write(Write((
            ops.PutTags(BOB, (tag(0), tag(1, pin(1)))), ops.PutIndex(BOB, (index_row(0, length=1),)),
            ops.PutCounts(BOB, 0, "o200k_base", {0: 1}), ops.SetPosition(BOB, "tags", 9), ops.EraseRows(BOB, ids),
            ops.EraseSession(BOB), ops.EraseUser(BOB),
        )))  # fmt: skip
        assert (read_log(store, ANN), session_of(store, ANN), counters(store, ANN)) == before
        assert len(store.read(Read((ops.GetIndex(ANN),)))[0]) == 2

    def test_an_id_of_another_is_free_for_me_and_tells_nothing(self, store: Store) -> None:
        start(store, ANN)
        start(store, BOB)
        for scope in (ANN, BOB):
            found = session_of(store, scope)
            assert found is not None
            store.write(Write((ops.PutRows(scope, (_row("same-id"),)),)))
        assert [r.message.id for r in store.read(Read((ops.FindRows(BOB, ("same-id",)),)))[0]] == ["same-id"]

    def test_a_session_of_the_same_name_is_another_one(self, store: Store) -> None:
        start(store, ANN)
        with pytest.raises(Moved):
            store.write(Write((ops.PutUser(BOB, b"k"), ops.PutRows(BOB, (_row("x"),)))))
        assert counters(store, BOB) == (0, 0)


def _row(name: str) -> ops.Row:
    return ops.Row(message=message(0, "words", id=name), digest=b"d", salt=b"s")
