"""A context as Anthropic's and OpenAI's newer calls want it; nothing is invented, what is theirs is untouched."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from keepline.values.dialects import to_anthropic, to_responses

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Graz"}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."}, {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "background"}, {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL, {**CALL, "id": "c2"}]},
    {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    {"role": "tool", "tool_call_id": "c2", "content": "snow", "is_error": True},
    {"role": "assistant", "content": "Rain."}, {"role": "user", "content": "Thanks"},
]  # fmt: skip


@pytest.mark.req("TOOL-05")
def test_anthropic_gets_system_apart_roles_in_turn_and_results_behind_their_calls() -> None:
    before = copy.deepcopy(CHAT)
    found = to_anthropic(CHAT)
    assert found["system"] == "Be kind.\n\nBe brief."
    assert [m["role"] for m in found["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert found["messages"][0]["content"] == [{"type": "text", "text": "background"}, {"type": "text", "text": "Weather?"}]
    assert found["messages"][1]["content"][1] == {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Graz"}}
    assert found["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "rain"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "snow", "is_error": True},
    ]
    assert found["messages"][3]["content"] == "Rain."
    assert before == CHAT


@pytest.mark.req("TOOL-05")
def test_anthropics_own_blocks_come_through_key_for_key() -> None:
    thinking = {"type": "thinking", "thinking": "…", "signature": "s"}
    blocks = [thinking, {"type": "tool_use", "id": "u", "name": "n", "input": {"a": 1}}]
    cached = {"cache_control": {"type": "ephemeral"}}
    result = [{"type": "tool_result", "tool_use_id": "u", "content": [{"type": "text", "text": "x"}], **cached}]
    found = to_anthropic([
        {"role": "system", "content": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}]},
        {"role": "user", "content": "go"}, {"role": "assistant", "content": blocks}, {"role": "user", "content": result},
    ])  # fmt: skip
    assert found["system"] == [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}]
    assert found["messages"][1:] == [{"role": "assistant", "content": blocks}, {"role": "user", "content": result}]


@pytest.mark.req("TOOL-05")
def test_pictures_files_and_broken_arguments_have_their_place() -> None:
    parts = [
        {"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
        {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,QQ==", "filename": "a.pdf"}},
    ]  # fmt: skip
    bad = {**CALL, "function": {"name": "weather", "arguments": "{oops"}}
    found = to_anthropic([{"role": "user", "content": parts}, {"role": "assistant", "content": None, "tool_calls": [bad]}])
    _, image, linked, file = found["messages"][0]["content"]
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": "QUJD"}
    assert linked["source"] == {"type": "url", "url": "https://a.example/b.png"}
    assert (file["type"], file["title"], file["source"]["media_type"]) == ("document", "a.pdf", "application/pdf")
    assert found["messages"][1]["content"][0]["input"] == {"arguments": "{oops"}
    assert "system" not in found
    items = to_responses([{"role": "user", "content": parts}])["input"]
    assert [p["type"] for p in items[0]["content"]] == ["input_text", "input_image", "input_image", "input_file"]


@pytest.mark.req("TOOL-05")
def test_responses_get_instructions_and_items() -> None:
    found = to_responses(CHAT)
    assert found["instructions"] == "Be kind.\n\nBe brief."
    kinds = [i.get("type", i.get("role")) for i in found["input"]]
    calls = ["function_call"] * 2 + ["function_call_output"] * 2
    assert kinds == ["user", "user", "assistant", *calls, "assistant", "user"]
    assert found["input"][3] == {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Graz"}'}
    own = to_responses([
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "…", "signature": "s"},
                                          {"type": "tool_use", "id": "u", "name": "n", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u", "content": "x"}]},
    ])  # fmt: skip
    assert own["input"] == [
        {"type": "function_call", "call_id": "u", "name": "n", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "u", "output": "x"},
    ]
