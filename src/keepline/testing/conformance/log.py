"""The log keeps what was said: verbatim, in order, once; forks share what came before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from keepline.errors import Moved
from keepline.ports import store as ops
from keepline.ports.store import CATEGORIES, ROLES, UNKNOWN, Outline, Read, Store, Write
from keepline.testing.conformance.base import Suite
from keepline.testing.conformance.rows import (
    EVERYTHING,
    NOW,
    append,
    counters,
    message,
    read_log,
    row,
    say,
    session_of,
    start,
    texts,
    who,
)
from keepline.values.message import Category, Retention
from keepline.values.session import Span

ANN = who("ann")

BODIES: dict[str, dict[str, Any]] = {
    "unknown keys, in their order": {"z": 1, "role": "user", "content": "hi", "x-vendor": {"b": 1, "a": None}},
    "null content and calls": {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {}}]},
    "parts": {"role": "user", "content": [{"type": "text", "text": "看"}, {"type": "image_url", "image_url": {"url": "x"}}]},
    "NUL and control characters": {"role": "user", "content": "a\x00b\x1fc\r\n\u2028"},
    "a lone surrogate": {"role": "user", "content": "half \ud83d of a face"},
    "all planes": {"role": "user", "content": "é e\u0301 部署 𠮷 👩‍👩‍👧 \U0010ffff \ufeff"},
    "numbers": {"role": "user", "content": "", "n": 2**80, "f": 0.1, "t": True},
    "long": {"role": "tool", "tool_call_id": "c1", "content": "长" * 400_000},
    "nothing": {"role": "assistant", "content": ""},
}


def outline(store: Store, vocabulary: str = "o200k_base", since: int = 0, spans: Any = (EVERYTHING,)) -> Outline:
    """Ann's outline."""
    found: Outline = store.read(Read((ops.GetOutline(ANN, spans, vocabulary, since),)))[0]
    return found


