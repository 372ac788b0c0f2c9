"""Counting messages, tools and formats: the figures of OpenAI's cookbook, and nothing refused or free."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepline.providers.tokenizers import counter

JARGON = [
    {"role": "system",
     "content": "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."},
    {"role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth."},
    {"role": "system", "name": "example_assistant", "content": "Things working well together will increase revenue."},
    {"role": "system", "name": "example_user",
     "content": "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."},
    {"role": "system", "name": "example_assistant", "content": "Let's talk later when we're less busy about how to do better."},
    {"role": "user", "content": "This late pivot means we don't have time to boil the ocean for the client deliverable."},
]  # fmt: skip
ASK_WEATHER = [
    {"role": "system", "content": "You are a helpful assistant that can answer to questions about the weather."},
    {"role": "user", "content": "What's the weather like in San Francisco?"},
]
UNIT = {"type": "string", "description": "The unit of temperature to return", "enum": ["celsius", "fahrenheit"]}
PLACE = {"type": "string", "description": "The city and state, e.g. San Francisco, CA"}
WEATHER = {
    "name": "get_current_weather",
    "description": "Get the current weather in a given location",
    "parameters": {"type": "object", "properties": {"location": PLACE, "unit": UNIT}, "required": ["location"]},
}
TOOLS = [{"type": "function", "function": WEATHER}]

anything = st.recursive(
    st.none() | st.booleans() | st.integers(-10**9, 10**9) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KINDS = [
    "text", "image_url", "input_image", "image", "input_audio", "file", "document",
    "tool_use", "tool_result", "thinking", "redacted_thinking",
]  # fmt: skip
KEYS = ["text", "image_url", "source", "input_audio", "file", "input", "content", "thinking", "title", "name", "detail"]
filled = st.dictionaries(st.sampled_from(KEYS), anything)
parts = st.builds(lambda kind, rest: {"type": kind, **rest}, st.sampled_from(KINDS), filled)
tool_like = st.dictionaries(st.sampled_from(["type", "function", "name", "parameters", "input_schema"]), anything)
FIELDS = ["role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "function_call"]


@pytest.mark.req("TOKENS-05")
@pytest.mark.parametrize(("model", "jargon", "weather"), [("gpt-4", 129, 105), ("gpt-3.5-turbo", 129, 105), ("gpt-4o", 124, 101)])
def test_the_cookbooks_examples_cost_what_the_api_said(model: str, jargon: int, weather: int) -> None:
    count = counter(model)
    assert sum(map(count.message, JARGON)) + count.call(None, None) == jargon
    assert sum(map(count.message, ASK_WEATHER)) + count.call(TOOLS, None) == weather


@pytest.mark.req("TOKENS-05")
def test_a_name_costs_its_tokens_and_one() -> None:
    plain, named = {"role": "user", "content": "hi"}, {"role": "user", "content": "hi", "name": "ann"}
    assert counter().message(named) == counter().message(plain) + counter().text("ann") + 1


@pytest.mark.req("TOKENS-06")
def test_arguments_of_a_tool_call_count() -> None:
    call = {"id": "w", "type": "function", "function": {"name": "write_file", "arguments": '{"body":"' + "x y " * 250 + '"}'}}
    assert counter().message({"role": "assistant", "content": None, "tool_calls": [call]}) >= 500


@pytest.mark.req("TOKENS-06")
def test_blocks_of_both_providers_count_their_words() -> None:
    count = counter()
    long = "The shipment left the harbour on Tuesday. " * 20
    words = count.text(long)
    for body in (
        {"role": "user", "content": [{"type": "text", "text": long}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": long}]}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "note", "input": {"text": long}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": long, "signature": "Qk1" * 2000}]},
        {"role": "assistant", "content": None, "refusal": long},
        {"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": long}}]},
        {"role": "user", "content": [{"type": "something new", "words": long}]},
        {"role": "user", "content": [long]},
        {"role": "assistant", "function_call": {"name": "f", "arguments": long}},
    ):
        assert words <= count.message(body) <= words + 30, body


@pytest.mark.req("TOKENS-06")
def test_a_response_format_counts_with_its_schema() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": WEATHER["parameters"]}}
    count = counter()
    assert count.call(None, schema) > count.call(None, None) + 50
    assert count.call(None, {"type": "text"}) == count.call(None, None)


@pytest.mark.req("TOKENS-06")
def test_nested_schemas_and_foreign_tools_are_not_free() -> None:
    count = counter()
    deep = {"type": "array", "items": {"type": "object", "properties": {"unit": UNIT}}, "minItems": 2}
    nested = {"name": "f", "input_schema": {"type": "object", "properties": {"deep": deep}}}
    flat = {"name": "f", "input_schema": {"type": "object", "properties": {"deep": {"type": "array"}}}}
    assert count.call([nested], None) > count.call([flat], None) + 15
    assert count.call([{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}], None) > count.call(None, None) + 12
    assert counter("claude-sonnet-4-5").call([flat], None) > 530


@pytest.mark.req("TOKENS-03")
@settings(max_examples=300, deadline=None)
@given(body=st.dictionaries(st.sampled_from(FIELDS), anything | st.lists(parts, max_size=3), max_size=5))
def test_no_message_is_refused(body: dict[str, Any]) -> None:
    for model in ("gpt-4o", "claude-opus-4-7"):
        assert counter(model).message(body) >= 3


@pytest.mark.req("TOKENS-03")
@settings(max_examples=100, deadline=None)
@given(tools=st.lists(tool_like, max_size=2))
def test_no_tool_is_refused(tools: list[dict[str, Any]]) -> None:
    assert counter().call(tools, None) >= 3


@pytest.mark.req("TOKENS-03")
def test_null_empty_and_missing_content_cost_only_overhead() -> None:
    bodies: list[dict[str, Any]] = [{"content": []}, {"content": ""}, {"content": None}, {}]
    assert [counter().message({"role": "assistant", **body}) for body in bodies] == [4, 4, 4, 4]
