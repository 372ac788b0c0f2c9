"""Re-sent histories under trouble: system text, broken tool pairs, erased messages, many clients at once, clients at random."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from hand import TEN, Hand, outcome, system, talk, texts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from keepline import stores
from keepline.ports.store import Write

# ---------------------------------------------------------------- system text


@pytest.mark.req("LOG-35")
def test_system_text_is_stored_once_and_again_when_it_changes(hand: Hand) -> None:
    hand.sync([system("A"), *TEN[:2]])
    assert outcome(hand.sync([system("A"), *TEN[:3]])) == ("s", 3, ["w2"], False)
    assert texts(hand.sync([system("B"), *TEN[:3]])) == ["B"]
    assert texts(hand.sync([system("B"), *TEN[:3]])) == []
    assert texts(hand.sync([system("A"), *TEN[:4]])) == ["A", "w3"]
    assert texts(hand.sync(TEN[:4])) == []
    assert hand.words() == ["A", "w0", "w1", "w2", "B", "A", "w3"]
    assert hand.verify() == 7


@pytest.mark.req("LOG-35")
def test_several_system_texts_and_one_said_midway_are_each_stored_once(hand: Hand) -> None:
    history = [system("A"), {"role": "developer", "content": "D"}, *TEN[:2], system("midway"), TEN[2]]
    hand.sync(history)
    assert hand.words() == ["A", "D", "w0", "w1", "midway", "w2"]
    assert texts(hand.sync(history)) == []
    assert texts(hand.sync([*history, TEN[3]])) == ["w3"]


@pytest.mark.req("LOG-35")
def test_a_fork_keeps_the_system_text_of_what_it_shares(hand: Hand) -> None:
    hand.sync([system("A"), *TEN[:4]])
    hand.sync([system("B"), *TEN[:5]])
    fork = hand.sync([system("A"), *TEN[:3], {"role": "assistant", "content": "other"}])
    assert texts(fork) == ["other"]
    assert hand.words(fork.session) == ["A", "w0", "w1", "w2", "other"]


# ---------------------------------------------------------------- tool calls


@pytest.mark.req("LOG-36")
def test_a_broken_history_comes_in_with_a_note(hand: Hand) -> None:
    result = {"role": "tool", "tool_call_id": "gone", "content": "eggs"}
    synced = hand.sync([*TEN[:2], result, TEN[2]])
    assert synced.notes == ("1 tool results answer no call of this conversation; they are kept in the log",)
    assert hand.words() == ["w0", "w1", "eggs", "w2"]
    assert hand.sync([*TEN[:2], result, TEN[2]]).notes == ()


@pytest.mark.req("LOG-36")
def test_a_result_whose_call_is_known_has_no_note(hand: Hand) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "k"}]}
    hand.sync([TEN[0], call])
    assert hand.sync([TEN[0], call, {"role": "tool", "tool_call_id": "k", "content": "x"}]).notes == ()


# ---------------------------------------------------------------- erased messages


@pytest.mark.req("LOG-37")
def test_what_was_erased_does_not_come_back_with_the_history(hand: Hand) -> None:
    hand.sync(TEN[:6])
    hand.blot("m0", "m3")
    assert outcome(hand.sync(TEN[:8])) == ("s", 6, ["w6", "w7"], False)
    assert hand.words() == [None, "w1", "w2", None, "w4", "w5", "w6", "w7"]
    assert outcome(hand.sync([*TEN[2:8], *talk("new")])) == ("s", 6, ["new"], False)
    assert hand.verify() == 9


@pytest.mark.req("LOG-37")
def test_a_tombstone_stands_for_a_message_of_its_role_only(hand: Hand) -> None:
    hand.sync(TEN[:3])
    hand.blot("m1")
    fork = hand.sync([TEN[0], *talk("a second question"), TEN[1]])
    assert outcome(fork) == ("s~2", 1, ["a second question", "w1"], True)


@pytest.mark.req("LOG-37")
def test_words_that_agree_weigh_more_than_tombstones(hand: Hand) -> None:
    hand.sync(TEN[:4])
    hand.blot("m0", "m1", "m2", "m3")
    other = talk("x0", "x1", "x2", "x3")
    hand.sync(other, "t")
    hand.append(other, "s~2")
    assert outcome(hand.sync([*other, *talk("x4")])) == ("s~2", 4, ["x4"], False)
    assert outcome(hand.sync([*other, *talk("x5")], None))[0] in ("t", "s~2~2")


@pytest.mark.req("LOG-37")
def test_a_window_finds_its_words_though_tombstones_further_on_would_do_too(hand: Hand) -> None:
    hand.sync(TEN[:6])
    hand.blot("m3", "m4")
    assert outcome(hand.sync(TEN[1:3])) == ("s~2", 2, [], True)
    assert hand.words("s~2") == ["w0", "w1", "w2"]


@pytest.mark.req("LOG-37")
def test_without_a_session_tombstones_alone_are_no_ones_conversation(hand: Hand) -> None:
    hand.sync(TEN[:2], "a")
    hand.blot("m0", "m1")
    synced = hand.sync(talk("x0", "x1", "x2"), None)
    assert synced.known == 0
    assert hand.words("a") == [None, None]


@pytest.mark.req("LOG-37")
def test_erased_system_text_does_not_come_back(hand: Hand) -> None:
    hand.sync([system("A"), *TEN[:2]])
    hand.blot("m0")
    assert texts(hand.sync([system("A"), *TEN[:3]])) == ["w2"]


# ---------------------------------------------------------------- many at once


@pytest.mark.req("LOG-38")
@pytest.mark.parametrize("session", ["s", None])
def test_one_history_sent_by_many_at_once_is_stored_once(filed: Hand, session: str | None) -> None:
    together = Barrier(8)

    def send(k: int) -> str:
        together.wait()
        return Hand(filed.store).sync(TEN, session).session

    with ThreadPoolExecutor(8) as pool:
        (name,) = set(pool.map(send, range(8)))
    assert filed.words(name) == [f"w{i}" for i in range(10)]
    assert filed.verify() == 10


@pytest.mark.req("LOG-38")
def test_two_branches_made_at_once_are_both_kept(filed: Hand) -> None:
    filed.sync(TEN)
    together = Barrier(6)

    def branch(k: int) -> tuple[str, list[str | None]]:
        together.wait()
        hand = Hand(filed.store)
        name = hand.sync([*TEN[:4], *talk(f"branch {k % 3}")]).session
        return name, hand.words(name)

    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(branch, range(6)))
    assert len({name for name, _ in made}) == 3
    for k, (_, words) in enumerate(made):
        assert words == ["w0", "w1", "w2", "w3", f"branch {k % 3}"]
    assert filed.verify() == 13


@pytest.mark.req("LOG-38")
def test_an_erasure_in_between_is_respected(hand: Hand) -> None:
    hand.sync(TEN[:6])
    other, once = Hand(hand.store), [1]

    def erase(need: Any) -> None:
        if isinstance(need, Write) and once:
            once.pop()
            other.blot("m2")

    hand.before = erase
    hand.sync([*TEN[:5], {"role": "assistant", "content": "other"}])
    assert hand.words("s~2") == ["w0", "w1", None, "w3", "w4", "other"]
    assert hand.verify() == 7


# ---------------------------------------------------------------- whatever clients do


class Clients(RuleBasedStateMachine):
    """A client with many branches of one conversation, who re-sends, edits, takes back and cuts them at both ends, while
    messages are erased. Every message has words of its own, so that each must be stored exactly once."""

    def __init__(self) -> None:
        super().__init__()
        self.store = stores.open("sqlite://:memory:")
        self.hand = Hand(self.store)
        self.branches: list[list[dict[str, Any]]] = [[]]
        self.erased: set[str] = set()
        self.sent: set[str] = set()
        self.n = 0

    def say(self, after: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
        said = list(after)
        for _ in range(count):
            self.n += 1
            role = "assistant" if said and said[-1]["role"] == "user" else "user"
            said.append({"role": role, "content": f"message {self.n}"})
        return said

    def send(self, history: list[dict[str, Any]]) -> None:
        synced = self.hand.sync(history)
        self.sent |= {m["content"] for m in history}
        log_now = self.hand.words(synced.session)
        expected = [None if m["content"] in self.erased else m["content"] for m in history]
        assert log_now[-len(history) :] == expected
        again = self.hand.sync(history)
        assert (again.session, again.added, again.forked) == (synced.session, (), False)

    def doubtful(self, kept: list[dict[str, Any]]) -> bool:
        """Whether some branch has an erased message where the next one would be: it stands for whatever is sent there."""
        gone = [[m["content"] in self.erased for m in b] for b in self.branches]
        return any(
            len(b) > len(kept) and g[len(kept)] and all(m is k or g[i] for i, (m, k) in enumerate(zip(b, kept, strict=False)))
            for b, g in zip(self.branches, gone, strict=True)
        )

    @rule(which=st.integers(0, 50), count=st.integers(1, 4))
    def go_on(self, which: int, count: int) -> None:
        branch = which % len(self.branches)
        if self.doubtful(self.branches[branch]):
            return
        self.branches[branch] = self.say(self.branches[branch], count)
        self.send(self.branches[branch])

    @precondition(lambda self: any(self.branches))
    @rule(which=st.integers(0, 50), keep=st.integers(1, 30), count=st.integers(0, 3))
    def take_back(self, which: int, keep: int, count: int) -> None:
        branch = [b for b in self.branches if b][which % sum(map(bool, self.branches))]
        kept = branch[: 1 + (keep - 1) % len(branch)]
        if count and self.doubtful(kept):
            return
        self.branches.append(self.say(kept, count))
        self.send(self.branches[-1])

    @precondition(lambda self: any(len(b) > 2 for b in self.branches))
    @rule(which=st.integers(0, 50), lo=st.integers(1, 30), hi=st.integers(2, 30), count=st.integers(0, 2))
    def send_a_window(self, which: int, lo: int, hi: int, count: int) -> None:
        """Cut at the front, and maybe at the end; go on from there."""
        long = [b for b in self.branches if len(b) > 2]
        branch = long[which % len(long)]
        end = max(3, 2 + hi % (len(branch) - 1))
        start = 1 + lo % (end - 2)
        window = branch[start:end]
        if any(m["content"] in self.erased for m in window[:2]) or (count and self.doubtful(branch[:end])):
            return  # with few words left to agree, it may as well be another conversation
        grown = self.say(branch[:end], count)
        self.branches.append(grown)
        self.send(grown[start:])

    @precondition(lambda self: any(self.branches))
    @rule(which=st.integers(0, 50), at=st.integers(0, 30))
    def erase(self, which: int, at: int) -> None:
        branch = [b for b in self.branches if b][which % sum(map(bool, self.branches))]
        words = branch[at % len(branch)]["content"]
        for name in self.hand.sessions():
            for row in self.hand.rows(name):
                if not row.message.erased and row.message.text == words:
                    self.hand.blot(row.message.id)
        self.erased.add(words)

    @invariant()
    def every_message_is_there_once(self) -> None:
        stored: dict[str, str | None] = {}
        for name in self.hand.sessions():
            for row in self.hand.rows(name):
                stored[row.message.id] = None if row.message.erased else row.message.text
        living = [words for words in stored.values() if words is not None]
        assert sorted(living) == sorted(self.sent - self.erased)
        assert len(stored) == len(self.sent)

    @invariant()
    def the_chain_is_whole(self) -> None:
        assert self.hand.verify() == len(self.sent)

    def teardown(self) -> None:
        self.store.close()


Clients.TestCase.settings = settings(
    max_examples=40, stateful_step_count=12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.req("LOG-39")
class TestWhateverClientsDo(Clients.TestCase):  # type: ignore[misc,name-defined]  # made by hypothesis at run time
    """Random clients: never a message twice, never one lost, never an erased one back, the chain always whole."""


@pytest.mark.req("LOG-39")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["ok", "yes", "no"]), min_size=1, max_size=7), min_size=1, max_size=8))
def test_even_when_all_say_the_same_few_words_the_log_ends_with_what_was_sent(histories: list[list[str]]) -> None:
    store = stores.open("sqlite://:memory:")
    hand = Hand(store)
    for words in histories:
        synced = hand.sync(talk(*words))
        assert hand.words(synced.session)[-len(words) :] == words
        again = hand.sync(talk(*words))
        assert (again.session, again.added, again.forked) == (synced.session, (), False)
    hand.verify()
    store.close()
