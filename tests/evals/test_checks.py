"""Every check that case files may name: one result on which it holds, one on which it does not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keepline.evals.cases.checks import ON_RESULT, ON_WORLD, unmet
from keepline.evals.cases.expand import expand
from keepline.evals.cases.results import Item, Result
from keepline.evals.cases.world import World

CHECKS = (
    "has_text lacks_text has_any_text text_occurs_once has_exact_block identical input_unchanged roles_unchanged "
    "text_equals_input valid_pairs within_budget report_nonnegative first_non_system_role count_between summary_size_at_most "
    "no_compaction llm_calls_at_most no_llm_call_over_limit hits empty hits_for hit_has_subject_if active_has active_lacks "
    "n_active active_has_anywhere active_lacks_certain event_time event_time_in metadata_equals field_equals flag_set report_has "
    "memory_item_count constraints_have_source frame_markers_once common_prefix_at_least equal_before_first_user "
    "client_bytes_equal_upstream saved_text_equals saved_tool_args_equal store_scan_absent utf8_json grapheme_safe refused "
    "stdout_all_jsonrpc no_exception"
)
"""Every check that OPEN.md names."""

SYSTEM = {"role": "system", "content": "Answer in French."}
USER = {"role": "user", "content": "Is my contract valid?"}
ASKED = {"role": "assistant", "content": None, "tool_calls": [
    {"id": i, "type": "function", "function": {"name": "f", "arguments": '{"t": "🍵"}'}} for i in ("a", "b")
]}  # fmt: skip
ANSWERS = [{"role": "tool", "tool_call_id": i, "content": "12 C"} for i in ("a", "b")]
SIGNED = {"type": "thinking", "thinking": "ls", "signature": "s=="}
USE = {"role": "assistant", "content": [SIGNED, {"type": "tool_use", "id": "t", "name": "ls", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.txt"}]}
FENCED = "<background>\n[2026-01-01 · the user said · confirmed · #m1] Miso\n- #m2 no milk\n</background>"


def built(*messages: dict[str, Any], **more: Any) -> Result:
    return Result(op="build_context", messages=messages, **more)


def found(*texts: str, **more: Any) -> Result:
    return Result(op="search", items=tuple(Item(text=t, id=f"m{n}") for n, t in enumerate(texts)), **more)


def item(text: str, **more: Any) -> Result:
    return Result(op="get_all", items=(Item(text=text, id="m0", **more),))


def said(text: str) -> Result:
    return built({"role": "user", "content": text})


EXAMPLES: dict[str, tuple[dict[str, Any], Result, Result]] = {
    "has_text": ({"text": "French"}, built(SYSTEM, USER), built(USER)),
    "lacks_text": ({"text": "French"}, built(USER), built(SYSTEM)),
    "has_any_text": ({"texts": ["x", "French"]}, built(SYSTEM), built(USER)),
    "text_occurs_once": ({"text": "tea"}, found("tea", "milk"), found("tea", "tea")),
    "has_exact_block": ({"block": SIGNED}, built(USE), built({**USE, "content": [{**SIGNED, "signature": "t=="}]})),
    "identical": ({}, built(SYSTEM, USER, given=[SYSTEM, USER]), built(USER, given=[dict(reversed(USER.items()))])),
    "roles_unchanged": ({}, built(USER, given=[{**USER, "content": "x"}]), built(USER, USER, given=[USER])),
    "text_equals_input": ({}, found(USER["content"], given=[USER]), found(USER["content"].lower(), given=[USER])),
    "valid_pairs": ({}, built(USER, ASKED, *ANSWERS, USER, USE, RESULT), built(USER, ASKED, ANSWERS[0], USER)),
    "within_budget": ({}, built(USER, limit=10, tokens=10, recount=10), built(USER, limit=10, tokens=10, recount=11)),
    "report_nonnegative": ({}, built(report={"a": {"b": [0, 1]}}), built(report={"a": {"b": [0, -1]}})),
    "first_non_system_role": ({"role": "user"}, built(SYSTEM, USER), built(SYSTEM, ASKED)),
    "count_between": ({"min": 1, "max": 2}, Result(op="count_tokens", number=2), Result(op="count_tokens", number=3)),
    "summary_size_at_most": ({"tokens": 2}, built(summary="short words"), built(summary="one two three")),
    "no_compaction": ({}, built(SYSTEM, USER, given=[USER]), built(SYSTEM, given=[USER])),
    "frame_markers_once": ({}, said(FENCED), said(FENCED + "</background>")),
    "memory_item_count": ({"n": 2}, said(FENCED), said(FENCED.replace("- #m2", "m2"))),
    "report_has": ({"field": "skipped"}, built(report={"skipped": [7]}), built(report={"skipped": ()})),
    "field_equals": ({"field": "pending", "value": 0}, built(report={"pending": 0}), built(report={"pending": 1})),
    "utf8_json": ({}, Result(op="t", text="ok🎉"), Result(op="t", text="ok\ud83c")),
    "grapheme_safe": ({}, Result(op="t", given="a🇨🇳b", text="a🇨🇳"), Result(op="t", given="a🇨🇳b", text="a🇨")),
    "hits": ({"all_of": ["tea"], "none_of": ["milk"]}, found("green tea"), found("tea", "milk")),
    "empty": ({}, found(), found("tea")),
    "hits_for": ({"queries": ["q"], "all_of": ["tea"]}, found("tea", query="q"), found("milk", query="q")),
    "hit_has_subject_if": ({"text": "核桃", "subject": "何川"}, item("对核桃过敏", subject="何川"), item("对核桃过敏")),
    "active_has": ({"all_of": ["tea", "milk"]}, found("tea", "milk"), found("tea")),
    "active_lacks": ({"text": "tea"}, found("milk"), found("tea")),
    "active_lacks_certain": ({"text": "医生"}, item("假设是医生", certain=False), item("是医生")),
    "n_active": ({"op": ">=", "n": 2}, found("a", "b"), found("a")),
    "metadata_equals": ({"value": {"k": 1}}, item("x", metadata={"k": 1}), item("x", metadata={})),
    "flag_set": ({"flag": "incomplete"}, built({**USER, "incomplete": True}), built(USER)),
    "constraints_have_source": ({}, item("no milk", source="well, no milk please"), item("no milk", source="milk please")),
    "store_scan_absent": ({}, Result(op="store_scan"), Result(op="store_scan", lines=("4417 in case.db",))),
    "client_bytes_equal_upstream": ({}, built(sent=b"ab", received=b"ab"), built(sent=b"a", received=b"ab")),
    "saved_text_equals": ({"text": "half"}, built({"role": "assistant", "content": "half"}), built(USER)),
    "saved_tool_args_equal": ({"json": {"t": "🍵"}}, built(ASKED), built(USER)),
    "stdout_all_jsonrpc": ({}, Result(op="o", lines=('{"jsonrpc": "2.0"}',)), Result(op="o", lines=('{"jsonrpc": "2.0"}', "hi"))),
    "refused": ({}, Result(op="search", error="No user"), Result(op="search", error="KeyError", crash=True)),
}
U = {"user_id": "u"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEEPLINE_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("KEEPLINE_ENCODER", "none")
        with World() as made:
            made.engine.append({"role": "user", "content": "I went to Lisbon"}, ts="2023-05-20T22:00:00Z", session="s", user="u")
            yield made


@pytest.mark.req("EVAL-08")
def test_every_check_that_case_files_may_name_is_there() -> None:
    assert set(CHECKS.split()) == set(ON_RESULT) | set(ON_WORLD)
    assert set(EXAMPLES) == set(ON_RESULT)


@pytest.mark.req("EVAL-08")
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_check_on_a_result_holds_where_it_should_and_says_why_not(name: str, world: World) -> None:
    args, good, bad = EXAMPLES[name]
    check = {"check": name, "on": "out", **args}
    world.saved["out"] = [good]
    assert unmet(world, check) is None
    world.saved["out"] = [good, bad]
    why = unmet(world, check)
    assert why is not None
    assert why.startswith(f"{name} on out (round 2): ")


@pytest.mark.req("EVAL-08")
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ((USER, ANSWERS[0], ASKED), "does not follow its call"),
        ((ASKED, *ANSWERS, ANSWERS[0]), "does not follow its call"),
        ((ASKED, ANSWERS[0]), "are not answered"),
        ((USE, USER), "are not answered before"),
        ((RESULT,), "does not follow its call"),
    ],
)
def test_a_broken_tool_pair_of_any_kind_is_seen(bad: tuple[dict[str, Any], ...], why: str, world: World) -> None:
    world.saved["out"] = [built(*bad)]
    assert why in str(unmet(world, {"check": "valid_pairs", "on": "out"}))


@pytest.mark.req("EVAL-08")
def test_a_refusal_that_changed_something_is_none_and_an_error_fails_every_other_check(world: World) -> None:
    world.saved["out"] = [Result(op="delete_all", error="no", effect=True)]
    assert "something changed" in str(unmet(world, {"check": "refused", "on": "out"}))
    world.saved["out"] = [Result(op="search", error="locked")]
    assert unmet(world, {"check": "empty", "on": "out"}) == "empty on out: locked"


@pytest.mark.req("EVAL-08")
def test_a_check_that_nobody_knows_or_whose_step_is_missing_does_not_hold(world: World) -> None:
    assert unmet(world, {"check": "shines", "on": "out"}) == "no check is called 'shines'"
    assert unmet(world, {"check": "empty", "on": "nowhere"}) == "empty: no step saved 'nowhere'"
    world.saved["out"] = [found("tea", query="q")]
    assert "not every query" in str(unmet(world, {"check": "hits_for", "on": "out", "queries": ["q", "r"], "all_of": []}))


@pytest.mark.req("EVAL-08")
def test_checks_on_the_whole_run_hold_where_they_should(world: World) -> None:
    world.saved |= {"a": [built(SYSTEM, USER)], "b": [built(SYSTEM, USER, ASKED)], "c": [built(USER, SYSTEM)]}
    lisbon = {"text": "Lisbon", **U}
    holds: list[dict[str, Any]] = [
        {"check": "no_exception"}, {"check": "input_unchanged"}, {"check": "llm_calls_at_most", "n": 0},
        {"check": "no_llm_call_over_limit"}, {"check": "active_has_anywhere", **lisbon},
        {"check": "event_time", "date": "2023-05-21", "tz": "Asia/Shanghai", **lisbon},
        {"check": "event_time_in", "from": "2023-05-20", "to": "2023-05-20", **lisbon},
        {"check": "common_prefix_at_least", "a": "a", "b": "b", "fraction_of_a": 1.0},
        {"check": "equal_before_first_user", "a": "a", "b": "b"},
    ]
    assert {c["check"] for c in holds} == set(ON_WORLD)
    assert [unmet(world, c) for c in holds] == [None] * len(holds)
    world.errors.append("add: database is locked")
    world.inputs.append(([USER], [SYSTEM]))
    world.llm.calls += [100]
    world.llm.limit = 99
    changes: dict[str, dict[str, Any]] = {
        "active_has_anywhere": {"text": "Porto"}, "event_time": {"date": "2023-05-20"}, "event_time_in": {"to": "2023-05-19"},
        "common_prefix_at_least": {"b": "c"}, "equal_before_first_user": {"b": "c"},
    }  # fmt: skip
    for check in holds:
        why = unmet(world, {**check, **changes.get(check["check"], {})})
        assert why is not None
        assert why.startswith(check["check"])


@pytest.mark.req("EVAL-07")
def test_text_helpers_expand_to_the_texts_and_messages_they_stand_for() -> None:
    saved = Result(op="add", items=(Item(text="x", id="m7"),))
    names = {"q": "tea", "n": 3, "a": saved, "i": 2}
    assert expand({"$repeat": "ab", "times": 2}, {}) == "abab"
    assert expand({"$concat": ["half ", {"$codepoint": "D83D"}, "$q"]}, names) == "half \ud83dtea"
    assert expand(["$n", "u{i}", "$a.id", "$unknown", {"$echo_input": True}], names) == [
        3, "u2", "m7", "$unknown", {"$echo_input": True}
    ]  # fmt: skip
    assert expand([{"$turns": 2, "user": "q{i}", "assistant": {"$repeat": "a{i}", "times": 2}}, USER], {}) == [
        {"role": "user", "content": "q0"}, {"role": "assistant", "content": "a0a0"},
        {"role": "user", "content": "q1"}, {"role": "assistant", "content": "a1a1"}, USER,
    ]  # fmt: skip
    call, answer = expand([{"$tool_rounds": 1, "name": "open", "result": "page {i}"}], {})
    assert (call["tool_calls"][0]["id"], answer["tool_call_id"], answer["content"]) == ("r0", "r0", "page 0")


@pytest.mark.req("EVAL-07")
def test_a_world_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("KEEPLINE_ENCODER", "none")
    monkeypatch.setattr("tempfile.tempdir", None)
    with World() as made:
        made.clock.set(datetime(2024, 1, 1, tzinfo=UTC))
        assert made.clock.now().year == 2024
        assert list(made.files())
    assert not list(tmp_path.iterdir())
