"""Checks on what a step built, counted or cut: words, messages, figures. Each says why it does not hold, or None."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import regex

from keepline.context.render import CLOSE, OPEN
from keepline.evals.cases.results import Result, words
from keepline.evals.ground import words as counter

Args = Mapping[str, Any]
_CLUSTER = regex.compile(r"\X")


def unless(holds: bool, why: str) -> str | None:
    """`why`, unless it holds."""
    return None if holds else why


# ---------------------------------------------------------------- words


def has_text(r: Result, c: Args) -> str | None:
    return unless(c["text"] in r.rendered, f"{c['text']!r} is not there")


def lacks_text(r: Result, c: Args) -> str | None:
    return unless(c["text"] not in r.rendered, f"{c['text']!r} is there")


def has_any_text(r: Result, c: Args) -> str | None:
    return unless(any(t in r.rendered for t in c["texts"]), f"none of {c['texts']} is there")


def text_occurs_once(r: Result, c: Args) -> str | None:
    times = r.rendered.count(c["text"])
    return unless(times == 1, f"{c['text']!r} is there {times} times")


def utf8_json(r: Result, _c: Args) -> str | None:
    try:
        json.dumps([r.text, r.messages, [i.text for i in r.items or ()]], ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        return str(error)
    return None


def grapheme_safe(r: Result, _c: Args) -> str | None:
    whole, cut = str(r.given), r.text or ""
    edges = {0, *(m.end() for m in _CLUSTER.finditer(whole))}
    return unless(whole.startswith(cut) and len(cut) in edges, f"{cut!r} is cut inside a character of {whole!r}")


def text_equals_input(r: Result, _c: Args) -> str | None:
    given = [words(m) for m in r.given or ()] if isinstance(r.given, list) else [str(r.given)]
    out = [i.text for i in r.items or ()] if r.items is not None else [r.text or ""]
    return unless(out == given, f"{out} is not {given}")


# ---------------------------------------------------------------- messages


def identical(r: Result, _c: Args) -> str | None:
    out, given = (json.dumps(list(m or ()), ensure_ascii=False) for m in (r.messages, r.given))
    return unless(out == given, f"{len(r.messages or ())} messages came out of {len(r.given or ())}, or not byte for byte")


def has_exact_block(r: Result, c: Args) -> str | None:
    blocks = [b for m in r.messages or () if isinstance(m.get("content"), list) for b in m["content"]]
    return unless(c["block"] in blocks, f"{json.dumps(c['block'], ensure_ascii=False)} is not there as it was")


def roles_unchanged(r: Result, _c: Args) -> str | None:
    out, given = ([m["role"] for m in messages or ()] for messages in (r.messages, r.given))
    return unless(out == given, f"{out} instead of {given}")


def first_non_system_role(r: Result, c: Args) -> str | None:
    role = next((m["role"] for m in r.messages or () if m["role"] not in ("system", "developer")), None)
    return unless(role == c["role"], f"it is {role}")


def valid_pairs(r: Result, _c: Args) -> str | None:
    """Both shapes: OpenAI's `tool_calls` with messages of role `tool`, Anthropic's blocks `tool_use` and `tool_result`."""
    messages = list(r.messages or ())
    waiting: list[str] = []
    for n, message in enumerate(messages):
        answers, calls = _answers(message), _calls(message)
        for call in answers:
            if call not in waiting:
                return f"the result of {call!r} (message {n + 1}) does not follow its call"
            waiting.remove(call)
        if waiting and not answers:
            return f"the calls {waiting} are not answered before message {n + 1}"
        waiting += calls
    return unless(not waiting, f"the calls {waiting} are not answered")


def _calls(message: Args) -> list[str]:
    content = message.get("content")
    blocks = [b["id"] for b in content if b.get("type") == "tool_use"] if isinstance(content, list) else []
    return [c["id"] for c in message.get("tool_calls") or ()] + blocks


def _answers(message: Args) -> list[str]:
    content = message.get("content")
    blocks = [b["tool_use_id"] for b in content if b.get("type") == "tool_result"] if isinstance(content, list) else []
    return ([message["tool_call_id"]] if message["role"] == "tool" else []) + blocks


def no_compaction(r: Result, _c: Args) -> str | None:
    gone = [n for n, m in enumerate(r.given or (), 1) if m not in (r.messages or ())]
    return unless(not gone and not r.summary, f"messages {gone} did not come through as they were")


def frame_markers_once(r: Result, _c: Args) -> str | None:
    found = r.rendered.count(OPEN), r.rendered.count(CLOSE)
    return unless(found == (1, 1), f"the fence opens {found[0]} and closes {found[1]} times")


def memory_item_count(r: Result, c: Args) -> str | None:
    inside = r.rendered.partition(OPEN)[2].partition(CLOSE)[0]
    n = sum(line.startswith(("- #", "[")) and "#" in line for line in inside.splitlines())
    return unless(n == c["n"], f"there are {n}")


# ---------------------------------------------------------------- figures and reports


def within_budget(r: Result, _c: Args) -> str | None:
    if r.limit is None or r.tokens is None or r.recount is None:
        return "nothing was built"
    return unless(max(r.tokens, r.recount) <= r.limit, f"{r.tokens} tokens ({r.recount} counted anew), {r.limit} allowed")


def report_nonnegative(r: Result, _c: Args) -> str | None:
    wrong = [path for path, n in _numbers(r.report, "") if n < 0]
    return unless(not wrong, f"negative: {', '.join(wrong)}")


def _numbers(value: Any, path: str) -> list[tuple[str, float]]:
    if isinstance(value, Mapping):
        return [n for k, v in value.items() for n in _numbers(v, f"{path}.{k}")]
    if isinstance(value, list | tuple):
        return [n for i, v in enumerate(value) for n in _numbers(v, f"{path}[{i}]")]
    return [(path.lstrip("."), value)] if isinstance(value, int | float) else []


def count_between(r: Result, c: Args) -> str | None:
    return unless(r.number is not None and c["min"] <= r.number <= c["max"], f"it is {r.number}")


def summary_size_at_most(r: Result, c: Args) -> str | None:
    n = counter().text(r.summary)
    return unless(n <= c["tokens"], f"it has {n} tokens")


def report_has(r: Result, c: Args) -> str | None:
    return unless(bool(r.report.get(c["field"])), f"the report says nothing of {c['field']!r}")


def field_equals(r: Result, c: Args) -> str | None:
    return unless(r.report.get(c["field"]) == c["value"], f"{c['field']} is {r.report.get(c['field'])!r}")


CHECKS = {f.__name__: f for f in (
    has_text, lacks_text, has_any_text, text_occurs_once, utf8_json, grapheme_safe, text_equals_input, identical,
    has_exact_block, roles_unchanged, first_non_system_role, valid_pairs, no_compaction, frame_markers_once,
    memory_item_count, within_budget, report_nonnegative, count_between, summary_size_at_most, report_has, field_equals,
)}  # fmt: skip
