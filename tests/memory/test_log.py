"""Appending, erasing and checking, over a real store."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hand import COUNTER, NOW, Hand

from keepline.errors import BadMessage, ChainBroken, EmptySession, Moved
from keepline.memory import chain, log
from keepline.memory.intake import intake
from keepline.ports.flow import run
from keepline.ports.store import Expect, FindRows, GetRows, GetSession, GetUser, ListSessions, PutRows, Read, Row, Write
from keepline.values.message import Message
from keepline.values.scope import Scope
from keepline.values.session import Session, User

CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "k1", "type": "function", "function": {"name": "fridge", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "k1", "content": "eggs"}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


# ---------------------------------------------------------------- append


@pytest.mark.req("LOG-20")
def test_messages_come_to_the_head_in_order_counted_and_chained(hand: Hand) -> None:
    first = hand.append([{"role": "system", "content": "be kind"}, user("one")])
    second = hand.append(assistant("two"), ts="2020-01-01T00:00:00Z")
    assert [(m.id, m.seq, dict(m.counts)) for m in (*first, *second)] == [
        ("m0", 0, {COUNTER.name: 11}), ("m1", 1, {COUNTER.name: 7}), ("m2", 2, {COUNTER.name: 7}),
    ]
    rows = hand.rows()
    assert [r.message for r in rows] == [*first, *second]
    assert [len(r.digest) for r in rows] == [0, 32, 32]
    assert hand.verify() == 3


@pytest.mark.req("LOG-20")
def test_an_append_is_one_read_and_one_write_that_names_the_head_it_rests_on() -> None:
    """Driven by hand: the flow asks, we answer."""
    scope = Scope(user="ann", session="s")
    head, key = b"h" * 32, b"k" * 32
    session = Session(name="s", number=0, started=NOW, count=7, head=head)
    flow = log.append(scope, intake(user("hi"), now=NOW), COUNTER, NOW, bytes)
    assert next(flow) == Read((GetUser(scope), GetSession(scope), FindRows(scope, ())))
    write = flow.send((User(key=key, version=1, epoch=5), session, ()))
    assert write.expects == (Expect(scope, count=7, head=head, epoch=5),)
    put = next(op for op in write.ops if isinstance(op, PutRows))
    assert put.rows[0].digest == chain.link(key, head, bytes(chain.SALT), {"role": "user", "content": "hi"})
    with pytest.raises(StopIteration) as end:
        flow.send(2)
    assert [m.id for m in end.value.value] == ["m7"]


@pytest.mark.req("LOG-20")
def test_ids_are_short_and_unique_among_all_of_a_users_sessions(hand: Hand) -> None:
    ids = [m.id for session in ("a", "b", "c", "a", "c") for m in hand.append([user("x"), user("y")], session)]
    assert ids == ["m0", "m1", "s1m0", "s1m1", "s2m0", "s2m1", "m2", "m3", "s2m2", "s2m3"]


@pytest.mark.req("LOG-20")
def test_an_id_that_a_caller_took_first_is_not_given_twice(hand: Hand) -> None:
    hand.append(user("zero"), msg_id="m2")
    hand.append(user("one"))
    (third,) = hand.append(user("two"))
    assert third.id.startswith("m2-")
    both = hand.append([user("three"), user("four")], msg_id=["m4", None])
    assert both[0].id == "m4"
    assert both[1].id.startswith("m4-")
    assert hand.words() == ["zero", "one", "two", "three", "four"]


@pytest.mark.req("LOG-20")
def test_nothing_appended_changes_nothing(hand: Hand) -> None:
    assert hand.append([]) == ()
    assert hand.sessions() == []
    with pytest.raises(EmptySession):
        hand.drive(log.append(Scope(user="ann"), intake(user("x"), now=NOW), COUNTER, NOW, bytes))


# ---------------------------------------------------------------- idempotence


@pytest.mark.req("LOG-21")
def test_the_same_id_with_the_same_words_is_stored_once(hand: Hand) -> None:
    (first,) = hand.append(user("one"), msg_id="x")
    writes = hand.writes
    assert hand.append({"role": "user", "content": [{"type": "text", "text": "one"}]}, msg_id="x") == (first,)
    assert hand.writes == writes
    again = hand.append([user("one"), user("two"), user("two"), user("three")], msg_id=["x", "y", "y", None])
    assert [m.id for m in again] == ["x", "y", "y", "m2"]
    assert hand.words() == ["one", "two", "three"]


@pytest.mark.req("LOG-21")
def test_the_same_id_with_other_words_is_refused_and_nothing_is_stored(hand: Hand) -> None:
    hand.append(user("one"), msg_id="x")
    with pytest.raises(BadMessage, match=r'messages\[1\]: another message has the id "x"'):
        hand.append([user("new"), user("other")], msg_id=["y", "x"])
    with pytest.raises(BadMessage, match=r'messages\[1\]: another message has the id "z"'):
        hand.append([user("new"), user("other")], msg_id=["z", "z"])
    assert hand.words() == ["one"]


@pytest.mark.req("LOG-21")
def test_an_id_of_another_conversation_is_refused(hand: Hand) -> None:
    hand.append(user("one"), "a", msg_id="x")
    for session in ("b", "new"):
        hand.append(user("b's own"), "b")
        with pytest.raises(BadMessage, match="message of another conversation of this user"):
            hand.append(user("one"), session, msg_id="x")
    assert hand.words("b") == ["b's own"] * 2
    assert hand.sessions() == ["a", "b"]


@pytest.mark.req("LOG-21")
def test_another_user_may_have_the_same_ids(hand: Hand) -> None:
    hand.append(user("one"), msg_id="x")
    other = Hand(hand.store, "bob")
    assert other.append(user("two"), msg_id="x")[0].id == "x"
    assert (hand.words(), other.words()) == (["one"], ["two"])


@pytest.mark.req("LOG-21")
def test_an_erased_message_does_not_come_back_by_its_id(hand: Hand) -> None:
    hand.append(user("secret"), msg_id="x")
    hand.erase(["x"])
    (there,) = hand.append(user("secret"), msg_id="x")
    assert there.erased
    assert hand.words() == [None]


# ---------------------------------------------------------------- tool results


@pytest.mark.req("LOG-22")
def test_a_result_follows_its_call_in_the_log_or_in_the_same_append(hand: Hand) -> None:
    hand.append([user("hungry"), CALL, RESULT])
    hand.append([user("again"), {**CALL, "tool_calls": [{"id": "k2"}]}])
    hand.append({"role": "tool", "tool_call_id": "k2", "content": "rice"})
    block = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {}}]}
    hand.append([block, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.txt"}]}])
    assert len(hand.rows()) == 8


@pytest.mark.req("LOG-22")
def test_a_call_far_back_in_a_long_log_is_found(hand: Hand) -> None:
    hand.append([user("hungry"), CALL, *[assistant(f"wait {i}") for i in range(200)]])
    hand.append(RESULT)
    assert hand.words()[-1] == "eggs"


@pytest.mark.req("LOG-22")
@pytest.mark.parametrize("before", [[], [user("hungry")], [user("hungry"), {**CALL, "tool_calls": [{"id": "other"}]}]])
def test_a_result_without_its_call_is_refused_and_nothing_is_stored(hand: Hand, before: list[Any]) -> None:
    hand.append(before)
    for messages, place in (([RESULT], "message"), ([user("x"), RESULT, CALL], r"messages\[1\]")):
        with pytest.raises(BadMessage, match=f'^{place}: no call "k1" stands before this result; append the assistant'):
            hand.append(messages)
    assert len(hand.rows()) == len(before)


@pytest.mark.req("LOG-22")
def test_a_result_is_accepted_when_its_call_may_have_been_erased(hand: Hand) -> None:
    hand.append([user("hungry"), CALL])
    hand.erase(["m1"])
    hand.append(RESULT)
    assert hand.words() == ["hungry", None, "eggs"]


@pytest.mark.req("LOG-22")
def test_a_result_without_its_call_is_let_in_when_asked(hand: Hand) -> None:
    hand.append(RESULT, strict=False)
    assert hand.words() == ["eggs"]


# ---------------------------------------------------------------- many writers


def flows_of(hand: Hand, name: str, n: int) -> None:
    for i in range(n):
        hand.append([user(f"{name} {i}"), assistant(f"to {name} {i}")])


@pytest.mark.req("LOG-23")
def test_sixteen_writers_on_one_session_lose_nothing_and_double_nothing(filed: Hand) -> None:
    with ThreadPoolExecutor(16) as pool:
        for done in [pool.submit(flows_of, Hand(filed.store), f"w{k}", 5) for k in range(16)]:
            done.result()
    words = filed.words()
    assert sorted(str(w) for w in words) == sorted(t for k in range(16) for i in range(5) for t in (f"w{k} {i}", f"to w{k} {i}"))
    for k in range(16):
        assert [w for w in words if str(w).startswith(f"w{k} ")] == [f"w{k} {i}" for i in range(5)]
    assert all(words[i + 1] == f"to {words[i]}" for i in range(0, len(words), 2))
    assert filed.verify() == 160


@pytest.mark.req("LOG-23")
def test_the_first_messages_of_a_new_user_are_chained_with_one_key_whoever_was_first(filed: Hand) -> None:
    together = threading.Barrier(8)

    def begin(k: int) -> None:
        together.wait()
        Hand(filed.store).append(user(f"hello {k}"), f"s{k}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(begin, range(8)))
    assert filed.verify() == 8


@pytest.mark.req("LOG-23")
def test_one_id_appended_by_many_at_once_is_stored_once(filed: Hand) -> None:
    together = threading.Barrier(8)

    def add(k: int) -> str:
        together.wait()
        return Hand(filed.store).append(user("the very same sentence"), msg_id="same")[0].id

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(add, range(8))) == {"same"}
    assert filed.words() == ["the very same sentence"]


@pytest.mark.req("LOG-23")
def test_whoever_was_slower_reads_again_and_keeps_his_own_messages(hand: Hand) -> None:
    hand.append(user("first"))
    other = Hand(hand.store)
    late = [user("late, but not lost")]

    def interfere(need: Any) -> None:
        if isinstance(need, Write) and late:
            other.append(late.pop())

    hand.before = interfere
    hand.append(user("mine"))
    assert hand.words() == ["first", "late, but not lost", "mine"]
    assert hand.verify() == 3


@pytest.mark.req("LOG-23")
def test_a_write_that_never_gets_through_ends_with_an_error() -> None:
    scope = Scope(user="ann", session="s")

    def never(need: Write) -> int:
        raise Moved(what="session 's' has another last message")

    def nothing(need: Read) -> tuple[Any, ...]:
        empty = {GetUser: None, GetSession: None, ListSessions: (), FindRows: (), GetRows: ()}
        return tuple(empty[type(op)] for op in need.ops)

    with pytest.raises(Moved):
        run(log.append(scope, intake(user("x"), now=NOW), COUNTER, NOW, bytes), {Read: nothing, Write: never})


# ---------------------------------------------------------------- erasing


@pytest.mark.req("LOG-24")
def test_messages_are_erased_by_id_and_the_chain_stays_whole(hand: Hand) -> None:
    hand.append([user("one"), assistant("two"), user("three")])
    assert hand.erase(["m1", "nobody"]) == 1
    assert hand.erase(["m1"]) == 0
    assert hand.words() == ["one", None, "three"]
    assert hand.verify() == 3
    hand.append(assistant("four"))
    assert hand.verify() == 4


@pytest.mark.req("LOG-24")
def test_no_ids_erase_nothing(hand: Hand) -> None:
    hand.append(user("one"))
    assert hand.erase([]) == 0
    assert hand.erase([], session=None) == 0
    assert hand.words() == ["one"]


@pytest.mark.req("LOG-24")
def test_a_session_is_erased_whole_and_its_name_is_free_again(hand: Hand) -> None:
    hand.append([user("one"), user("two")], "a")
    hand.append(user("three"), "b")
    hand.erase(["m0"])
    assert hand.erase(None, "a") == 1
    assert hand.erase(None, "never was") == 0
    assert (hand.words("a"), hand.words("b")) == ([], ["three"])
    hand.append(user("new"), "a")
    assert hand.words("a") == ["new"]
    assert hand.verify() == 2


@pytest.mark.req("LOG-24")
def test_a_user_is_erased_whole(hand: Hand) -> None:
    hand.append([user("one"), user("two")], "a")
    hand.append(user("three"), "b")
    Hand(hand.store, "bob").append(user("his"))
    assert hand.erase(None, session=None) == 3
    assert hand.erase(None, session=None) == 0
    assert hand.sessions() == []
    assert Hand(hand.store, "bob").words() == ["his"]


@pytest.mark.req("LOG-24")
def test_an_append_that_meets_an_erasure_starts_anew(hand: Hand) -> None:
    hand.append([user("one"), user("two")])
    other, once = Hand(hand.store), [1]

    def erase(need: Any) -> None:
        if isinstance(need, Write) and once:
            once.pop()
            other.erase(None, session=None)

    hand.before = erase
    hand.append(user("three"))
    assert hand.words() == ["three"]
    assert hand.verify() == 1


# ---------------------------------------------------------------- checking


@pytest.mark.req("LOG-10")
def test_a_log_whose_rows_are_not_what_was_written_is_found_broken(hand: Hand) -> None:
    hand.append([user("one"), assistant("two")])
    hand.append(user("elsewhere"), "t")

    class Edited:
        def read(self, need: Read) -> tuple[Any, ...]:
            return tuple(tuple(map(self._edit, a)) if isinstance(a, tuple) else a for a in hand.store.read(need))

        def _edit(self, row: Any) -> Any:
            if isinstance(row, Row) and row.message.id == "m1":
                return Row(message=row.message.evolve(body=assistant("zwei")), digest=row.digest, salt=row.salt)
            return row

    for session in ("s", None):
        with pytest.raises(ChainBroken, match="The log of session 's' was changed from outside at message 1") as caught:
            run(log.verify_log(hand.scope(session)), {Read: Edited().read})
        assert caught.value.seq == 1
    assert run(log.verify_log(hand.scope("t")), {Read: Edited().read}) == 1


@pytest.mark.req("LOG-10")
def test_an_erasure_between_two_looks_is_no_fault(hand: Hand) -> None:
    hand.append([user("one"), assistant("two")])
    hand.append(user("three"), "t")
    other, reads = Hand(hand.store), [0]

    def erase(need: Any) -> None:
        reads[0] += 1
        if reads[0] == 2:
            other.erase(None, "s")

    hand.before = erase
    assert hand.verify() == 1


@pytest.mark.req("LOG-10")
def test_a_user_without_anything_has_nothing_broken(hand: Hand) -> None:
    assert hand.verify() == 0
    assert isinstance(intake(user("x"), now=NOW)[0], Message)
