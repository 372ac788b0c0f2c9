"""Re-sent histories: what is known is never stored again, what is new is never lost, each finds its place."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import pytest
from hand import COUNTER, NOW, TEN, Hand, outcome, system, talk, texts

from keepline.errors import BadMessage
from keepline.memory import log
from keepline.memory.intake import intake
from keepline.ports.store import GetSession, Read, SetPosition, Write
from keepline.testing.fakes import PlainCounter

# ---------------------------------------------------------------- continuing


@pytest.mark.req("LOG-30")
def test_a_growing_history_adds_only_what_is_new(hand: Hand) -> None:
    assert outcome(hand.sync(TEN[:1])) == ("s", 0, ["w0"], False)
    assert outcome(hand.sync(TEN[:3])) == ("s", 1, ["w1", "w2"], False)
    assert outcome(hand.sync(TEN)) == ("s", 3, [f"w{i}" for i in range(3, 10)], False)
    writes = hand.writes
    assert outcome(hand.sync(TEN)) == ("s", 10, [], False)
    assert hand.writes == writes
    assert hand.words() == [f"w{i}" for i in range(10)]
    assert hand.verify() == 10


@pytest.mark.req("LOG-30")
def test_added_messages_have_ids_places_and_counts(hand: Hand) -> None:
    hand.sync(TEN[:2])
    (added,) = hand.sync(TEN[:3]).added
    assert (added.id, added.seq, dict(added.counts)) == ("m2", 2, {COUNTER.name: 6})
    assert hand.rows()[2].message == added


class Noting(PlainCounter):
    """Keeps what it was asked."""

    def message(self, body: Mapping[str, Any]) -> int:
        self.asked = [*getattr(self, "asked", []), body["content"]]
        return super().message(body)


@pytest.mark.req("LOG-30")
def test_only_new_messages_are_counted(hand: Hand) -> None:
    hand.sync(TEN[:9])
    counter = Noting("letter")
    hand.drive(log.sync(hand.scope(), intake(TEN, now=NOW), counter, NOW, secrets.token_bytes))
    assert counter.asked == ["w9"]


@pytest.mark.req("LOG-30")
def test_append_and_sync_write_one_log(hand: Hand) -> None:
    hand.append(TEN[:4])
    assert outcome(hand.sync(TEN[:5])) == ("s", 4, ["w4"], False)
    hand.append(TEN[5])
    assert outcome(hand.sync(TEN[:7])) == ("s", 6, ["w6"], False)


@pytest.mark.req("LOG-30")
def test_two_writings_of_one_message_are_one(hand: Hand) -> None:
    parts = [{"type": "text", "text": "w0"}]
    hand.sync([{"role": "user", "content": parts}, {"role": "assistant", "content": "w1", "name": None}])
    assert outcome(hand.sync(TEN[:3])) == ("s", 2, ["w2"], False)


@pytest.mark.req("LOG-30")
def test_an_empty_history_is_refused(hand: Hand) -> None:
    with pytest.raises(BadMessage, match="the history is empty; give at least one message"):
        hand.sync([])


# ---------------------------------------------------------------- forking


@pytest.mark.req("LOG-31")
def test_a_history_that_ends_inside_forks_and_shares_what_came_before(hand: Hand) -> None:
    hand.sync(TEN[:6])
    edited = [*TEN[:3], {"role": "assistant", "content": "other"}, *talk("more")]
    fork = hand.sync(edited)
    assert outcome(fork) == ("s~2", 3, ["other", "more"], True)
    assert (fork.changed, fork.repeated) == (2, 0)
    assert hand.words("s~2") == ["w0", "w1", "w2", "other", "more"]
    assert hand.words("s") == [f"w{i}" for i in range(6)]
    ids = [r.message.id for r in hand.rows("s~2")]
    assert ids == ["m0", "m1", "m2", "s1m3", "s1m4"]
    assert hand.verify() == 8


@pytest.mark.req("LOG-31")
def test_each_branch_is_found_again_under_the_callers_name(hand: Hand) -> None:
    other = [*TEN[:3], {"role": "assistant", "content": "other"}]
    hand.sync(TEN[:6])
    hand.sync(other)
    assert outcome(hand.sync([*other, *talk("next")])) == ("s~2", 4, ["next"], False)
    assert outcome(hand.sync(TEN[:7])) == ("s", 6, ["w6"], False)
    third = [*other, *talk("not this")]
    assert outcome(hand.sync(third)) == ("s~3", 4, ["not this"], True)
    assert hand.words("s~3") == ["w0", "w1", "w2", "other", "not this"]
    assert outcome(hand.sync(third)) == ("s~3", 5, [], False)
    assert hand.verify() == 7 + 2 + 1


@pytest.mark.req("LOG-31")
def test_a_client_that_takes_messages_back_gets_a_log_without_them(hand: Hand) -> None:
    hand.sync(TEN[:6])
    assert outcome(hand.sync(TEN[:3])) == ("s~2", 3, [], True)
    assert hand.words("s~2") == ["w0", "w1", "w2"]
    assert outcome(hand.sync(TEN[:3])) == ("s~2", 3, [], False)
    assert outcome(hand.sync([*TEN[:3], {"role": "assistant", "content": "again"}])) == ("s~2", 3, ["again"], False)
    assert hand.verify() == 7


@pytest.mark.req("LOG-31")
def test_a_fork_takes_over_how_far_its_views_had_come(hand: Hand) -> None:
    hand.sync(TEN[:6])
    scope = hand.scope()
    hand.store.write(Write((SetPosition(scope, "tags", 5), SetPosition(scope, "recall", 2))))
    hand.sync(TEN[:4])
    (fork,) = hand.store.read(Read((GetSession(hand.scope("s~2")),)))
    assert dict(fork.positions) == {"tags": 4, "recall": 2}


# ---------------------------------------------------------------- single messages, new conversations


@pytest.mark.req("LOG-32")
def test_a_single_message_that_fits_nowhere_starts_a_new_session(hand: Hand) -> None:
    hand.sync(TEN[:4])
    assert outcome(hand.sync(talk("hello"))) == ("s~2", 0, ["hello"], False)
    assert outcome(hand.sync(talk("hello"))) == ("s~2", 1, [], False)
    assert outcome(hand.sync(talk("hello", "hi"))) == ("s~2", 1, ["hi"], False)
    assert hand.words("s~2") == ["hello", "hi"]
    (fresh,) = hand.store.read(Read((GetSession(hand.scope("s~2")),)))
    assert fresh.path == ()


@pytest.mark.req("LOG-32")
def test_another_conversation_under_the_same_name_is_kept_apart(hand: Hand) -> None:
    hand.sync(TEN[:4])
    other = talk("x0", "x1", "x2")
    assert outcome(hand.sync(other)) == ("s~2", 0, ["x0", "x1", "x2"], False)
    assert hand.words("s") == ["w0", "w1", "w2", "w3"]


@pytest.mark.req("LOG-32")
def test_a_name_that_only_looks_like_a_fork_is_no_fork(hand: Hand) -> None:
    hand.sync(TEN[:4], "s~x")
    hand.sync(TEN[:4], "s2")
    assert outcome(hand.sync(TEN[:4]))[:3] == ("s", 0, ["w0", "w1", "w2", "w3"])


# ---------------------------------------------------------------- without a session


@pytest.mark.req("LOG-33")
def test_without_a_session_the_conversation_is_found_by_its_beginning(hand: Hand) -> None:
    hand.sync(TEN[:4], "a")
    hand.sync(talk("x0", "x1"), "b")
    assert outcome(hand.sync(TEN[:5], None)) == ("a", 4, ["w4"], False)
    assert outcome(hand.sync(talk("x0", "x1", "x2"), None)) == ("b", 2, ["x2"], False)
    assert outcome(hand.sync(talk("x0", "y1"), None)) == ("b~2", 1, ["y1"], True)
    assert outcome(hand.sync(talk("x0", "y1", "y2"), None)) == ("b~2", 2, ["y2"], False)


@pytest.mark.req("LOG-33")
def test_the_same_greeting_begins_different_conversations(hand: Hand) -> None:
    first = hand.sync(talk("hi"), None)
    assert outcome(hand.sync(talk("hi"), None)) == (first.session, 1, [], False)
    hand.sync(talk("hi", "hello", "A?"), None)
    second = hand.sync(talk("hi"), None)
    assert second.session == f"{first.session}~2"
    assert texts(second) == ["hi"]
    assert outcome(hand.sync(talk("hi", "good day"), None)) == (second.session, 1, ["good day"], False)


@pytest.mark.req("LOG-33")
def test_a_name_made_for_a_conversation_tells_nothing_of_it(hand: Hand) -> None:
    mine = hand.sync(talk("a secret"), None).session
    theirs = Hand(hand.store, "bob").sync(talk("a secret"), None).session
    assert mine != theirs
    assert len(mine) == 9


@pytest.mark.req("LOG-33")
def test_without_a_session_a_headless_history_is_found_by_the_end_of_a_log(hand: Hand) -> None:
    hand.sync(TEN, "a")
    hand.sync(talk("x0", "x1"), "b")
    assert outcome(hand.sync([*TEN[6:], *talk("new")], None)) == ("a", 4, ["new"], False)
    alone = hand.sync(talk("new", "x"), None)
    assert alone.known == 0
    assert alone.session not in ("a", "b")


@pytest.mark.req("LOG-33")
def test_system_text_alone_finds_its_session_again(hand: Hand) -> None:
    first = hand.sync([system("be kind")], None)
    assert outcome(hand.sync([system("be kind")], None)) == (first.session, 1, [], False)


@pytest.mark.req("LOG-33")
def test_another_users_conversation_is_never_found(hand: Hand) -> None:
    hand.sync(TEN, "a")
    bob = Hand(hand.store, "bob")
    for history in (TEN, TEN[5:]):
        assert bob.sync(history, None).known == (0 if history is TEN else 5)
    assert len(bob.sessions()) == 1


# ---------------------------------------------------------------- headless


@pytest.mark.req("LOG-34")
@pytest.mark.parametrize("cut", range(1, 10))
def test_a_history_whose_front_was_cut_continues_at_the_end(hand: Hand, cut: int) -> None:
    hand.sync(TEN)
    history = [*TEN[cut:], *talk("new"), {"role": "assistant", "content": "reply"}]
    assert outcome(hand.sync(history)) == ("s", 10 - cut, ["new", "reply"], False)
    assert outcome(hand.sync(history)) == ("s", 12 - cut, [], False)
    assert hand.verify() == 12


@pytest.mark.req("LOG-34")
def test_a_history_cut_at_both_ends_forks_where_it_ends(hand: Hand) -> None:
    hand.sync(TEN)
    assert outcome(hand.sync(TEN[3:7])) == ("s~2", 4, [], True)
    assert hand.words("s~2") == [f"w{i}" for i in range(7)]
    changed = [*TEN[4:7], {"role": "assistant", "content": "again"}]
    assert outcome(hand.sync(changed)) == ("s~2", 3, ["again"], False)
    assert hand.verify() == 11


@pytest.mark.req("LOG-34")
def test_the_longest_agreement_wins_when_words_repeat(hand: Hand) -> None:
    hand.sync(talk("ok", "yes", "ok", "no", "ok", "yes"))
    assert outcome(hand.sync(talk("ok", "no", "ok", "yes", "go on"))) == ("s", 4, ["go on"], False)
    assert hand.words() == ["ok", "yes", "ok", "no", "ok", "yes", "go on"]


@pytest.mark.req("LOG-34")
@pytest.mark.parametrize("n", [1, 50, 400])
def test_a_log_of_one_word_repeated_is_matched(hand: Hand, n: int) -> None:
    same = talk(*["ok"] * (2 * n))
    hand.sync(same)
    assert outcome(hand.sync([*same[1:], *talk("end")]))[1:3] == (2 * n - 1, ["end"]) or n == 1
    assert hand.sync([*same, *talk("x")]).known in (2 * n, 0)
