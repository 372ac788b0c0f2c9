"""A write happens whole or not at all, and only if what it rested on still holds."""

from __future__ import annotations

from typing import Any

import pytest

from keepline.errors import Moved
from keepline.ports import store as ops
from keepline.ports.store import Expect, Read, Store, Write
from keepline.testing.conformance.base import Suite
from keepline.testing.conformance.rows import (
    NOW,
    append,
    counters,
    message,
    read_log,
    row,
    say,
    session_of,
    start,
    tag,
    texts,
    who,
)
from keepline.values.session import Session, Span

ANN = who("ann")

STALE: dict[str, Any] = {
    "another length": {"count": 3},
    "a session that was not there yet": {"count": 0, "head": b""},
    "another last message": {"count": 2, "head": b"other"},
    "another epoch": {"epoch": 5},
    "an owner that was not there yet": {"epoch": 0},
    "another position": {"view": "tags", "position": 2},
    "a view that had not begun": {"view": "tags", "position": 0},
}


def _put(store: Store, count: int, **fields: Any) -> ops.PutSession:
    found = session_of(store, ANN)
    assert found is not None
    values: dict[str, Any] = {"name": "s", "number": found.number, "started": NOW, "count": count, "head": found.head}
    return ops.PutSession(ANN, Session(**(values | fields)))


