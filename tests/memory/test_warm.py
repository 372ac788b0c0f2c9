"""Warm copies of a log: as new as the store, never older than an erasure, and never changed in somebody's hands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hand import COUNTER, Hand, talk

from keepline import stores
from keepline.context.count import Meter, counted
from keepline.errors import Moved
from keepline.memory import warm
from keepline.memory.warm import Warm
from keepline.ports.flow import run
from keepline.ports.store import GetUser, Outline, PutCounts, PutTags, Read, Write
from keepline.ports.view import Look, View, Words
from keepline.testing.fakes import PlainCounter
from keepline.values.message import Category, Retention
from keepline.values.tag import Pin, Tag


class Keeper:
    """One process's warm copies of a hand's user, counting what it reads of the store."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.warm = Warm()
        self.read: list[str] = []
        self.meet = {
            Read: self._read, Write: hand.store.write, Look: lambda n: run(self.warm.look(n.scope, n.vocabulary), self.meet),
            Words: lambda n: run(self.warm.words(n.view, n.seqs), self.meet),
        }

    def _read(self, need: Read) -> Any:
        self.read += [type(op).__name__ for op in need.ops]
        return self.hand.store.read(need)

    def look(self, session: str = "s", vocabulary: str = COUNTER.name) -> View:
        return run(self.warm.look(self.hand.scope(session), vocabulary), self.meet)

    def words(self, view: View, *seqs: int) -> dict[int, str]:
        return {s: m.text for s, m in run(self.warm.words(view, seqs), self.meet).items()}

    def version(self) -> int:
        return self.hand.store.read(Read((GetUser(self.hand.scope()),)))[0].version


@pytest.fixture
def keeper(hand: Hand) -> Iterator[Keeper]:
    return Keeper(hand)


def tag(hand: Hand, seq: int, *, number: int = 0, certainty: float = 0.8, ended_by: int | None = None) -> None:
    """Pin the first letter of message `seq`, or end that pin by a later message."""
    pin = Pin(number=number, seq=seq, start=0, end=1, kind=Category.CONSTRAINT, certainty=certainty, ended_by=ended_by)
    places = {"seq": seq, "pins": (pin,)} if ended_by is None else {"seq": ended_by, "ends": (pin,)}
    found = Tag(number=number, category=Category.CONSTRAINT, retention=Retention.IMPORTANT, **places)
    hand.store.write(Write((PutTags(hand.scope(), (found,)),)))


def columns(view: View) -> dict[str, Any]:
    outline = view.outline
    arrays = {f.name: getattr(outline, f.name).copy() for f in fields(Outline) if f.name not in ("ids", "links")}
    ids = list(outline.ids)[: len(view)]
    return arrays | {"ids": ids, "answering": view.answering.copy(), "standing": view.standing, "ended": view.ended}


