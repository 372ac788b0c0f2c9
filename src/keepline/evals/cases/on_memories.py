"""Checks on what a step found, listed, stored or relayed. Each says why it does not hold, or None."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from keepline.evals.cases.on_contexts import unless
from keepline.evals.cases.results import Item, Result

Args = Mapping[str, Any]
COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}


def texts(r: Result) -> list[str]:
    """The words of what the step found."""
    return [i.text for i in r.items or ()]


# ---------------------------------------------------------------- hits and memories


def hits(r: Result, c: Args) -> str | None:
    found = texts(r)
    absent = [t for t in c.get("all_of", ()) if not any(t in text for text in found)]
    present = [t for t in c.get("none_of", ()) if any(t in text for text in found)]
    return unless(not absent and not present, f"{r.query!r} found {found}: without {absent}, with {present}")


def empty(r: Result, _c: Args) -> str | None:
    return unless(r.items == (), f"{r.query!r} found {texts(r)}")


def hit_has_subject_if(r: Result, c: Args) -> str | None:
    wrong = [i.text for i in r.items or () if c["text"] in i.text and c["subject"] not in (i.subject or i.text)]
    return unless(not wrong, f"{wrong} is not said to be about {c['subject']}")


def active_has(r: Result, c: Args) -> str | None:
    absent = [t for t in c["all_of"] if not any(t in text for text in texts(r))]
    return unless(not absent, f"{absent} are not among {texts(r)}")


def active_lacks(r: Result, c: Args) -> str | None:
    found = [t for t in texts(r) if c["text"] in t]
    return unless(not found, f"{found} is there")


def active_lacks_certain(r: Result, c: Args) -> str | None:
    found = [i.text for i in r.items or () if c["text"] in i.text and i.certain]
    return unless(not found, f"{found} is there as a fact")


def n_active(r: Result, c: Args) -> str | None:
    n = len(r.items or ())
    return unless(bool(COMPARE[c["op"]](n, c["n"])), f"there are {n}, not {c['op']} {c['n']}")


def metadata_equals(r: Result, c: Args) -> str | None:
    found = [dict(i.metadata) for i in r.items or ()]
    return unless(c["value"] in found, f"it is {found}")


def flag_set(r: Result, c: Args) -> str | None:
    flag = c["flag"]
    said = any(m.get(flag) is True for m in r.messages or ()) or any(flag in i.flags for i in r.items or ())
    return unless(said or r.report.get(flag) is True, f"nothing is marked {flag!r}")


def constraints_have_source(r: Result, _c: Args) -> str | None:
    bare = [i.text for i in r.items or () if not i.id or i.source is None or i.text not in i.source]
    return unless(not bare, f"{bare} have no message that says them")


def event_time(items: tuple[Item, ...], c: Args) -> str | None:
    """Among `items`: the memory with the text is dated so."""
    days = [_day(i, c) for i in items if c["text"] in i.text]
    return unless(date.fromisoformat(c["date"]) in days, f"it is dated {[str(d) for d in days]}")


def event_time_in(items: tuple[Item, ...], c: Args) -> str | None:
    """Among `items`: the memory with the text is dated within."""
    first, last = date.fromisoformat(c["from"]), date.fromisoformat(c["to"])
    days = [d for i in items if c["text"] in i.text if (d := _day(i, c)) is not None]
    return unless(any(first <= d <= last for d in days), f"it is dated {[str(d) for d in days]}")


def _day(item: Item, c: Args) -> date | None:
    return None if item.at is None else item.at.astimezone(ZoneInfo(c.get("tz", "UTC"))).date()


# ---------------------------------------------------------------- refusals, files, relays


def refused(r: Result, _c: Args) -> str | None:
    if r.error is None:
        return "it was done"
    if r.crash:
        return f"it crashed: {r.error}"
    return unless(not r.effect, f"it was refused ({r.error}), but something changed")


def store_scan_absent(r: Result, _c: Args) -> str | None:
    return unless(not r.lines, "; ".join(r.lines))


def client_bytes_equal_upstream(r: Result, _c: Args) -> str | None:
    return unless(bool(r.received) and r.sent == r.received, f"{len(r.received)} bytes came, {len(r.sent)} were passed on")


def saved_text_equals(r: Result, c: Args) -> str | None:
    said = [m.get("content") for m in r.messages or () if m["role"] == "assistant"]
    return unless(c["text"] in said, f"{said} was saved")


def saved_tool_args_equal(r: Result, c: Args) -> str | None:
    found = [json.loads(call["function"]["arguments"]) for m in r.messages or () for call in m.get("tool_calls") or ()]
    return unless(c["json"] in found, f"{found} was saved")


def stdout_all_jsonrpc(r: Result, _c: Args) -> str | None:
    wrong = [line for line in r.lines if not _is_jsonrpc(line)]
    return unless(bool(r.lines) and not wrong, f"no JSON-RPC: {wrong[:3]}" if wrong else "nothing was printed")


def _is_jsonrpc(line: str) -> bool:
    try:
        value = json.loads(line)
    except json.JSONDecodeError:
        return False
    return isinstance(value, dict) and value.get("jsonrpc") == "2.0"


CHECKS = {f.__name__: f for f in (
    hits, empty, hit_has_subject_if, active_has, active_lacks, active_lacks_certain, n_active, metadata_equals, flag_set,
    constraints_have_source, refused, store_scan_absent, client_bytes_equal_upstream, saved_text_equals,
    saved_tool_args_equal, stdout_all_jsonrpc,
)}  # fmt: skip
CHECKS["hits_for"] = hits
