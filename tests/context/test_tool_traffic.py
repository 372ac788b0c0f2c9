"""Tool traffic in a build: stale results give way first, failures say so, definitions are chosen, results expire."""

from __future__ import annotations

from typing import Any

import pytest
from test_build import WHO, said

from keepline.engine import Engine
from keepline.settings import load
from keepline.stores import open as open_store
from keepline.testing.fakes import FrozenClock, HashEncoder, PlainCounter
from keepline.values.budget import Budget
from keepline.values.context import Fate, Section


def make(counter: Any, *, encoder: Any = None, clock: Any = None) -> Engine:
    chosen = load(environ={}, home="/nonexistent", settle="manual")
    return Engine(
        open_store("sqlite://:memory:"), settings=chosen, encoder=encoder, counter=counter, clock=clock or FrozenClock()
    )


LONG = "flight " * 400


def calling(id: str, name: str = "flights") -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def turn(n: int, result: str = LONG) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": f"look up flight {n}"}, calling(f"c{n}"),
        {"role": "tool", "tool_call_id": f"c{n}", "content": f"start{n} {result} end{n}"},
        {"role": "assistant", "content": f"found flight {n}"},
    ]  # fmt: skip


def ask(text: str = "so?") -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


@pytest.mark.req("TOOL-02")
def test_stale_results_give_way_before_turns_do_with_a_marker_and_the_way_back():
    with make(PlainCounter()) as engine:
        for n in range(12):
            engine.append(turn(n), **WHO)
        context = engine.context(ask(), budget=Budget(window=3_000, reserve=0), mode="sliding", **WHO)
        cleared = [e for e in context.ledger.entries if e.rule == "a stale tool result"]
        assert len(cleared) >= 4
        assert all(e.fate is Fate.SHORTENED and e.back == f"keepline get {e.ids[0]}" for e in cleared)
        tools = [m for m in context.messages if m["role"] == "tool"]
        assert len(tools) > 3_000 // 400  # more turns than whole results could have had room
        assert f"whole text: #{cleared[0].ids[0]}" in tools[0]["content"]
        assert tools[0]["content"].startswith("start")
        assert tools[-1]["content"].count("flight") == 400  # the newest is whole
        assert context.tokens <= 3_000
        assert engine.get(cleared[0].ids[0], user="u").text.count("flight") == 400


@pytest.mark.req("TOOL-02")
def test_what_is_cleared_stands_still_between_jumps():
    with make(PlainCounter()) as engine:
        for n in range(12):
            engine.append(turn(n), **WHO)
        kept = []
        for n in range(12, 20):
            context = engine.context(ask(f"and {n}?"), budget=Budget(window=6_000, reserve=0), mode="sliding", **WHO)
            kept.append(context.prefix)
            engine.append([*ask(f"and {n}?"), {"role": "assistant", "content": f"yes {n}"}], **WHO)
        shares = [p.share for p in kept if p is not None]
        assert sum(s > 0.9 for s in shares) >= len(shares) - 1


@pytest.mark.req("TOOL-02")
def test_where_everything_fits_nothing_is_cleared():
    with make(PlainCounter()) as engine:
        for n in range(3):
            engine.append(turn(n), **WHO)
        context = engine.context(ask(), budget=8_000, **WHO)
        assert next(m for m in context.messages if m["role"] == "tool")["content"].count("flight") == 400


@pytest.mark.req("TOOL-02")
def test_a_stale_failure_is_kept_as_its_reason():
    with make(PlainCounter()) as engine:
        engine.append(turn(0, "x"), **WHO)
        failing = {"role": "tool", "tool_call_id": "bad", "content": "Error: no seats left\n" + "v " * 300}
        engine.append([*ask("go"), calling("bad"), failing], **WHO)
        for n in range(1, 9):
            engine.append(turn(n), **WHO)
        context = engine.context(ask(), budget=Budget(window=3_000, reserve=0), mode="sliding", **WHO)
        result = next(m for m in context.messages if m.get("tool_call_id") == "bad")
        assert result["content"].startswith("[TOOL_FAILED] flights: no seats left")


