"""Turns, rounds and repair: what may never part, and what is mended without inventing anything."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepline.context.turns import repair
from keepline.values.message import Message

AT = datetime(2026, 1, 1, tzinfo=UTC)


def say(role: str, content=None, **keys) -> Message:
    return Message(body={"role": role, "content": content, **keys}, id="m", at=AT)


def call(*ids: str, content=None) -> Message:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return say("assistant", content, tool_calls=calls)


def result(id: str, text: str = "ok") -> Message:
    return say("tool", text, tool_call_id=id)


def mended(*messages: Message) -> list[dict]:
    return [dict(m.body) for _, m in repair(list(enumerate(messages)))[0]]


def pairs_are_valid(bodies: list[dict]) -> bool:
    waiting: list[str] = []
    for body in bodies:
        if body["role"] == "tool":
            if body["tool_call_id"] not in waiting:
                return False
            waiting.remove(body["tool_call_id"])
        elif waiting:
            return False
        waiting += [c["id"] for c in body.get("tool_calls") or ()]
    return not waiting


@pytest.mark.req("MSG-05")
def test_sound_pairs_come_back_as_the_very_same_objects():
    messages = [say("user", "hi"), call("a", "b"), result("a"), result("b"), say("assistant", "done")]
    out, touched = repair(list(enumerate(messages)))
    assert [m for _, m in out] == messages
    assert all(a is b for (_, a), b in zip(out, messages, strict=True))
    assert touched == []


@pytest.mark.req("MSG-05")
def test_a_result_without_a_call_is_left_out():
    assert mended(say("user", "hi"), result("ghost"), say("assistant", "yo")) == [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"},
    ]


@pytest.mark.req("MSG-05")
def test_a_call_without_a_result_is_taken_out_and_its_words_stay():
    assert mended(say("user", "hi"), call("a", content="let me look"), say("user", "well?")) == [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "let me look"}, {"role": "user", "content": "well?"},
    ]


@pytest.mark.req("MSG-05")
def test_of_two_results_for_one_call_the_first_stays():
    out = mended(say("user", "hi"), call("a"), result("a", "north 12"), result("a", "invented"))
    assert [b["content"] for b in out if b["role"] == "tool"] == ["north 12"]


@pytest.mark.req("MSG-05")
def test_a_result_found_later_moves_behind_its_call():
    out = mended(say("user", "hi"), call("a", "b"), result("a"), say("user", "?"), result("b", "late"))
    assert [b["role"] for b in out] == ["user", "assistant", "tool", "tool", "user"]
    assert out[3]["content"] == "late"


@pytest.mark.req("MSG-05")
def test_anthropic_blocks_are_mended_like_openai_calls():
    use = say("assistant", [{"type": "text", "text": "look"}, {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}])
    orphan = say("user", [{"type": "tool_result", "tool_use_id": "zz", "content": "x"}, {"type": "text", "text": "and?"}])
    assert mended(say("user", "hi"), use, orphan) == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "look"}]},
        {"role": "user", "content": [{"type": "text", "text": "and?"}]},
    ]


PIECES = st.one_of(
    st.just(("user",)),
    st.just(("words",)),
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True).map(lambda ids: ("call", *ids)),
    st.sampled_from("abcd").map(lambda i: ("result", i)),
)


@pytest.mark.req("MSG-05")
@given(st.lists(PIECES, max_size=14))
def test_whatever_comes_the_pairs_that_leave_are_valid(pieces):
    made = {"user": lambda: say("user", "q"), "words": lambda: say("assistant", "w")}
    used: set[str] = set()
    messages = []
    for kind, *ids in pieces:
        if kind == "call":
            fresh = [i for i in ids if i not in used]
            used.update(fresh)
            messages.append(call(*fresh, content="w") if fresh else say("assistant", "w"))
        elif kind == "result":
            messages.append(result(ids[0]))
        else:
            messages.append(made[kind]())
    assert pairs_are_valid(mended(*messages))
