"""Asking a model over HTTP: what is sent, what a server may refuse, and every way it can fail."""

from __future__ import annotations

from typing import Any

import pytest
from chat_server import completion, serving

from keepline.errors import BadReply, BadSetting, ModelDown
from keepline.ports.model import Ask, Usage
from keepline.providers.chat import ChatModel, model

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
ASK = Ask(purpose="summarise", system="be brief", text="words", schema=SCHEMA, most=300)


def refused(why: str) -> tuple[int, Any]:
    return 400, {"error": {"message": why, "code": "unsupported_parameter"}}


@pytest.mark.req("MODEL-01")
def test_a_question_is_sent_as_the_protocol_has_it_and_the_reply_read() -> None:
    with serving((200, '{"a": 1}')) as script:
        chosen = model("openai:gpt-4o-mini", url=script.url, key="sk-test")
        assert chosen is not None
        reply = chosen.reply(ASK)
    (sent,) = script.seen
    assert (reply.value, reply.complete, reply.usage) == ({"a": 1}, True, Usage(input=90, output=7, cached=64))
    assert sent["model"] == "gpt-4o-mini"
    assert [m["role"] for m in sent["messages"]] == ["system", "user"]
    assert sent["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (sent["max_completion_tokens"], sent["temperature"]) == (300, 0.1)
    assert script.keys == ["Bearer sk-test"]
    assert chosen.window == 128_000


@pytest.mark.req("MODEL-01")
def test_what_a_server_does_not_take_is_left_out_and_remembered() -> None:
    with serving(
        refused("Unknown field max_completion_tokens"), refused("response_format json_schema is not supported"),
        refused("temperature must be 1"), (200, 'Here: {"a": 2}'),
    ) as script:
        chosen = ChatModel("local", url=script.url)
        assert chosen.reply(ASK).value == {"a": 2}
        assert chosen.reply(ASK).value == {"a": 2}
    last = script.seen[-1]
    assert len(script.seen) == 5  # the second question needed no second try
    assert last["max_tokens"] == 300
    assert "temperature" not in last
    assert last["response_format"] == {"type": "json_object"}
    assert "schema" in last["messages"][0]["content"]


@pytest.mark.req("MODEL-01")
@pytest.mark.parametrize(
    ("status", "body", "error", "why"),
    [
        (400, {"error": {"message": "maximum context length is 10: words words", "code": "context_length_exceeded"}}, ModelDown,
         "context_length_exceeded"),
        (401, {"error": {"message": "bad key sk-test"}}, ModelDown, "HTTP 401"),
        (429, {"error": {"message": "slow down"}}, ModelDown, "HTTP 429"),
        (503, {"error": {"message": "words"}}, ModelDown, "HTTP 503"),
        (200, completion(None), BadReply, "no text"),
        (200, completion("  ", "content_filter"), BadReply, "content_filter"),
        (200, {**completion("x"), "choices": []}, BadReply, "no text"),
    ],
)  # fmt: skip
def test_every_failure_is_one_of_two_errors_that_quote_no_words(status: int, body: Any, error: Any, why: str) -> None:
    with serving((status, body)) as script, pytest.raises(error, match=why) as caught:
        ChatModel("m", url=script.url, key="sk-test", retries=0).reply(ASK)
    assert "words" not in str(caught.value)
    assert "sk-test" not in str(caught.value)
    assert len(script.seen) == 1  # a refusal is not asked again as it is


@pytest.mark.req("MODEL-01")
def test_trouble_that_passes_is_tried_again() -> None:
    with serving((503, {"error": {"message": "busy"}}), (200, '{"a": 3}')) as script:
        assert ChatModel("m", url=script.url, retries=1).reply(ASK).value == {"a": 3}


@pytest.mark.req("MODEL-01")
def test_a_server_that_does_not_answer_in_time_or_is_not_there_is_down() -> None:
    with serving((200, "late")) as script:
        script.wait_s = 1.0
        with pytest.raises(ModelDown, match="timed out"):
            ChatModel("m", url=script.url, timeout=0.2, retries=0).reply(ASK)
    with pytest.raises(ModelDown, match="cannot be reached"):
        ChatModel("m", url="http://127.0.0.1:9/v1", retries=0).reply(ASK)


@pytest.mark.req("MODEL-01")
def test_a_reply_that_was_cut_says_so() -> None:
    with serving((200, completion("half of", "length"))) as script:
        reply = ChatModel("m", url=script.url).reply(ASK)
    assert (reply.text, reply.value, reply.complete) == ("half of", None, False)


@pytest.mark.req("MODEL-01")
def test_a_name_without_a_known_maker_is_refused_with_the_remedy() -> None:
    assert model("") is None
    for name in ("gpt-4o", "mystery:one", "openai:"):
        with pytest.raises(BadSetting, match="openai:MODEL"):
            model(name)