def alike(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(np.array_equal(a[k], b[k]) if isinstance(a[k], np.ndarray) else a[k] == b[k] for k in a)


@pytest.mark.req("WARM-01")
def test_a_view_stays_as_it_was_while_the_log_grows_and_is_tagged_and_counted(keeper: Keeper) -> None:
    hand = keeper.hand
    hand.append(talk(*(f"w{i}" for i in range(6))))
    view = keeper.look()
    before = columns(view)
    tag(hand, 0)
    keeper.look()
    for i in range(40):
        hand.append(talk(*(f"{i} {j}" for j in range(60))))
        keeper.look()
    hand.store.write(Write((PutCounts(hand.scope(), 0, COUNTER.name, {0: 999}),)))
    now = keeper.look()
    assert len(now) == 2406
    assert now.outline.tokens[0] == 999
    assert len(now.standing) == 1
    assert len(view) == 6
    assert alike(before, columns(view))


@pytest.mark.req("WARM-01")
def test_what_is_warm_equals_what_is_read_anew(keeper: Keeper) -> None:
    hand = keeper.hand
    for i in range(30):
        call = {"id": f"c{i}", "type": "function", "function": {"name": "f", "arguments": ""}}
        hand.append([
            {"role": "user", "content": f"q{i}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{i}", "content": "ok"},
        ])  # fmt: skip
        if i % 3 == 0:
            tag(hand, 3 * i, certainty=0.5 + i / 100)
        if i % 7 == 6:
            tag(hand, 3 * (i - i % 3), ended_by=3 * i)
        keeper.look()
    assert alike(columns(keeper.look()), columns(Keeper(hand).look()))
    assert keeper.look().outline.links == Keeper(hand).look().outline.links
    assert next(p.seq for p in keeper.look().standing) == 72
    assert len(keeper.look().ended) == 2


@pytest.mark.req("WARM-01")
def test_nothing_is_read_again_when_nothing_was_written(keeper: Keeper) -> None:
    keeper.hand.append(talk("a", "b"))
    view = keeper.look()
    assert keeper.words(view, 0, 1) == {0: "a", 1: "b"}
    keeper.read.clear()
    assert keeper.look() is view
    assert keeper.words(view, 0, 1) == {0: "a", 1: "b"}
    assert keeper.read == ["GetUser", "GetSession"]


@pytest.mark.req("WARM-01")
def test_an_unknown_user_or_session_has_an_empty_view(keeper: Keeper) -> None:
    assert len(keeper.look()) == 0
    keeper.hand.append(talk("a"))
    assert len(keeper.look("other")) == 0
    assert keeper.look("other").session is None
    assert len(keeper.look()) == 1


@pytest.mark.req("WARM-01")
def test_a_fork_shows_its_whole_path(keeper: Keeper) -> None:
    hand = keeper.hand
    hand.append(talk("a", "b", "c", "d"))
    keeper.look()
    fork = hand.sync(talk("a", "b", "other"))
    view = keeper.look(fork.session)
    assert [keeper.words(view, i)[i] for i in range(3)] == ["a", "b", "other"]
    assert view.outline.number.tolist() == [0, 0, 1]


@pytest.mark.req("WARM-02")
def test_an_erasure_by_another_process_empties_what_is_warm(tmp_path: Path) -> None:
    here, there = (stores.open(str(tmp_path / "log.db")) for _ in range(2))
    keeper, other = Keeper(Hand(here)), Hand(there)
    stored = other.append(talk("secret", "kept"))
    view = keeper.look()
    assert keeper.words(view, 0, 1) == {0: "secret", 1: "kept"}
    other.erase([stored[0].id])
    now = keeper.look()
    assert now.outline.erased.tolist() == [True, False]
    assert keeper.words(now, 1) == {1: "kept"}
    with pytest.raises(Moved):
        keeper.words(view, 0)
    other.erase(None)
    assert len(keeper.look()) == 0
    other.erase(None, None)
    other.append(talk("anew"))
    assert keeper.words(keeper.look(), 0) == {0: "anew"}
    here.close()
    there.close()


@pytest.mark.req("WARM-02")
def test_words_are_not_read_from_behind_an_erasure_that_came_in_between(keeper: Keeper) -> None:
    stored = keeper.hand.append(talk("secret", "kept"))
    view = keeper.look()
    keeper.hand.erase([stored[0].id])
    with pytest.raises(Moved):
        keeper.words(view, 0, 1)


@pytest.mark.req("WARM-02")
def test_what_is_kept_of_words_is_bounded(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "WORDS_CHARACTERS", 3_000)
    long = "x" * 1_000
    keeper.hand.append(talk(long, long, long, long))
    view = keeper.look()
    assert {s: len(t) for s, t in keeper.words(view, 0, 1, 2, 3).items()} == dict.fromkeys(range(4), len(long))
    keeper.read.clear()
    keeper.words(view, 0)
    assert keeper.read == ["GetUser", "GetRows"]


@pytest.mark.req("WARM-03")
def test_counts_in_a_second_vocabulary_are_made_once_and_kept(keeper: Keeper) -> None:
    hand = keeper.hand
    hand.append(talk("one two three", "four five"))
    second = Meter(PlainCounter("word", overhead=1))
    view = run(counted(hand.scope(), second, tagged=False), keeper.meet)
    assert view.outline.tokens.tolist() == [4, 3]
    before = keeper.version()
    assert run(counted(hand.scope(), second, tagged=False), Keeper(hand).meet).outline.tokens.tolist() == [4, 3]
    assert keeper.version() == before
    assert keeper.look().outline.tokens.tolist() == [r.message.counts[COUNTER.name] for r in hand.rows()]
    hand.append(talk("six"))
    assert run(counted(hand.scope(), second, tagged=False), keeper.meet).outline.tokens.tolist() == [4, 3, 2]


@pytest.mark.req("WARM-03")
def test_a_fork_counts_its_parents_rows_where_they_are(keeper: Keeper) -> None:
    hand = keeper.hand
    hand.append(talk("one two", "three", "four"))
    fork = hand.sync(talk("one two", "three", "five six seven"))
    second = Meter(PlainCounter("word", overhead=1))
    assert run(counted(hand.scope(fork.session), second, tagged=False), keeper.meet).outline.tokens.tolist() == [3, 2, 4]
    assert keeper.look("s", second.counter.name).outline.tokens.tolist() == [3, 2, -1]


@pytest.mark.req("WARM-01")
def test_a_pin_whose_ending_is_taken_back_stands_again_and_is_not_ended_too(keeper: Keeper) -> None:
    hand = keeper.hand
    hand.append(talk(*(f"w{i}" for i in range(4))))
    tag(hand, 0)
    tag(hand, 0, ended_by=2)
    view = keeper.look()
    assert [p.seq for p in view.ended] == [0]
    assert not view.standing
    plain = Tag(number=0, seq=2, category=Category.CHAT, retention=Retention.DEFAULT)
    hand.store.write(Write((PutTags(hand.scope(), (plain,)),)))
    tag(hand, 0)
    view = keeper.look()
    assert [p.seq for p in view.standing] == [0]
    assert not view.ended
