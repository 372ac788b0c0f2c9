"""What is erased is gone from every answer; what others stand on stays as a tombstone; warm copies can tell."""

from __future__ import annotations

from keepline.ports import store as ops
from keepline.ports.store import UNKNOWN, Read, Store, Write
from keepline.testing.conformance.base import Suite
from keepline.testing.conformance.rows import (
    EVERYTHING,
    counters,
    index_row,
    ledger,
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
from keepline.values.session import Span

ANN, FORK = who("ann"), who("ann", "fork")


def _talk(store: Store) -> tuple[str, ...]:
    """Three messages with everything derived."""
    ids = say(store, ANN, "no sugar", "my street is Elm", "sugar is fine now")
    store.write(Write((
        ops.PutTags(ANN, (tag(0, pin(0)), tag(1, pin(1)), tag(2, ends=(pin(0, ended_by=2),)))),
        ops.PutIndex(ANN, tuple(index_row(i, chunk) for i in range(3) for chunk in range(2))),
        ops.PutLedger(ANN, ledger("L")), ops.SetPosition(ANN, "tags", 3),
    )))  # fmt: skip
    return ids


def _fork(store: Store, source: Scope, name: Scope, seq: int) -> None:
    parent = session_of(store, source)
    assert parent is not None
    start(store, name, path=parent.upto(seq), start=seq, count=seq)


def _span(number: int) -> Span:
    return Span(number=number, lo=0, hi=1 << 40)


class ErasureSuite(Suite):
    """Gone, and known to be gone."""

    def test_an_erased_message_leaves_a_tombstone_without_words(self, store: Store) -> None:
        ids = _talk(store)
        before = read_log(store, ANN)[1]
        store.write(Write((ops.EraseRows(ANN, (ids[1], "unknown")),)))
        left = read_log(store, ANN)[1]
        assert left.message.erased
        assert (dict(left.message.body), left.salt, dict(left.message.counts)) == ({"role": "user"}, b"", {})
        assert (left.message.category, left.message.retention) == (None, None)
        assert (left.digest, left.message.id, left.message.seq) == (before.digest, ids[1], 1)
        assert texts(store, ANN) == ["no sugar", "", "sugar is fine now"]

    def test_everything_derived_from_an_erased_message_goes_with_it(self, store: Store) -> None:
        ids = _talk(store)
        store.write(Write((ops.EraseRows(ANN, (ids[1],)),)))
        pins, index, outline, ledgers, found = store.read(Read((
            ops.GetPins(ANN, (EVERYTHING,)), ops.GetIndex(ANN), ops.GetOutline(ANN, (EVERYTHING,), "o200k_base"),
            ops.GetLedgers(ANN), ops.FindRows(ANN, (ids[1],)),
        )))  # fmt: skip
        assert pins == (pin(0, ended_by=2),)
        assert sorted({r.seq for r in index}) == [0, 2]
        assert (outline.erased.tolist(), outline.tokens.tolist()) == ([False, True, False], [7, -1, 7])
        assert outline.category[1] == UNKNOWN
        assert [one["id"] for one in ledgers] == ["L"]
        assert [r.message.text for r in found] == [""]

    def test_a_pin_stands_again_when_the_words_that_ended_it_are_erased(self, store: Store) -> None:
        ids = _talk(store)
        store.write(Write((ops.EraseRows(ANN, (ids[2],)),)))
        assert store.read(Read((ops.GetPins(ANN, (EVERYTHING,)),)))[0] == (pin(0), pin(1))

    def test_erasing_raises_the_epoch_and_erasing_nothing_does_not(self, store: Store) -> None:
        ids = _talk(store)
        version, epoch = counters(store, ANN)
        store.write(Write((ops.EraseRows(ANN, ("unknown",)), ops.EraseSession(who("ann", "unknown")))))
        assert counters(store, ANN) == (version + 1, epoch)
        store.write(Write((ops.EraseRows(ANN, ids[:2]),)))
        assert counters(store, ANN) == (version + 2, epoch + 1)
        store.write(Write((ops.EraseRows(ANN, ids[:2]),)))
        assert counters(store, ANN) == (version + 3, epoch + 1)

    def test_of_an_erased_session_nothing_remains_and_its_name_is_free(self, store: Store) -> None:
        ids = _talk(store)
        say(store, who("ann", "t"), "other")
        _, epoch = counters(store, ANN)
        store.write(Write((ops.EraseSession(ANN),)))
        answers = store.read(Read((
            ops.GetSession(ANN), ops.FindRows(ANN, ids), ops.GetRows(ANN, (EVERYTHING,)), ops.GetIndex(ANN),
            ops.GetPins(ANN, (EVERYTHING,)),
        )))  # fmt: skip
        assert not any(answers)
        assert counters(store, ANN)[1] == epoch + 1
        assert texts(store, who("ann", "t")) == ["other"]
        assert start(store, ANN).number == 2
        assert texts(store, ANN) == []

    def test_a_fork_keeps_tombstones_of_an_erased_parent_and_its_own_words(self, store: Store) -> None:
        _talk(store)
        _fork(store, ANN, FORK, 2)
        say(store, FORK, "mine")
        store.write(Write((ops.EraseSession(ANN),)))
        assert session_of(store, ANN) is None
        assert texts(store, FORK) == ["", "", "mine"]
        assert [r.message.seq for r in store.read(Read((ops.GetRows(ANN, (EVERYTHING,)),)))[0]] == [0, 1]
        index, pins = store.read(Read((ops.GetIndex(ANN), ops.GetPins(ANN, (EVERYTHING,)))))
        assert (index, pins) == ((), ())

    def test_the_tombstones_go_with_the_last_fork(self, store: Store) -> None:
        _talk(store)
        _fork(store, ANN, FORK, 3)
        say(store, FORK, "mine")
        _fork(store, FORK, who("ann", "fork of fork"), 4)
        for scope in (ANN, FORK):
            store.write(Write((ops.EraseSession(scope),)))
        assert texts(store, who("ann", "fork of fork")) == ["", "", "", ""]
        store.write(Write((ops.EraseSession(who("ann", "fork of fork")),)))
        assert store.read(Read((ops.GetRows(ANN, (_span(0), _span(1), _span(2))), ops.ListSessions(ANN)))) == ((), ())

    def test_erasing_a_fork_leaves_its_parent_whole(self, store: Store) -> None:
        _talk(store)
        _fork(store, ANN, FORK, 2)
        say(store, FORK, "mine")
        store.write(Write((ops.EraseSession(FORK),)))
        assert texts(store, ANN) == ["no sugar", "my street is Elm", "sugar is fine now"]
        assert store.read(Read((ops.GetRows(ANN, (_span(1),)),)))[0] == ()

    def test_of_an_erased_user_nothing_remains(self, store: Store) -> None:
        ids = _talk(store)
        say(store, who("bob"), "bob's")
        assert store.write(Write((ops.EraseUser(ANN),))) == 0
        answers = store.read(Read((
            ops.GetUser(ANN), ops.ListSessions(ANN), ops.FindRows(ANN, ids), ops.GetRows(ANN, (EVERYTHING,)),
            ops.GetIndex(ANN), ops.GetPins(ANN, (EVERYTHING,)), ops.GetLedgers(ANN),
        )))  # fmt: skip
        assert not any(answers)
        assert texts(store, who("bob")) == ["bob's"]
        assert set(store.read(Read((ops.Behind("tags"),)))[0]) == {who("bob")}

    def test_whoever_has_the_name_afterwards_is_never_taken_for_the_one_before(self, store: Store) -> None:
        say(store, ANN, "a")
        seen = counters(store, ANN)
        store.write(Write((ops.EraseUser(ANN),)))
        say(store, ANN, "b")
        now = counters(store, ANN)
        assert now[0] != seen[0]
        assert now[1] not in (seen[1], 0)

    def test_erasing_what_is_not_there_is_no_error(self, store: Store) -> None:
        for op in (ops.EraseUser(ANN), ops.EraseSession(ANN), ops.EraseRows(ANN, ("x",))):
            assert store.write(Write((op,))) == 0
        assert counters(store, ANN) == (0, 0)