class LogSuite(Suite):
    """Verbatim, in order, once."""

    @pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
    def test_a_message_comes_back_as_it_came(self, store: Store, body: dict[str, Any]) -> None:
        said = message(0, body=body, category=Category.FACT, retention=Retention.NEVER_DROPPED, given=True)
        append(store, ANN, [said])
        found = read_log(store, ANN)[0]
        assert found == row(said)
        assert list(found.message.body) == list(body)

    @pytest.mark.parametrize("at", [
        datetime(2026, 8, 12, 9, 30, 0, 123457, UTC), datetime(1969, 1, 1, 0, 0, 0, 1, UTC),
        datetime(9998, 12, 31, 23, 59, 59, 999999, UTC),
    ], ids=str)  # fmt: skip
    def test_a_time_is_kept_to_the_microsecond(self, store: Store, at: datetime) -> None:
        append(store, ANN, [message(0, at=at)])
        assert read_log(store, ANN)[0].message.at == at

    def test_rows_come_in_the_order_in_which_they_were_said(self, store: Store) -> None:
        for i in range(0, 30, 3):
            append(store, ANN, [message(i + k) for k in range(3)])
        assert [r.message.seq for r in read_log(store, ANN)] == list(range(30))

    def test_single_rows_are_read_by_their_place_in_order_and_once(self, store: Store) -> None:
        say(store, ANN, *"abcdefghij")
        rows = store.read(Read((ops.GetRows(ANN, (EVERYTHING,), (7, 2, 2, 99, 5)),)))[0]
        assert [r.message.text for r in rows] == ["c", "f", "h"]
        within = store.read(Read((ops.GetRows(ANN, (Span(number=0, lo=3, hi=6),), (7, 2, 5)),)))[0]
        assert [r.message.seq for r in within] == [5]

    def test_rows_are_found_by_id_and_unknown_ids_are_absent(self, store: Store) -> None:
        ids = say(store, ANN, *"abc")
        rows = store.read(Read((ops.FindRows(ANN, (ids[2], "unknown", ids[0], ids[0])),)))[0]
        assert sorted(r.message.id for r in rows) == [ids[0], ids[2]]
        assert store.read(Read((ops.FindRows(ANN, ()),)))[0] == ()

    def test_a_thousand_places_and_ids_can_be_asked_at_once(self, store: Store) -> None:
        ids = say(store, ANN, *(f"t{i}" for i in range(1500)))
        rows, found = store.read(Read((ops.GetRows(ANN, (EVERYTHING,), tuple(range(1500))), ops.FindRows(ANN, ids))))
        assert [r.message.text for r in rows] == [f"t{i}" for i in range(1500)]
        assert {r.message.id for r in found} == set(ids)

    def test_an_id_that_is_there_already_stops_the_whole_write(self, store: Store) -> None:
        append(store, ANN, [message(0, id="one")])
        before = counters(store, ANN)
        with pytest.raises(Moved):
            append(store, ANN, [message(1, id="two"), message(2, id="one")])
        assert [r.message.id for r in read_log(store, ANN)] == ["one"]
        assert counters(store, ANN) == before

    def test_a_place_that_is_taken_stops_the_whole_write(self, store: Store) -> None:
        append(store, ANN, [message(0)])
        with pytest.raises(Moved):
            store.write(Write((ops.PutRows(ANN, (row(message(0, id="other")),)),)))
        assert len(read_log(store, ANN)) == 1

    def test_sessions_are_numbered_by_the_store_and_listed_oldest_first(self, store: Store) -> None:
        third = start(store, who("ann", "c"), started=NOW.replace(year=2027))
        first = start(store, who("ann", "a"), started=NOW.replace(year=2020))
        second = start(store, who("ann", "b"))
        assert [third.number, first.number, second.number] == [0, 1, 2]
        assert store.read(Read((ops.ListSessions(ANN),)))[0] == (first, second, third)

    def test_rows_of_a_new_session_may_come_in_the_write_that_makes_it(self, store: Store) -> None:
        append(store, ANN, [message(0, "first")])
        other = who("ann", "t")
        append(store, other, [message(0, "other", id="n0")])
        assert (texts(store, ANN), texts(store, other)) == (["first"], ["other"])

    def test_a_fork_stands_on_its_parents_rows_and_the_parent_does_not_see_it(self, store: Store) -> None:
        say(store, ANN, *"abcd")
        parent, fork = session_of(store, ANN), who("ann", "fork")
        assert parent is not None
        start(store, fork, path=parent.upto(2), start=2, count=2)
        say(store, fork, "C")
        say(store, ANN, "e")
        assert texts(store, fork) == ["a", "b", "C"]
        assert texts(store, ANN) == ["a", "b", "c", "d", "e"]

    def test_an_outline_says_the_same_as_the_rows(self, store: Store) -> None:
        roles = ("system", "developer", "user", "assistant", "tool")
        said = [message(i, body={"role": role, "content": f"w{i}"}) for i, role in enumerate(roles)]
        said[2] = said[2].evolve(category=Category.GREETING, retention=Retention.DROPPABLE, given=True, counts={})
        said[3] = said[3].evolve(body={"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}, {"id": "c2"}]})
        said[4] = said[4].evolve(body={"role": "tool", "tool_call_id": "c1", "content": "ok"}, counts={"cl100k_base": 3})
        append(store, ANN, said)
        found = outline(store)
        assert found.seq.tolist() == [0, 1, 2, 3, 4]
        assert found.number.tolist() == [0] * 5
        assert [ROLES[r] for r in found.role] == list(roles)
        assert found.at.tolist() == [m.at.timestamp() for m in said]
        assert found.category.tolist() == [UNKNOWN, UNKNOWN, CATEGORIES.index("greeting"), UNKNOWN, UNKNOWN]
        assert found.retention.tolist() == [UNKNOWN, UNKNOWN, 0, UNKNOWN, UNKNOWN]
        assert found.given.tolist() == [False, False, True, False, False]
        assert found.erased.tolist() == [False] * 5
        assert found.tokens.tolist() == [7, 7, -1, 7, -1]
        assert found.ids == tuple(m.id for m in said)
        assert dict(found.links) == {3: (("c1", "c2"), ()), 4: ((), ("c1",))}
        kinds = {name: getattr(found, name).dtype.type for name in ("seq", "at", "role", "given", "tokens")}
        assert kinds == {"seq": np.int64, "at": np.float64, "role": np.uint8, "given": np.bool_, "tokens": np.int64}

    def test_an_outline_of_nothing_is_empty(self, store: Store) -> None:
        say(store, ANN, "a")
        assert len(outline(store, spans=()).seq) == 0

    def test_an_outline_since_a_version_has_only_what_was_written_after_it(self, store: Store) -> None:
        say(store, ANN, "a", "b")
        seen, _ = counters(store, ANN)
        assert len(outline(store, since=seen).seq) == 0
        say(store, who("ann", "elsewhere"), "x")
        say(store, ANN, "c")
        store.write(Write((ops.PutCounts(ANN, 0, "cl100k_base", {0: 4}),)))
        found = outline(store, "cl100k_base", since=seen)
        assert (found.seq.tolist(), found.tokens.tolist()) == ([0, 2], [4, -1])

    def test_counts_of_a_second_vocabulary_stand_beside_the_first(self, store: Store) -> None:
        say(store, ANN, "a", "b")
        before = counters(store, ANN)
        store.write(Write((ops.PutCounts(ANN, 0, "cl100k_base", {1: 5, 77: 1}),)))
        assert read_log(store, ANN)[1].message.counts == {"o200k_base": 7, "cl100k_base": 5}
        assert outline(store, "cl100k_base").tokens.tolist() == [-1, 5]
        assert outline(store, "o200k_base").tokens.tolist() == [7, 7]
        assert counters(store, ANN) == (before[0] + 1, before[1])
