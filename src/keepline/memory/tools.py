"""What a message has to do with tools: the names it calls, whether a result is a failure and why. Reads; keeps nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from keepline.values.message import Message, Role, content_text

REASON = 120
"""Characters of a failure's reason that are shown."""
READ = 4_000
"""Characters of a result, from its beginning and its end, that are looked at."""
_STATUS = re.compile(
    r"^\s*(?:error[: ]+)?(?:http(?:/\d(?:\.\d)?)?[: ]*)?(?:status(?: code)?[: ]*)?(?P<code>[45]\d\d)\b[:,]?\s*"
    r"(?P<text>[A-Z][\w '’-]{2,60})?",
    re.IGNORECASE,
)
_STATUS_TEXTS = re.compile(
    r"\b(?:bad request|unauthorized|forbidden|not found|method not allowed|request timeout|conflict|gone|payload too large"
    r"|too many requests|internal server error|not implemented|bad gateway|service unavailable|gateway time-?out)\b",
    re.IGNORECASE,
)
_RAISED = re.compile(
    r"^(?:[\w.]+\.)?(?P<kind>[A-Z]\w*(?:Error|Exception|Timeout|Refused|Failure))\b(?P<why>: .*)?$", re.MULTILINE
)
_TRACE = re.compile(r"^Traceback \(most recent call last\):", re.MULTILINE)
_SAYS = re.compile(
    r"^\s*(?:\[?(?:tool[ _])?(?:error|failed|failure|fatal|exception)\]?\s*[:：-]|(?:错误|失败|出错|报错|异常)\s*[:：])"
    r"\s*(?P<why>.+)",
    re.IGNORECASE,
)
_FAILED_WORDS = frozenset({"error", "failed", "failure", "fail", "timeout", "exception"})


def call_names(message: Message) -> dict[str, str]:
    """The tools that a message calls: call id → name, in either shape, in order."""
    found: dict[str, str] = {}
    for c in message.body.get("tool_calls") or ():
        if isinstance(c, Mapping):
            function = c.get("function") or c.get("custom") or {}
            found[str(c.get("id", ""))] = str(function.get("name", "")) if isinstance(function, Mapping) else ""
    for b in _blocks(message, "tool_use"):
        found[str(b.get("id", ""))] = str(b.get("name", ""))
    return found


def results(message: Message) -> Iterator[tuple[str, str, bool]]:
    """The results in a message, as (call id, text, whether it is marked as an error)."""
    if message.body.get("role") == Role.TOOL:
        marked = bool(message.body.get("is_error")) or message.body.get("status") == "error"
        yield str(message.body.get("tool_call_id", "")), message.text, marked
    for b in _blocks(message, "tool_result"):
        yield str(b.get("tool_use_id", "")), content_text(b.get("content")), bool(b.get("is_error"))


def failure(text: str, *, marked: bool = False) -> str | None:
    """Why a tool's result is a failure, in a few words; None if it is none.

    `marked`: its message says that it is an error. Otherwise by form: a JSON object with an `error` (or `success: false`, or a
    status of 400 and more), a traceback, the name of an exception, a line that begins with "Error:", an HTTP status text.
    """
    seen = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"
    stripped = seen.strip()
    reason = _in_json(stripped) if stripped[:1] == "{" else _in_text(stripped)
    if reason is None and marked:
        reason = stripped.splitlines()[0] if stripped else "error"
    if reason is None:
        return None
    reason = " ".join(reason.split())
    return reason if len(reason) <= REASON else f"{reason[: REASON - 1]}…"


def _in_json(text: str) -> str | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, Mapping):
        return None
    wrong = value.get("error") or value.get("errors") or value.get("exception")
    status = value.get("status_code", value.get("status", value.get("code")))
    bad_status = isinstance(status, int) and not isinstance(status, bool) and 400 <= status < 600
    denied = value.get("success") is False or value.get("ok") is False or value.get("isError") is True
    denied = denied or (isinstance(status, str) and status.lower() in _FAILED_WORDS)
    if not (wrong or bad_status or denied):
        return None
    said = _words(wrong) or _words(value.get("message") or value.get("detail") or value.get("msg"))
    code = f"HTTP {status}" if bad_status else ""
    return ": ".join(p for p in (code, said) if p) or "error"


def _words(value: Any) -> str:
    """The words of an error's value, whatever shape it has."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _words(value.get("message") or value.get("detail") or value.get("code") or value.get("type") or "")
    if isinstance(value, list) and value:
        return _words(value[0])
    return ""


def _in_text(text: str) -> str | None:
    if not text:
        return None
    if _TRACE.search(text):
        raised = list(_RAISED.finditer(text))
        return raised[-1].group() if raised else text.splitlines()[-1]
    first = text.splitlines()[0]
    if (m := _SAYS.match(first)) or (m := re.match(r"(?P<why>(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception): .+)", first)):
        return str(m.group("why"))
    m = _STATUS.match(first)
    if m and len(text) < 2_000 and (_STATUS_TEXTS.search(first) or re.match(r"\s*(?:error|http|status)", first, re.IGNORECASE)):
        return f"HTTP {m.group('code')} {m.group('text') or ''}".strip()
    return first if len(text) < 60 and _STATUS_TEXTS.fullmatch(first.strip(" .!")) else None


def _blocks(message: Message, kind: str) -> list[Mapping[str, Any]]:
    content = message.body.get("content")
    return [b for b in content if isinstance(b, Mapping) and b.get("type") == kind] if isinstance(content, list) else []
