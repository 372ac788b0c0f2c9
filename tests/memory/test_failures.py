"""What is a tool's failure, and why; whatever else a result says is none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from keepline.memory.tools import call_names, failure, results
from keepline.values.message import Message


def message(**body: Any) -> Message:
    return Message(body=body, id="m1", at=datetime(2026, 1, 1, tzinfo=UTC))


TRACE = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nrequests.exceptions.ConnectionError: refused\n'


@pytest.mark.req("TOOL-01")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"error": "city not found"}', "city not found"), ('{"error": {"message": "quota", "code": 7}}', "quota"),
        ('{"errors": [{"detail": "bad date"}]}', "bad date"), ('{"success": false, "message": "no seats"}', "no seats"),
        ('{"status": 503, "message": "down"}', "HTTP 503: down"), ('{"status": "error", "detail": "x"}', "x"),
        ('{"ok": false}', "error"), (TRACE, "requests.exceptions.ConnectionError: refused"),
        ("ValueError: not a number", "ValueError: not a number"), ("Error: the file is locked", "the file is locked"),
        ("错误：城市不存在", "城市不存在"), ("HTTP 404 Not Found", "HTTP 404 Not Found"),
        ("503 Service Unavailable", "HTTP 503 Service Unavailable"),
        ("Too Many Requests", "Too Many Requests"), ("Error 500: Internal Server Error", "HTTP 500 Internal Server Error"),
    ],
)  # fmt: skip
def test_a_failure_is_known_by_its_form(text: str, reason: str) -> None:
    assert failure(text) == reason


@pytest.mark.req("TOOL-01")
@pytest.mark.parametrize(
    "text",
    [
        "", "sunny, 21 degrees", '{"temp": 21, "error": null}', '{"status": 200, "data": [404]}', '{"status": "ok"}', "[]", "{",
        "404 rooms are free", "The error rate fell to 2 %.", "503 guests came, the service was excellent", '{"errors": []}',
        "There were no errors.", "错误率下降了", "Not found in stock? Try the shop next door, it has everything you need today.",
    ],
)  # fmt: skip
def test_what_is_no_failure_is_taken_for_none(text: str) -> None:
    assert failure(text) is None


@pytest.mark.req("TOOL-01")
def test_a_marked_error_is_one_whatever_it_says_and_a_long_reason_is_cut() -> None:
    assert failure("try later", marked=True) == "try later"
    assert failure("", marked=True) == "error"
    assert len(failure("Error: " + "x" * 900) or "") == 120


@pytest.mark.req("TOOL-01")
def test_calls_and_results_are_read_in_either_shape() -> None:
    call = {"id": "a", "function": {"name": "find", "arguments": "{}"}}
    openai = message(role="assistant", content=None, tool_calls=[call, "?"])
    anthropic = message(role="assistant", content=[{"type": "tool_use", "id": "b", "name": "look", "input": {}}])
    assert (call_names(openai), call_names(anthropic)) == ({"a": "find"}, {"b": "look"})
    answer = message(role="user", content=[{"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": True}])
    assert list(results(answer)) == [("b", "no", True)]
    assert list(results(message(role="tool", tool_call_id="a", content="yes"))) == [("a", "yes", False)]
