"""The door for messages: what is refused, where the error points, and what comes through unchanged."""

from __future__ import annotations

import copy
import json
import types
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given as holds
from hypothesis import strategies as st

from keepline.errors import BadChoice, BadMessage, BadTime
from keepline.memory.intake import DEPTH, Given, intake
from keepline.values.message import Category, Retention, Role

NOW = datetime(2026, 8, 12, 9, 0, tzinfo=UTC)


def one(body: Any, **given: Any) -> Any:
    return intake(body, given=Given(**given), now=NOW)[0]


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


# ---------------------------------------------------------------- verbatim

VERBATIM = {
    "plain text": {"role": "user", "content": "你好，世界"},
    "null content with calls": {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "k1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
    },
    "a tool's answer": {"role": "tool", "tool_call_id": "k1", "content": "rice"},
    "parts with an image and a file": {
        "role": "user",
        "content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
            {"type": "file", "file": {"file_id": "f-1"}},
        ],
    },
    "signed thinking": {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I need ls", "signature": "sig-new+/9=="},
            {"type": "tool_use", "id": "t1", "name": "ls", "input": {}},
        ],
    },
    "unknown keys": {"role": "user", "content": "hi", "x_flag": True, "meta": {"a": [1, 2.5, None, {"b": "c"}]}},
    "NUL and controls": {"role": "user", "content": "a\x00b\tc\r\n"},
    "empty text": {"role": "user", "content": ""},
    "content left out by an assistant": {"role": "assistant", "refusal": "I cannot"},
}


@pytest.mark.req("LOG-01")
@pytest.mark.parametrize("name", VERBATIM)
def test_a_message_comes_through_as_it_is(name: str) -> None:
    body = VERBATIM[name]
    assert one(body).to_dict() == body


@pytest.mark.req("LOG-01")
@holds(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text()
            | st.floats(allow_nan=False, allow_infinity=False),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
            max_leaves=8,
        ),
        max_size=4,
    )
)
def test_whatever_json_a_message_carries_is_kept(extra: dict[str, Any]) -> None:
    extra = {k: v for k, v in extra.items() if k not in ("role", "content", "tool_calls")}
    body = {"role": "user", "content": "x", **extra}
    assert json.dumps(one(body).to_dict()) == json.dumps(body)


@pytest.mark.req("LOG-01")
def test_the_callers_objects_stay_his() -> None:
    body = {"role": "user", "content": [{"type": "text", "text": "hi \ud83d"}], "meta": {"a": [1]}}
    before = copy.deepcopy(body)
    message = one(body)
    assert body == before
    body["meta"]["a"].append(2)  # type: ignore[index]
    message.to_dict()["meta"]["a"].append(3)
    assert message.body["meta"] == {"a": [1]}


