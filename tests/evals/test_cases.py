"""The open cases: which pass, which this release cannot play, and what a run says of failures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keepline.evals import cases
from keepline.evals.cases.support import CAN, LATER, missing
from keepline.evals.formats import Case
from keepline.evals.formats import cases as read

OPEN = {case.id: case for case in read(Path(__file__).parents[1] / "cases" / "open.jsonl")}
KINDS = {
    "tool_pairing", "system_role_order", "token_counting", "budget_oversize", "cjk_unicode", "isolation", "concurrency_storage",
    "summary_fidelity",
}  # fmt: skip
LATER_RELEASE = {"open-12", "open-37", "open-39", "open-40"}
"""Cases of these kinds that ask a model for facts or a tidying, or an MCP server and an export."""
MUST_PASS = sorted({i for i, case in OPEN.items() if case.kind in KINDS} - LATER_RELEASE | {"open-29", "open-44", "open-45"})
STEPS = (
    "append build_context compact compact_and_build count_tokens truncate_text add search get get_all history update correct "
    "delete delete_all forget delete_session consolidate rebuild_index reembed retry_pending purge_expired export import "
    "import_again reopen restart_process kill_during_write corrupt_line store_scan list_constraints list_messages status "
    "llm_request_log introspect_markers proxy_chat mcp_stdio mcp_call_parallel set_fake_llm set_fake_embedder for_each repeat "
    "parallel sleep_s wait_ms compare_input_unchanged"
)
"""Every step that OPEN.md names."""
U: dict[str, Any] = {"user_id": "u"}


def case(*steps: dict[str, Any], checks: tuple[dict[str, Any], ...] = ()) -> Case:
    return Case(id="x", kind="k", steps=steps, checks=checks)


def note(text: str, **more: Any) -> dict[str, Any]:
    return {"op": "add", "infer": False, "messages": [{"role": "user", "content": text}], **U, **more}


def why(*steps: dict[str, Any], checks: tuple[dict[str, Any], ...] = ()) -> str:
    verdict = cases.play(case(*steps, checks=checks))
    assert verdict.supported, verdict.why
    return verdict.why


@pytest.mark.req("EVAL-09")
@pytest.mark.parametrize("id", MUST_PASS)
def test_an_open_case_of_the_kinds_that_can_be_played_passes(id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPLINE_HOME", str(tmp_path))
    monkeypatch.delenv("KEEPLINE_ENCODER", raising=False)
    verdict = cases.play(OPEN[id])
    assert verdict.supported, verdict.why
    assert not verdict.why


@pytest.mark.req("EVAL-07")
def test_every_other_open_case_is_not_supported_with_a_reason() -> None:
    reasons = {i: missing(c.steps) for i, c in OPEN.items() if i not in MUST_PASS}
    assert len(reasons) == len(OPEN) - len(MUST_PASS)
    assert all(reasons.values())


@pytest.mark.req("EVAL-07")
def test_every_step_that_case_files_may_name_is_known() -> None:
    assert CAN | set(LATER) == set(STEPS.split())
    assert not CAN & set(LATER)


@pytest.mark.req("EVAL-07")
@pytest.mark.parametrize(
    "step",
    [
        {"op": "add", "messages": [{"role": "user", "content": "I moved"}]},
        note("x", supersedes="m1"),
        {"op": "add", "infer": False, "messages": [{"role": "tool", "tool_call_id": "q", "content": "12 C"}]},
        {"op": "forget", "match": "x"},
        {"op": "search", "query": "x", "as_of": "2026-01-01T00:00:00Z", **U},
        {"op": "repeat", "times": 2, "do": [{"op": "consolidate", **U}]},
        {"op": "dance"},
    ],
)
def test_a_step_that_cannot_be_done_makes_the_case_not_supported(step: dict[str, Any]) -> None:
    verdict = cases.play(case(step))
    assert not verdict.supported
    assert verdict.why.startswith(("consolidate" if step["op"] == "repeat" else step["op"]) + ":")


@pytest.mark.req("EVAL-07")
def test_memories_beside_the_session_are_not_taken_for_recalled_ones() -> None:
    build = {"op": "build_context", "budget": 900, "messages": [{"role": "user", "content": "hi"}]}
    assert missing([note("the cat is called Miso"), {**build, **U}])
    assert not missing([note("the cat is called Miso"), {**build, "user_id": "another"}])


@pytest.mark.req("EVAL-08", "EVAL-07")
def test_a_run_counts_passed_failed_and_not_supported(write: Callable[..., Path], plain: None) -> None:
    def line(id: str, step: dict[str, Any], most: int) -> dict[str, Any]:
        return {"id": id, "kind": "k", "steps": [{**step, "save": "n"}],
                "expect": {"checks": [{"check": "count_between", "on": "n", "min": 1, "max": most}]}}  # fmt: skip

    count = {"op": "count_tokens", "text": "hello world"}
    done: list[tuple[int, int]] = []
    found = cases.run(
        write(line("a", count, 2), line("b", count, 1), line("c", {"op": "reembed"}, 1)),
        progress=lambda n, of: done.append((n, of)),
    )
    assert (found["cases"], found["passed"], found["not_supported"]) == (3, 1, ["c"])
    assert found["failed"] == [{"id": "b", "kind": "k", "why": "count_between on n: it is 2"}]
    assert found["reasons"] == {"c": "reembed: no re-embedding yet"}
    assert done == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.req("EVAL-08")
@pytest.mark.usefixtures("plain")
def test_an_error_that_no_check_waits_for_fails_the_case() -> None:
    assert "tool_call_id" in why({"op": "append", "messages": [{"role": "tool", "content": "12 C"}], **U})


@pytest.mark.req("EVAL-08")
@pytest.mark.usefixtures("plain")
def test_a_check_on_a_step_in_a_loop_holds_for_every_round() -> None:
    loop = {"op": "for_each", "var": "text", "in": ["a", {"$repeat": "word ", "times": 9}],
            "do": [{"op": "count_tokens", "save": "n", "text": "$text"}]}  # fmt: skip
    assert not why(loop, checks=({"check": "count_between", "on": "n", "min": 1, "max": 10},))
    assert "round 2" in why(loop, checks=({"check": "count_between", "on": "n", "min": 1, "max": 1},))


@pytest.mark.req("EVAL-08")
@pytest.mark.usefixtures("plain")
def test_a_search_without_a_user_is_refused_and_one_with_a_filter_is_not() -> None:
    steps = (note("I live in France"), {"op": "search", "save": "none", "query": "France"},
             {"op": "search", "save": "mine", "query": "France", "filters": U})  # fmt: skip
    refused = {"check": "refused", "on": "none"}
    assert not why(*steps, checks=(refused, {"check": "hits", "on": "mine", "all_of": ["France"]}))
    assert why(*steps, checks=({**refused, "on": "mine"}, refused)) == "refused on mine: it was done"
    assert "No user" in why(*steps)


@pytest.mark.req("EVAL-07")
@pytest.mark.usefixtures("plain")
def test_the_same_sentence_is_remembered_once_and_erased_by_its_words() -> None:
    steps = (note("fact A", save="a"), note("fact A"), note("fact {i}", times=3), {"op": "get_all", "save": "all", **U},
             {"op": "get", "save": "one", "memory_id": "$a.id", **U}, {"op": "delete", "match": "fact A", **U},
             {"op": "get_all", "save": "left", **U}, {"op": "store_scan", "save": "scan", "needles": ["fact A"]})  # fmt: skip
    assert not why(*steps, checks=(
        {"check": "n_active", "on": "all", "op": "==", "n": 4}, {"check": "has_text", "on": "one", "text": "fact A"},
        {"check": "active_lacks", "on": "left", "text": "fact A"}, {"check": "n_active", "on": "left", "op": "==", "n": 3},
        {"check": "store_scan_absent", "on": "scan"},
    ))  # fmt: skip


@pytest.mark.req("EVAL-07")
@pytest.mark.usefixtures("plain")
def test_writers_in_processes_lose_nothing_and_killed_ones_leave_whole_records() -> None:
    many = {"op": "parallel", "processes": 2, "threads_each": 2, "do": [note("fact {worker}-{i}", times=5)]}
    bad = {"op": "parallel", "processes": 1, "do": [{"op": "get", "memory_id": "absent", **U}]}
    kill = {"op": "kill_during_write", "times": 1}
    all_ = {"op": "get_all", "save": "g", **U}
    assert not why(many, kill, {"op": "reopen"}, all_, checks=({"check": "n_active", "on": "g", "op": "==", "n": 20},))
    assert "absent" in why(bad, checks=({"check": "no_exception"},))


@pytest.mark.req("EVAL-07")
@pytest.mark.usefixtures("plain")
def test_encoders_that_fail_leave_words_and_a_note_until_they_work_again() -> None:
    down = {"op": "set_fake_embedder", "mode": "down"}
    search = {"op": "search", "query": "boiler", **U}
    steps = ({"op": "set_fake_embedder", "dim": 16, "name": "m1"}, note("one"), {"op": "set_fake_embedder", "mode": "constant"},
             down, note("The boiler was serviced"), {**search, "save": "s"}, {"op": "restart_process"},
             {"op": "status", "save": "st"}, {"op": "wait_ms", "ms": 1}, {"op": "set_fake_llm", "max_input_tokens": 9},
             {"op": "llm_request_log", "save": "log"}, {"op": "set_fake_embedder", "max_input_tokens": 2, "dim": 16})  # fmt: skip
    assert not why(*steps, checks=(
        {"check": "hits", "on": "s", "all_of": ["boiler"]}, {"check": "report_has", "on": "s", "field": "degraded"},
        {"check": "field_equals", "on": "st", "field": "pending", "value": 1}, {"check": "no_llm_call_over_limit"},
        {"check": "llm_calls_at_most", "n": 0},
    ))  # fmt: skip


@pytest.mark.req("EVAL-07")
@pytest.mark.usefixtures("plain")
def test_a_chat_with_memory_off_leaves_nothing() -> None:
    off = {"op": "add", "memory": "off", "messages": [{"role": "user", "content": "I also live in Peru"}], **U}
    steps = (note("I live in France"), off, {"op": "get_all", "save": "g", **U}, {"op": "import_again", **U},
             {"op": "forget", "save": "r", **U}, {"op": "list_messages", "save": "m", **U})  # fmt: skip
    assert not why(*steps, checks=(
        {"check": "active_lacks", "on": "g", "text": "Peru"}, {"check": "report_has", "on": "r", "field": "removed"},
        {"check": "lacks_text", "on": "m", "text": "France"},
    ))  # fmt: skip