@pytest.mark.req("TOOL-02")
def test_signed_blocks_and_what_a_person_said_beside_a_result_are_untouched():
    thinking = {"type": "thinking", "thinking": "hm " * 300, "signature": "sig"}
    use = {"type": "tool_use", "id": "u", "name": "look", "input": {}}
    mixed = [{"type": "tool_result", "tool_use_id": "u", "content": "ok"}, {"type": "text", "text": "my own words " * 100}]
    with make(PlainCounter()) as engine:
        engine.append([*ask("go"), {"role": "assistant", "content": [thinking, use]}, {"role": "user", "content": mixed}], **WHO)
        for n in range(6):
            engine.append(turn(n), **WHO)
        context = engine.context(ask(), budget=Budget(window=4_500, reserve=0), mode="sliding", **WHO)
        blocks = [m["content"] for m in context.messages if isinstance(m["content"], list)]
        assert [thinking, use] in blocks
        assert mixed in blocks


@pytest.mark.req("TOOL-03")
def test_results_are_recalled_with_their_date_until_they_expire_and_failures_as_such():
    clock = FrozenClock()
    with make(PlainCounter(), clock=clock, encoder=HashEncoder()) as engine:
        engine.append(turn(0, "zeppelin timetable"), **WHO)
        engine.append([*ask("again"), calling("z"), {"role": "tool", "tool_call_id": "z", "name": "flights",
                                                     "content": '{"error": "zeppelin unknown"}'}], **WHO)  # fmt: skip
        for n in range(30):
            engine.append([*ask(f"word{n} " * 20), {"role": "assistant", "content": "v " * 20}], **WHO)
        small = Budget(window=700, reserve=0)
        fresh = engine.context(ask("zeppelin timetable"), budget=small, mode="retrieval", **WHO)
        assert "tool result" in said(fresh)
        assert "[TOOL_FAILED] flights: zeppelin unknown" in said(fresh)
        clock.advance(hours=25)
        late = engine.context(ask("zeppelin timetable"), budget=small, mode="retrieval", **WHO)
        assert "[TOOL_FAILED]" not in said(late)
        assert any(e.rule == "an expired tool result" and e.back for e in late.ledger.entries)


def tool(name: str, description: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": {"type": "object"}}}


TOOLS = [
    tool("get_weather", "the weather forecast of a city"), tool("send_mail", "send a mail to somebody"),
    tool("book_table", "book a table in a restaurant"), tool("find_flight", "find a flight between cities"),
]  # fmt: skip


@pytest.mark.req("TOOL-04")
def test_of_many_tools_those_that_the_question_can_need_are_sent_and_the_pinned_always():
    with make(PlainCounter(), encoder=HashEncoder()) as engine:
        how = {"budget": 2_000, "tools": TOOLS, "tool_limit": 2, "pinned_tools": ["send_mail"]}
        context = engine.context(ask("what will the weather be in the city of Graz"), **how, **WHO)
        assert [t["function"]["name"] for t in context.tools or ()] == ["get_weather", "send_mail"]
        gone = [e for e in context.ledger.entries if e.section is Section.TOOLS]
        assert {e.ids[0] for e in gone} == {"book_table", "find_flight"}
        whole = engine.context(ask("what will the weather be"), budget=2_000, tools=TOOLS, **WHO)
        assert whole.tools == tuple(TOOLS)
        assert context.ledger.sections["tools"] < whole.ledger.sections["tools"]


@pytest.mark.req("TOOL-04")
def test_a_tool_in_use_stays_and_without_an_encoder_words_decide():
    with make(PlainCounter(), encoder=None) as engine:
        done = {"role": "tool", "tool_call_id": "b", "content": "done"}
        asked = [*ask("what is the weather like"), calling("b", "book_table"), done]
        context = engine.context(asked, budget=2_000, tools=TOOLS, tool_limit=2, **WHO)
        assert [t["function"]["name"] for t in context.tools or ()] == ["get_weather", "book_table"]