@pytest.mark.req("LOG-01")
def test_mappings_tuples_and_enums_become_plain_json() -> None:
    class Kind(StrEnum):
        TEXT = "text"

    parts = (types.MappingProxyType({"type": Kind.TEXT, "text": "hi"}),)
    body = one({"role": Role.USER, "content": parts}).to_dict()
    assert body == {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    assert type(body["role"]) is str
    assert type(body["content"][0]["type"]) is str


@pytest.mark.req("LOG-02")
def test_lone_surrogates_become_replacement_characters_and_pairs_their_character() -> None:
    message = one({"role": "user", "content": "half \ud83d end \ude00", "n": {"\udc00k": "\ud83d\ude00"}})
    assert message.body["content"] == "half \ufffd end \ufffd"
    assert message.body["n"] == {"\ufffdk": "😀"}
    json.dumps(message.to_dict(), ensure_ascii=False).encode()


@pytest.mark.req("LOG-02")
def test_twenty_megabytes_come_through() -> None:
    text = "数据" * 3_500_000
    assert one({"role": "user", "content": text}).text == text


# ---------------------------------------------------------------- refused

REFUSED = {
    "not a message": ("hello", "messages: a str is neither a message"),
    "a number": (7, "messages: an int is neither a message"),
    "a list of texts": (["hi"], "messages[0]: a str is not a message (a dict)"),
    "no role": ([{"content": "hi"}], "messages[0].role: it is missing; use one of system, developer, user, assistant, tool"),
    "an unknown role": (
        [{"role": "user", "content": "a"}] * 3 + [{"role": "bot", "content": "b"}],
        'messages[3].role: "bot" is not a role; use one of system',
    ),
    "a role of another type": ([{"role": 3, "content": "hi"}], "messages[0].role: 3 is not a role"),
    "no content": ([{"role": "user", "text": "hi"}], "messages[0].content: it is missing; give text, null, or a list"),
    "a number as content": ([{"role": "user", "content": 5}], "messages[0].content: an int is not content"),
    "a dict as content": ({"role": "user", "content": {"text": "hi"}}, "message.content: a dict is not content"),
    "a number as part": ([{"role": "user", "content": ["a", 5]}], "messages[0].content[1]: an int is not a part"),
    "a text part without text": (
        [{"role": "user", "content": [{"type": "text"}]}],
        "messages[0].content[0].text: a text part needs its text",
    ),
    "a result without the call's id": (
        [{"role": "tool", "content": "rice"}],
        "messages[0].tool_call_id: a tool message needs the id of the call",
    ),
    "calls that are no list": ([{"role": "assistant", "tool_calls": {"id": "k"}}], "messages[0].tool_calls: it must be a list"),
    "bytes": ([{"role": "user", "content": "a", "x": {"y": b"z"}}], "messages[0].x.y: a bytes cannot be written as JSON"),
    "a set": ([{"role": "user", "content": "a", "x": {1}}], "messages[0].x: a set cannot be written as JSON"),
    "a date": ([{"role": "user", "content": "a", "x": [NOW]}], "messages[0].x[0]: a datetime cannot be written as JSON"),
    "NaN": ([{"role": "user", "content": "a", "x": float("nan")}], "messages[0].x: nan cannot be written as JSON"),
    "infinity": ([{"role": "user", "content": "a", "x": [float("-inf")]}], "messages[0].x[0]: -inf cannot be written"),
    "a key that is no string": ([{"role": "user", "content": "a", 5: 1}], "messages[0]: the key 5 is an int; keys must be str"),
    "a number without end": ([{"role": "user", "content": "a", "x": 10**5000}], "messages[0].x: this number is too large"),
    "nesting without end": ([{"role": "user", "content": "a", "x": nested(5000)}], f"it is nested deeper than {DEPTH} levels"),
}


@pytest.mark.req("LOG-03")
@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_message_is_refused_with_its_place_and_a_remedy(name: str) -> None:
    messages, said = REFUSED[name]
    with pytest.raises(BadMessage) as caught:
        intake(messages, now=NOW)
    assert said in str(caught.value)


@pytest.mark.req("LOG-03")
def test_a_list_that_contains_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(BadMessage, match="nested deeper"):
        one({"role": "user", "content": "a", "x": endless})


@pytest.mark.req("LOG-03")
def test_an_object_of_a_client_library_is_told_how_to_become_a_dict() -> None:
    reply = types.SimpleNamespace(role="assistant", content="hi", model_dump=dict)
    with pytest.raises(BadMessage, match=r"give its model_dump\(\)"):
        intake([reply], now=NOW)  # type: ignore[list-item]


@pytest.mark.req("LOG-03")
def test_a_broken_result_of_another_program_is_let_in_when_asked_loosely() -> None:
    body = {"role": "tool", "content": "rice"}
    assert intake([body], now=NOW, loose=True)[0].to_dict() == body


# ---------------------------------------------------------------- times

TIMES = {
    "UTC": ("2026-08-12T01:00:00Z", datetime(2026, 8, 12, 1, tzinfo=UTC)),
    "an offset": ("2026-08-12T09:00:00+08:00", datetime(2026, 8, 12, 1, tzinfo=UTC)),
    "seconds": (1_754_989_200, datetime(2025, 8, 12, 9, tzinfo=UTC)),
    "fractions of a second": (1_754_989_200.25, datetime(2025, 8, 12, 9, 0, 0, 250_000, tzinfo=UTC)),
    "milliseconds": (1_754_989_200_250, datetime(2025, 8, 12, 9, 0, 0, 250_000, tzinfo=UTC)),
    "an epoch as text": ("1754989200", datetime(2025, 8, 12, 9, tzinfo=UTC)),
    "a datetime": (
        datetime(2025, 8, 12, 9, tzinfo=timezone(timedelta(hours=8))),
        datetime(2025, 8, 12, 1, tzinfo=UTC),
    ),
    "the far past": ("0001-01-02T00:00:00Z", datetime(1, 1, 2, tzinfo=UTC)),
    "before 1970": (-86_400, datetime(1969, 12, 31, tzinfo=UTC)),
    "a clock that is hours ahead": ("2026-08-13T08:00:00Z", datetime(2026, 8, 13, 8, tzinfo=UTC)),
}


@pytest.mark.req("LOG-04")
@pytest.mark.parametrize("name", TIMES)
def test_a_time_is_read_in_every_usual_form(name: str) -> None:
    given, meant = TIMES[name]
    assert one({"role": "user", "content": "x"}, ts=given).at == meant


@pytest.mark.req("LOG-04")
def test_a_time_without_zone_is_of_the_zone_that_is_named() -> None:
    at = one({"role": "user", "content": "x"}, ts="2026-08-12T09:00:00", zone="Asia/Shanghai").at
    assert at == datetime(2026, 8, 12, 1, tzinfo=UTC)


BAD_TIMES = {
    "no zone": ("2026-08-12T09:00:00", "it has no zone"),
    "the future": ("2026-08-13T09:00:01Z", "it lies in the future"),
    "a future in milliseconds": (9e15, "outside the calendar"),
    "words": ("yesterday", "it is not ISO 8601"),
    "the impossible": ("2026-02-30T00:00:00Z", "it is not ISO 8601"),
    "a truth value": (True, "a bool is not a time"),
    "a dict": ({"at": 1}, "a dict is not a time"),
    "NaN": (float("nan"), "outside the calendar"),
    "beyond the calendar": (-1e17, "outside the calendar"),
    "beyond the calendar by its zone": ("0001-01-01T00:00:00+08:00", "outside the calendar"),
}


@pytest.mark.req("LOG-04")
@pytest.mark.parametrize("name", BAD_TIMES)
def test_an_unusable_time_is_refused_with_its_place_and_a_remedy(name: str) -> None:
    value, why = BAD_TIMES[name]
    with pytest.raises(BadTime) as caught:
        intake([{"role": "user", "content": "x"}] * 2, given=Given(ts=[None, value]), now=NOW)
    assert str(caught.value).startswith("the ts of messages[1]: ")
    assert why in str(caught.value)
    assert "Give ISO 8601 with a zone" in str(caught.value)


@pytest.mark.req("LOG-04")
def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(BadTime, match="'Mars/Base' is not the name of a time zone"):
        one({"role": "user", "content": "x"}, ts="2026-08-12T09:00:00", zone="Mars/Base")


# ---------------------------------------------------------------- ids, categories, retention


@pytest.mark.req("LOG-05")
def test_what_the_caller_says_of_each_message_is_taken() -> None:
    messages = intake(
        [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
        given=Given(msg_id=["x-1", None], ts=[None, 5], category=["constraint", None], retention=[None, 3]),
        now=NOW,
    )
    assert [(m.id, m.category, m.retention, m.given, m.seq) for m in messages] == [
        ("x-1", Category.CONSTRAINT, None, True, -1),
        ("", None, Retention.NEVER_DROPPED, True, -1),
    ]
    assert messages[0].at == NOW
    assert not one({"role": "user", "content": "a"}).given


@pytest.mark.req("LOG-05")
def test_one_value_holds_for_all_but_an_id_does_not() -> None:
    bodies = [{"role": "user", "content": "a"}] * 2
    assert [m.retention for m in intake(bodies, given=Given(retention=2), now=NOW)] == [2, 2]
    with pytest.raises(BadMessage, match="msg_id: one value for 2 messages; give a list"):
        intake(bodies, given=Given(msg_id="x"), now=NOW)


@pytest.mark.req("LOG-05")
def test_a_wrong_number_of_values_is_refused() -> None:
    with pytest.raises(BadMessage, match="ts: 1 values for 2 messages"):
        intake([{"role": "user", "content": "a"}] * 2, given=Given(ts=[5]), now=NOW)


@pytest.mark.req("LOG-05")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"category": "rule"}, "The category of message 'rule' is not known. Choose one of: chat, constraint, fact"),
        ({"category": 3}, "The category of message 3"),
        ({"retention": 4}, "The retention of message 4 is not known. Choose one of: 0, 1, 2, 3."),
        ({"retention": True}, "The retention of message True"),
        ({"retention": "2"}, "The retention of message '2'"),
    ],
)
def test_an_unknown_category_or_retention_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadChoice) as caught:
        one({"role": "user", "content": "a"}, **given)
    assert said.lower() in str(caught.value).lower()


@pytest.mark.req("LOG-05")
@pytest.mark.parametrize("bad", [5, "", "a b", "a\nb", "a\x00", "a\u2028b", "half \ud83d", "x" * 201])
def test_an_id_that_could_not_be_cited_is_refused(bad: Any) -> None:
    with pytest.raises(BadMessage, match="the msg_id of message: "):
        one({"role": "user", "content": "a"}, msg_id=bad)
