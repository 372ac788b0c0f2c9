"""Derived views: tags and pins, the recall index, ledgers. They can be written again without a trace of the first time."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from keepline.ports import store as ops
from keepline.ports.store import IndexRow, Read, Store, Write
from keepline.testing.conformance.base import Suite
from keepline.testing.conformance.rows import (
    EVERYTHING,
    append,
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
    who,
)
from keepline.values.message import Category, Retention
from keepline.values.tag import Pin

ANN = who("ann")


def _pins(store: Store, since: int = 0, spans: Any = (EVERYTHING,)) -> tuple[Pin, ...]:
    found: tuple[Pin, ...] = store.read(Read((ops.GetPins(ANN, spans, since),)))[0]
    return found


def _index(store: Store, since: int = 0) -> tuple[IndexRow, ...]:
    found: tuple[IndexRow, ...] = store.read(Read((ops.GetIndex(ANN, since),)))[0]
    return found


def _same(left: IndexRow, right: IndexRow) -> bool:
    names = [f.name for f in fields(IndexRow)]
    return all(np.array_equal(getattr(left, name), getattr(right, name)) for name in names)


class ViewSuite(Suite):
    """What is derived."""

    def test_a_tag_gives_category_and_retention(self, store: Store) -> None:
        say(store, ANN, "no sugar", "hi")
        store.write(Write((ops.PutTags(ANN, (tag(0), tag(1, category=Category.GREETING, retention=Retention.DROPPABLE))),)))
        found = [(r.message.category, r.message.retention) for r in read_log(store, ANN)]
        assert found == [(Category.CONSTRAINT, Retention.IMPORTANT), (Category.GREETING, Retention.DROPPABLE)]

    def test_what_the_caller_gave_is_never_overwritten(self, store: Store) -> None:
        append(store, ANN, [
            message(0, category=Category.CHAT, given=True), message(1, retention=Retention.NEVER_DROPPED, given=True),
            message(2, category=Category.CHAT),
        ])  # fmt: skip
        store.write(Write((ops.PutTags(ANN, (tag(0), tag(1), tag(2))),)))
        assert [(r.message.category, r.message.retention) for r in read_log(store, ANN)] == [
            (Category.CHAT, Retention.IMPORTANT),
            (Category.CONSTRAINT, Retention.NEVER_DROPPED),
            (Category.CONSTRAINT, Retention.IMPORTANT),
        ]

    def test_pins_come_in_the_order_in_which_they_were_said(self, store: Store) -> None:
        say(store, ANN, *"abc")
        full = pin(2, 4, 9, kind=Category.FACT, certainty=1.0, given=True, until="2026-09-01")
        store.write(Write((ops.PutTags(ANN, (tag(2, full, pin(2, 0, 3)), tag(0, pin(0)))),)))
        assert _pins(store) == (pin(0), pin(2, 0, 3), full)

    def test_tagging_again_leaves_only_the_later_pins(self, store: Store) -> None:
        say(store, ANN, *"ab")
        for _ in range(2):
            store.write(Write((ops.PutTags(ANN, (tag(0, pin(0, 0, 3), pin(0, 4, 5)), tag(1, pin(1)))),)))
        store.write(Write((ops.PutTags(ANN, (tag(0, pin(0, 1, 2)),)),)))
        assert _pins(store) == (pin(0, 1, 2), pin(1))

    def test_a_pin_is_ended_in_place_and_read_as_new(self, store: Store) -> None:
        say(store, ANN, *"abc")
        store.write(Write((ops.PutTags(ANN, (tag(0, pin(0)), tag(1, pin(1)))),)))
        seen, epoch = counters(store, ANN)
        ended = pin(0, ended_by=2)
        for _ in range(2):
            store.write(Write((ops.PutTags(ANN, (tag(2, ends=(ended,)),)),)))
        assert _pins(store) == (ended, pin(1))
        assert _pins(store, since=seen) == (ended,)
        assert counters(store, ANN)[1] == epoch

    def test_a_message_tagged_again_may_let_a_pin_stand_again(self, store: Store) -> None:
        say(store, ANN, *"abc")
        store.write(Write((ops.PutTags(ANN, (tag(0, pin(0)), tag(2, ends=(pin(0, ended_by=2),)))),)))
        seen, _ = counters(store, ANN)
        store.write(Write((ops.PutTags(ANN, (tag(2),)),)))
        assert _pins(store, since=seen) == (pin(0),)

    def test_a_pin_ended_in_a_fork_still_stands_in_its_parent(self, store: Store) -> None:
        say(store, ANN, *"abc")
        parent, fork = session_of(store, ANN), who("ann", "fork")
        assert parent is not None
        store.write(Write((ops.PutTags(ANN, (tag(0, pin(0)),)),)))
        start(store, fork, path=parent.upto(2), start=2, count=2)
        say(store, fork, "no more of that")
        branch = session_of(store, fork)
        assert branch is not None
        store.write(Write((ops.PutTags(fork, (tag(2, number=branch.number, ends=(pin(0, ended_by=2),)),)),)))
        assert _pins(store, spans=parent.spans) == (pin(0),)
        assert _pins(store, spans=branch.spans) == (pin(0, ended_by=2),)

    def test_an_index_row_comes_back_as_it_went(self, store: Store) -> None:
        say(store, ANN, *"ab")
        rows = (index_row(0), index_row(0, 1, vector=None), index_row(1, terms=np.array([], np.uint64),
                                                                      counts=np.array([], np.uint16)))  # fmt: skip
        store.write(Write((ops.PutIndex(ANN, rows[::-1]),)))
        assert all(_same(a, b) for a, b in zip(rows, _index(store), strict=True))
        assert [a.vector.dtype if a.vector is not None else None for a in _index(store)] == [np.float16, None, np.float16]

    def test_an_index_row_is_replaced_and_read_since_a_version(self, store: Store) -> None:
        say(store, ANN, *"ab")
        store.write(Write((ops.PutIndex(ANN, (index_row(0, vector=None), index_row(1, vector=None))),)))
        seen, epoch = counters(store, ANN)
        store.write(Write((ops.PutIndex(ANN, (index_row(1),)),)))
        assert [(r.seq, r.vector is None) for r in _index(store)] == [(0, True), (1, False)]
        assert [r.seq for r in _index(store, since=seen)] == [1]
        assert counters(store, ANN)[1] == epoch

    def test_the_index_has_the_rows_of_all_sessions_in_order(self, store: Store) -> None:
        say(store, ANN, *"ab")
        say(store, who("ann", "t"), "c")
        store.write(Write((ops.PutIndex(ANN, (index_row(0, number=1), index_row(1), index_row(0, 1), index_row(0))),)))
        assert [(r.number, r.seq, r.chunk) for r in _index(store)] == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]

    def test_what_is_derived_from_an_erased_or_unknown_message_is_skipped(self, store: Store) -> None:
        ids = say(store, ANN, *"ab")
        store.write(Write((ops.EraseRows(ANN, ids[:1]),)))
        store.write(Write((
            ops.PutIndex(ANN, (index_row(0), index_row(1), index_row(7))),
            ops.PutTags(ANN, (tag(0, pin(0)), tag(1, pin(1)), tag(7, pin(7)))),
            ops.PutCounts(ANN, 0, "o200k_base", {0: 3, 1: 3, 7: 3}),
        )))  # fmt: skip
        assert [r.seq for r in _index(store)] == [1]
        assert _pins(store) == (pin(1),)
        assert [dict(r.message.counts) for r in read_log(store, ANN)] == [{}, {"o200k_base": 3}]

    def test_the_newest_ledgers_are_kept_newest_first(self, store: Store) -> None:
        start(store, ANN)
        for i in range(7):
            store.write(Write((ops.PutLedger(ANN, ledger(f"L{i}", f"2026-08-12T09:30:0{i}Z"), keep=4),)))
        kept = store.read(Read((ops.GetLedgers(ANN),)))[0]
        assert [one["id"] for one in kept] == ["L6", "L5", "L4", "L3"]
        assert [one["id"] for one in store.read(Read((ops.GetLedgers(ANN, limit=2),)))[0]] == ["L6", "L5"]
        assert [one["id"] for one in store.read(Read((ops.GetLedgers(ANN, "L4"),)))[0]] == ["L4"]
        assert store.read(Read((ops.GetLedgers(ANN, "L0"),)))[0] == ()

    def test_a_ledger_comes_back_as_plain_values(self, store: Store) -> None:
        start(store, ANN)
        store.write(Write((ops.PutLedger(ANN, ledger("L")), ops.PutLedger(ANN, ledger("L")))))
        found = store.read(Read((ops.GetLedgers(ANN),)))[0]
        assert len(found) == 1
        assert (found[0]["tokens"], found[0]["entries"][0]["fate"], found[0]["entries"][0]["ids"]) == (7, "kept", ["m0"])