class WriteSuite(Suite):
    """All or nothing."""

    @pytest.mark.parametrize("stale", STALE.values(), ids=STALE.keys())
    def test_a_write_that_rests_on_something_stale_writes_nothing(self, store: Store, stale: dict[str, Any]) -> None:
        say(store, ANN, "a", "b")
        store.write(Write((ops.SetPosition(ANN, "tags", 1),)))
        before = (session_of(store, ANN), counters(store, ANN), texts(store, ANN))
        with pytest.raises(Moved):
            store.write(Write((_put(store, 3), ops.PutRows(ANN, (row(message(2)),))), (Expect(ANN, **stale),)))
        assert (session_of(store, ANN), counters(store, ANN), texts(store, ANN)) == before

    def test_a_write_whose_expectations_hold_is_carried_out(self, store: Store) -> None:
        say(store, ANN, "a", "b")
        store.write(Write((ops.SetPosition(ANN, "tags", 1),)))
        found, (_, epoch) = session_of(store, ANN), counters(store, ANN)
        assert found is not None
        expect = Expect(ANN, count=2, head=found.head, view="tags", position=1, epoch=epoch)
        store.write(Write((_put(store, 3), ops.PutRows(ANN, (row(message(2, "c")),))), (expect,)))
        assert texts(store, ANN) == ["a", "b", "c"]

    def test_what_never_was_is_expected_as_nothing(self, store: Store) -> None:
        expect = Expect(ANN, count=0, head=b"", view="tags", position=0, epoch=0)
        new = Session(name="s", number=-1, started=NOW)
        store.write(Write((ops.PutUser(ANN, b"k"), ops.PutSession(ANN, new)), (expect,)))
        assert session_of(store, ANN) is not None

    def test_a_failing_operation_undoes_those_before_it(self, store: Store) -> None:
        say(store, ANN, "a")
        before = (session_of(store, ANN), counters(store, ANN), read_log(store, ANN))
        with pytest.raises(Moved):
            store.write(Write((
                _put(store, 9), ops.SetPosition(ANN, "tags", 1), ops.PutTags(ANN, (tag(0),)),
                ops.PutRows(ANN, (row(message(5)),)), ops.SetPosition(who("ann", "no such session"), "tags", 1),
            )))  # fmt: skip
        assert (session_of(store, ANN), counters(store, ANN), read_log(store, ANN)) == before

    def test_every_write_raises_the_version_by_one_and_answers_it(self, store: Store) -> None:
        start(store, ANN)
        first, epoch = counters(store, ANN)
        answers = [append(store, ANN, [message(i)]) for i in range(3)]
        answers.append(store.write(Write((ops.SetPosition(ANN, "tags", 3), ops.PutTags(ANN, (tag(0),))))))
        assert answers == [first + 1, first + 2, first + 3, first + 4]
        assert counters(store, ANN) == (first + 4, epoch)

    def test_an_owner_is_made_once(self, store: Store) -> None:
        store.write(Write((ops.PutUser(ANN, b"first"),)))
        store.write(Write((ops.PutUser(ANN, b"second"),)))
        assert store.read(Read((ops.GetUser(ANN),)))[0].key == b"first"

    def test_nothing_can_be_written_for_an_owner_who_is_not_there(self, store: Store) -> None:
        say(store, ANN, "a")
        late = _put(store, 2)
        store.write(Write((ops.EraseUser(ANN),)))
        with pytest.raises(Moved):
            store.write(Write((late,)))
        assert (counters(store, ANN), session_of(store, ANN)) == ((0, 0), None)

    def test_a_session_erased_meanwhile_is_not_brought_back(self, store: Store) -> None:
        say(store, ANN, "a")
        late = _put(store, 2)
        store.write(Write((ops.EraseSession(ANN),)))
        for ops_of_the_late in ((late,), (ops.PutRows(ANN, (row(message(1)),)),), (ops.SetPosition(ANN, "tags", 1),)):
            with pytest.raises(Moved):
                store.write(Write(ops_of_the_late))
        start(store, ANN)
        with pytest.raises(Moved):
            store.write(Write((late,)))
        assert texts(store, ANN) == []

    def test_a_session_that_another_made_meanwhile_is_not_made_again(self, store: Store) -> None:
        say(store, ANN, "a")
        with pytest.raises(Moved):
            start(store, ANN)
        assert texts(store, ANN) == ["a"]

    def test_a_fork_of_rows_that_are_gone_is_refused(self, store: Store) -> None:
        start(store, ANN)
        for path in ((Span(number=0, lo=0, hi=2),), (Span(number=9, lo=0, hi=1),)):
            with pytest.raises(Moved):
                start(store, who("ann", "fork"), path=path, start=2, count=2)
        assert session_of(store, who("ann", "fork")) is None

    def test_an_append_never_sets_a_view_back(self, store: Store) -> None:
        say(store, ANN, *"abc")
        store.write(Write((ops.SetPosition(ANN, "tags", 3),)))
        store.write(Write((_put(store, 3, positions={"tags": 1, "recall": 2}),)))
        found = session_of(store, ANN)
        assert found is not None
        assert found.positions == {"tags": 3, "recall": 2}

    def test_a_position_can_be_set_back_to_do_a_view_again(self, store: Store) -> None:
        say(store, ANN, *"abc")
        store.write(Write((ops.SetPosition(ANN, "tags", 3),)))
        store.write(Write((ops.SetPosition(ANN, "tags", 0),)))
        found = session_of(store, ANN)
        assert found is not None
        assert found.positions == {"tags": 0}

    def test_what_is_behind_is_listed_until_its_view_has_come_to_the_head(self, store: Store) -> None:
        bob = who("bob", "talk", tenant="acme")
        say(store, ANN, "a", "b")
        say(store, bob, "c")
        start(store, who("ann", "empty"))
        assert set(store.read(Read((ops.Behind("tags"),)))[0]) == {ANN, bob}
        assert len(store.read(Read((ops.Behind("tags", 1),)))[0]) == 1
        store.write(Write((ops.SetPosition(ANN, "tags", 2), ops.SetPosition(ANN, "recall", 1))))
        behind = store.read(Read((ops.Behind("tags"), ops.Behind("recall"))))
        assert (set(behind[0]), set(behind[1])) == ({bob}, {ANN, bob})

    def test_a_write_of_nothing_only_checks(self, store: Store) -> None:
        say(store, ANN, "a")
        version, _ = counters(store, ANN)
        assert store.write(Write((), (Expect(ANN, count=1),))) == version
        with pytest.raises(Moved):
            store.write(Write((), (Expect(ANN, count=2),)))
        assert counters(store, ANN)[0] == version
