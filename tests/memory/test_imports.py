"""Files of conversations: every usual shape, every usual damage, and the second time nothing is added."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hand import NOW, Hand
from hypothesis import given as holds
from hypothesis import strategies as st

from keepline.memory.imports import Conversation, Fault, Imported, parse_lines
from keepline.values.message import Category


def lines(*values: Any) -> str:
    return "".join(json.dumps(v, ensure_ascii=False) + "\n" for v in values)


def parse(text: str, **given: Any) -> list[Conversation | Fault]:
    return list(parse_lines(text.splitlines(keepends=True), now=NOW, **given))


def shown(text: str) -> list[Any]:
    """(line, name, words) of each conversation, (line, why) of each fault."""
    return [
        (p.line, p.why) if isinstance(p, Fault) else (p.line, p.name, [m.text for m in p.messages]) for p in parse(text)
    ]


def user(text: str, **beside: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **beside}


def assistant(text: str, **beside: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **beside}


# ---------------------------------------------------------------- shapes

A, B = user("我搬到了根特"), assistant("Nice")
SHAPES = {
    "messages on lines": (lines(A, B), [(1, None, ["我搬到了根特", "Nice"])]),
    "messages of several sessions, mixed": (
        lines({**A, "session": "x"}, user("other", session_id="y"), {**B, "session": "x"}),
        [(1, "x", ["我搬到了根特", "Nice"]), (2, "y", ["other"])],
    ),
    "conversations on lines": (
        lines({"conversation_id": "c1", "messages": [A, B]}, {"id": 7, "messages": [A]}),
        [(1, "c1", ["我搬到了根特", "Nice"]), (2, "7", ["我搬到了根特"])],
    ),
    "lists on lines": (lines([A, B], [A]), [(1, None, ["我搬到了根特", "Nice"]), (2, None, ["我搬到了根特"])]),
    "one array of messages": (lines([A, B]), [(1, None, ["我搬到了根特", "Nice"])]),
    "one array of conversations": (
        lines([{"id": "c1", "messages": [A]}, {"id": "c2", "messages": [B]}]),
        [(1, "c1", ["我搬到了根特"]), (1, "c2", ["Nice"])],
    ),
    "an array over many lines": (json.dumps([A, B], indent=2), [(2, None, ["我搬到了根特", "Nice"])]),
    "an array of conversations over many lines": (
        json.dumps([{"id": "c1", "messages": [A]}, {"id": "c2", "messages": [B]}], indent=1),
        [(2, "c1", ["我搬到了根特"]), (11, "c2", ["Nice"])],
    ),
    "an array of messages of sessions, over many lines": (
        json.dumps([{**A, "session": "x"}, {**B, "session": "y"}], indent=1),
        [(2, "x", ["我搬到了根特"]), (7, "y", ["Nice"])],
    ),
    "an object over many lines": (json.dumps({"id": "c1", "messages": [A]}, indent=2), [(1, "c1", ["我搬到了根特"])]),
    "a byte order mark, blank lines and Windows ends": (
        "\ufeff\r\n\r\n" + lines(A).replace("\n", "\r\n") + "   \n" + lines(B),
        [(3, None, ["我搬到了根特", "Nice"])],
    ),
    "a last line without its end": (lines(A) + json.dumps(B), [(1, None, ["我搬到了根特", "Nice"])]),
    "an empty conversation": (lines({"id": "c1", "messages": []}), [(1, "c1", [])]),
    "NUL inside a text": ('{"role": "user", "content": "a\x00b"}\n', [(1, None, ["a\x00b"])]),
    "half a surrogate pair": ('{"role": "user", "content": "a \\ud83d b"}\n', [(1, None, ["a \ufffd b"])]),
    "nothing": ("", []),
}


@pytest.mark.req("LOG-50")
@pytest.mark.parametrize("name", SHAPES)
def test_every_usual_shape_is_read(name: str) -> None:
    text, expected = SHAPES[name]
    assert shown(text) == expected


@pytest.mark.req("LOG-50")
def test_what_a_file_says_beside_a_message_is_taken_out_of_it() -> None:
    beside = {"id": 5, "ts": "2026-08-01T10:00:00+08:00", "category": "fact", "retention": 2, "session": "x"}
    (found,) = parse(lines(user("a", meta={"k": 1}, **beside)))
    assert isinstance(found, Conversation)
    (message,) = found.messages
    assert (message.id, message.at, message.category, message.retention, message.given) == (
        "5", datetime(2026, 8, 1, 2, tzinfo=UTC), Category.FACT, 2, True,
    )
    assert message.to_dict() == {"role": "user", "content": "a", "meta": {"k": 1}}


@pytest.mark.req("LOG-50")
def test_times_without_a_zone_are_of_the_zone_that_is_named() -> None:
    text = lines({"id": "c", "messages": [user("a", timestamp="2026-08-01T10:00:00")]})
    (found,) = parse(text, zone="Asia/Shanghai")
    assert isinstance(found, Conversation)
    assert found.messages[0].at == datetime(2026, 8, 1, 2, tzinfo=UTC)
    (fault,) = parse(text)
    assert isinstance(fault, Fault)
    assert "the ts of messages[0]" in fault.why
    assert "it has no zone" in fault.why


# ---------------------------------------------------------------- damage

DAMAGE = {
    "a truncated line": (lines(A) + '{"id":"zz","text":"half\n' + lines(B), 2, "it is not whole JSON: the end is missing"),
    "a truncated last line": (lines(A, B) + '{"role": "user", "con', 3, "it is not whole JSON: the end is missing"),
    "a line that is no JSON": (lines(A) + "hello\n" + lines(B), 2, "it is not JSON: Expecting value at character 1"),
    "two values on a line": (lines(A) + '{"a": 1} {"b": 2}\n' + lines(B), 2, "it is not JSON: Extra data at character 10"),
    "an unknown role": (lines(A, {"role": "bot", "content": "x"}, B), 2, 'the message.role: "bot" is not a role'),
    "wrong content": (lines(A, user(5), B), 2, "the message.content: an int is not content"),  # type: ignore[arg-type]
    "neither message nor conversation": (lines(A, {"text": "x"}, B), 2, "neither a message (a dict with a role) nor"),
    "a bare value": (lines(A, 5, B), 2, "neither a message (a dict with a role) nor"),
    "a session that is no name": (lines(A, {**A, "session": [1]}, B), 2, "the session: [1] is not a name"),
    "a bad message in a conversation": (
        lines(A, {"id": "c", "messages": [A, {"role": "bot"}]}, B), 2, 'messages[1].role: "bot" is not a role; use one of',
    ),
    "a time in the future": (lines(A, user("x", ts="2999-01-01T00:00:00Z"), B), 2, "it lies in the future"),
    "a line of NULs after a crash": (lines(A) + "\0" * 64 + "\n" + lines(B), 2, "nothing but NUL"),
    "NaN": (lines(A) + '{"role": "user", "content": "x", "y": NaN}\n' + lines(B), 2, "nan cannot be written as JSON"),
    "brackets without end": (lines(A) + "[" * 100_000 + "\n" + lines(B), 2, "brackets too deep"),
    "a number without end": (lines(A) + '{"role": "user", "n": ' + "9" * 5000 + "}\n" + lines(B), 2, "a number too long"),
}


@pytest.mark.req("LOG-51")
@pytest.mark.parametrize("name", DAMAGE)
def test_a_bad_line_is_told_with_its_number_and_the_others_come_in(name: str) -> None:
    text, line, why = DAMAGE[name]
    faults = [p for p in parse(text) if isinstance(p, Fault)]
    kept = [m.text for p in parse(text) if isinstance(p, Conversation) for m in p.messages]
    assert [f.line for f in faults] == [line]
    assert why in faults[0].why
    assert kept == ["我搬到了根特", "Nice"]


@pytest.mark.req("LOG-51")
def test_what_an_array_held_before_it_was_cut_is_kept() -> None:
    text = json.dumps([{"id": f"c{i}", "messages": [user(f"m{i}")]} for i in range(3)], indent=1)
    cut = text[: text.index("m2")]
    *kept, fault = parse(cut)
    assert [k.name for k in kept if isinstance(k, Conversation)] == ["c0", "c1"]
    assert fault == Fault(line=cut.count("\n") + 1, why="it is not whole JSON: the end is missing")


@pytest.mark.req("LOG-51")
@holds(st.text(max_size=60))
def test_no_text_whatever_breaks_the_reader(text: str) -> None:
    for item in parse(text):
        assert isinstance(item, Conversation | Fault)


@pytest.mark.req("LOG-51")
@holds(st.data())
def test_a_file_cut_anywhere_gives_whole_messages_and_at_most_one_fault(data: st.DataObject) -> None:
    whole = lines(*[user(f"message {i} 你好", session=f"s{i % 2}") for i in range(4)])
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    items = parse(cut)
    assert sum(isinstance(i, Fault) for i in items) <= 1
    kept = sorted(m.text for i in items if isinstance(i, Conversation) for m in i.messages)
    assert kept == [f"message {i} 你好" for i in range(len(kept))]
    assert len(kept) >= cut.count("\n")


# ---------------------------------------------------------------- coming in again


def export(*said: str) -> str:
    return lines({"conversation_id": "c1", "messages": [(assistant if i % 2 else user)(t) for i, t in enumerate(said)]})


@pytest.mark.req("LOG-52")
def test_a_newer_export_adds_only_what_is_new(hand: Hand) -> None:
    assert hand.take(export("I moved to Ghent", "Nice")) == [Imported(session="c1", new=2, unchanged=0, changed=0)]
    newer = export("I moved to Ghent", "Nice", "and I got a cat") + lines({"id": "c2", "messages": [user("hello")]})
    assert hand.take(newer) == [
        Imported(session="c1", new=1, unchanged=2, changed=0), Imported(session="c2", new=1, unchanged=0, changed=0),
    ]
    assert hand.words("c1") == ["I moved to Ghent", "Nice", "and I got a cat"]
    writes = hand.writes
    assert [i.new for i in hand.take(newer) if isinstance(i, Imported)] == [0, 0]
    assert hand.writes == writes


@pytest.mark.req("LOG-52")
def test_an_older_export_adds_nothing_and_forks_nothing(hand: Hand) -> None:
    hand.take(export("a", "b", "c"))
    writes = hand.writes
    for n in (1, 2, 3):
        assert hand.take(export(*"abc"[:n])) == [Imported(session="c1", new=0, unchanged=n, changed=0)]
    assert hand.writes == writes
    assert hand.sessions() == ["c1"]


@pytest.mark.req("LOG-52")
def test_changed_words_are_kept_beside_the_old_ones_and_told(hand: Hand) -> None:
    hand.take(export("a", "b", "c", "d"))
    changed = export("a", "B", "c", "d", "e")
    assert hand.take(changed) == [Imported(session="c1~2", new=1, unchanged=3, changed=1)]
    assert hand.words("c1") == ["a", "b", "c", "d"]
    assert hand.words("c1~2") == ["a", "B", "c", "d", "e"]
    assert hand.take(changed) == [Imported(session="c1~2", new=0, unchanged=5, changed=0)]


@pytest.mark.req("LOG-52")
def test_an_import_that_was_stopped_is_finished_by_running_it_again(hand: Hand) -> None:
    text = lines(*[{"id": f"c{i}", "messages": [user(f"u{i}"), assistant(f"a{i}")]} for i in range(4)])

    def stop(need: Any) -> None:
        if hand.writes == 2:
            raise KeyboardInterrupt

    hand.before = stop
    with pytest.raises(KeyboardInterrupt):
        hand.take(text)
    hand.before = lambda need: None
    assert hand.sessions() == ["c0", "c1"]
    assert [i.new for i in hand.take(text) if isinstance(i, Imported)] == [0, 0, 2, 2]
    assert [hand.words(f"c{i}") for i in range(4)] == [[f"u{i}", f"a{i}"] for i in range(4)]


@pytest.mark.req("LOG-52")
def test_ids_and_times_of_the_file_are_kept(hand: Hand) -> None:
    said = [user("a", id="x1", ts="2020-01-01T00:00:00Z"), assistant("b", id="x2", ts=1_577_836_860)]
    hand.take(lines({"id": "c", "messages": said}))
    assert [(r.message.id, r.message.at.year) for r in hand.rows("c")] == [("x1", 2020), ("x2", 2020)]


@pytest.mark.req("LOG-52")
def test_ids_that_repeat_in_every_conversation_are_no_obstacle(hand: Hand) -> None:
    text = lines(*[{"id": f"c{i}", "messages": [user(f"u{i}", id="1"), assistant(f"a{i}", id="2")]} for i in range(3)])
    hand.take(text)
    assert [i.new for i in hand.take(text) if isinstance(i, Imported)] == [0, 0, 0]
    assert [hand.words(f"c{i}") for i in range(3)] == [[f"u{i}", f"a{i}"] for i in range(3)]


@pytest.mark.req("LOG-52")
def test_a_message_that_the_file_has_twice_comes_in_once_but_equal_words_stay(hand: Hand) -> None:
    said = [user("ok", id="x"), user("ok", id="x"), user("ok", id="y"), user("ok"), user("ok")]
    hand.take(lines({"id": "c", "messages": said}))
    assert hand.words("c") == ["ok"] * 4


@pytest.mark.req("LOG-52")
def test_a_file_without_names_finds_its_conversation_again(hand: Hand) -> None:
    hand.take(lines(user("a"), assistant("b")))
    assert [i.new for i in hand.take(lines(user("a"), assistant("b"), user("c"))) if isinstance(i, Imported)] == [1]
    assert len(hand.sessions()) == 1


@pytest.mark.req("LOG-52")
def test_a_broken_tool_pair_of_a_file_comes_in_with_a_note(hand: Hand) -> None:
    (done,) = hand.take(lines(user("a"), {"role": "tool", "content": "x"}))
    assert isinstance(done, Imported)
    assert done.new == 2
    assert len(done.notes) == 1
