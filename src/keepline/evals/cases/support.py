"""Which steps this release can do, told before anything is played: a case with a step that it cannot do is no pass and no fail.

Reads steps; plays none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Step = Mapping[str, Any]

LATER = {
    "update": "memories are not rewritten yet",
    "correct": "memories are not corrected yet",
    "history": "memories have no history yet",
    "consolidate": "nothing is consolidated yet",
    "export": "no export yet",
    "corrupt_line": "no export yet",
    "reembed": "no re-embedding yet",
    "rebuild_index": "no rebuilding by hand yet",
    "purge_expired": "nothing expires yet",
    "proxy_chat": "no HTTP door yet",
    "mcp_stdio": "no MCP door yet",
    "mcp_call_parallel": "no MCP door yet",
}
CAN = frozenset({
    "append", "build_context", "compact", "compact_and_build", "count_tokens", "truncate_text", "add", "search", "get",
    "get_all", "delete", "delete_all", "delete_session", "forget", "import", "import_again", "reopen", "restart_process",
    "kill_during_write", "store_scan", "list_constraints", "list_messages", "status", "retry_pending", "llm_request_log",
    "introspect_markers", "compare_input_unchanged", "set_fake_llm", "set_fake_embedder", "for_each", "repeat", "parallel",
    "sleep_s", "wait_ms",
})  # fmt: skip


def missing(steps: Sequence[Step]) -> str | None:
    """Why these steps cannot be played (the first reason), or None if all can."""
    noted: set[str] = set()
    for step in every(steps):
        why = _why(step, noted)
        if why:
            return f"{step['op']}: {why}"
        if step["op"] == "add" and step.get("memory") != "off":
            noted.add(str(step.get("user_id", "default")))
    return None


def every(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps and those inside loops, in order."""
    for step in steps:
        yield step
        yield from every(step.get("do", ()))


def _why(step: Step, noted: set[str]) -> str | None:
    op = step["op"]
    if op in LATER:
        return LATER[op]
    if op not in CAN:
        return "no such step is known"
    if op == "add":
        return _why_not_add(step)
    if op == "build_context" and str(step.get("user_id", "default")) in noted:
        return "a context recalls from its own session only; memories beside it come later"
    if op == "forget" and "match" in step:
        return "erasing all that matches, with a receipt, comes later"
    if op == "search" and "as_of" in step:
        return "no search as of a day yet"
    return None


def _why_not_add(step: Step) -> str | None:
    if step.get("memory") == "off":
        return None
    if step.get("infer", True):
        return "facts are not extracted yet"
    if "supersedes" in step or "metadata" in step:
        return "memories that replace others or carry metadata come later"
    messages = [m for m in step.get("messages", ()) if isinstance(m, Mapping)]
    calls = {c.get("id") for m in messages for c in m.get("tool_calls") or ()}
    if any(m.get("role") == "tool" and m.get("tool_call_id") not in calls for m in messages):
        return "a tool's result is no memory by itself yet"
    return None
