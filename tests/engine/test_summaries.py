"""Rolling summaries through the engine: who writes them and when, what a failing or lying model can do, how they end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from making import ANN, NOW, assistant, everything, make, said, user

from keepline.engine import Engine
from keepline.errors import ModelDown, NotFound
from keepline.ports.model import Ask
from keepline.testing.fakes import FrozenClock, ScriptedModel
from keepline.values.budget import Budget
from keepline.values.context import Fate, Section
from keepline.values.summary import EXTRACT, Origin

SMALL = {"summary_batch": 200, "summary_from": 600, "summary_every": 20, "summary_bill": 1.0}
TIGHT = Budget(window=900, reserve=0)
ANN_ONLY = {"user": "ann"}


def chat(engine: Engine, turns: int, first: int = 0) -> None:
    for i in range(first, first + turns):
        said_so = user(f"This morning crate {i} went to shelf {i * 7}, what a trip.")
        engine.append([said_so, assistant("Fine. " + "word " * 20)], **ANN)


def honest(ask: Ask) -> str:
    """The first user line of what was asked, as a statement."""
    line = next(line for line in ask.text.splitlines() if "· user ·" in line)
    id, text = line[1:].split(" ", 1)[0], line.split("] ", 1)[1]
    return json.dumps({"statements": [{"origin": "user", "text": text, "sources": [id]}], "open_tasks": []})


def modelled(*replies: Any, **more: Any) -> tuple[Engine, ScriptedModel]:
    model = ScriptedModel(replies)
    return make(model=model, **{**SMALL, **more}), model


# ---------------------------------------------------------------- without a model


@pytest.mark.req("SUM-01")
def test_without_a_model_the_users_own_sentences_are_kept_and_labelled_so() -> None:
    with make(**SMALL) as engine:
        chat(engine, 40)
        assert engine.settle(**ANN_ONLY).summarised > 0
        segments = engine.summaries(**ANN)
        context = engine.context([user("so?")], budget=TIGHT, mode="summary", **ANN)
        assert {s.maker for s in segments} == {EXTRACT}
        assert all(t.origin is Origin.USER and t.verbatim is not None for s in segments for t in s.statements)
        assert "This morning crate" in said(context)
        summarised = [e for e in context.ledger.entries if e.fate is Fate.SUMMARISED]
        assert summarised
        assert "own sentences" in summarised[0].rule
        assert context.ledger.sections["summary"] > 0
        assert sum(context.ledger.sections.values()) == context.tokens <= 900


@pytest.mark.req("SUM-01")
def test_segments_follow_each_other_without_a_hole_and_leave_the_newest_turns_alone() -> None:
    with make(**SMALL) as engine:
        chat(engine, 40)
        engine.settle(summarise=True, **ANN_ONLY)
        segments = engine.summaries(**ANN)
        assert [s.lo for s in segments] == [0, *(s.hi for s in segments[:-1])]
        assert segments[-1].hi == 76  # the last two of forty turns
        assert all(s.after < s.before for s in segments)
        assert engine.settle(summarise=True, **ANN_ONLY).summarised == 0


@pytest.mark.req("SUM-06")
def test_what_a_segment_stands_for_can_be_listed() -> None:
    with make(**SMALL) as engine:
        chat(engine, 40)
        engine.settle(**ANN_ONLY)
        segment = engine.summaries(**ANN)[1]
        listed = engine.list(covered_by=segment.id, **ANN)
        assert [m.seq for m in listed] == list(range(segment.lo, segment.hi))
        assert len(engine.list(covered_by=segment.id, limit=3, **ANN)) == 3
        with pytest.raises(NotFound):
            engine.list(covered_by="s9.9", **ANN)
        assert engine.summaries(user="bob", session="s") == ()


@pytest.mark.req("SUM-03")
def test_the_head_says_that_present_words_prevail_and_stands_still_between_jumps() -> None:
    with make(**SMALL) as engine:
        chat(engine, 40)
        engine.settle(**ANN_ONLY)
        first, second = (engine.context([user(q)], budget=TIGHT, mode="summary", **ANN) for q in ("so?", "and crate 7?"))
        at = first.parts.index(Section.SUMMARY)
        assert first.messages[: at + 1] == second.messages[: at + 1]
        assert "Later words prevail" in first.messages[at]["content"]
        assert first.messages[at]["role"] == "user"


@pytest.mark.req("SUM-03")
def test_an_ended_rule_is_not_in_the_summary_as_if_it_held() -> None:
    with make(**SMALL) as engine:
        engine.append([user("Always answer me in French."), assistant("D'accord.")], **ANN)
        chat(engine, 20)
        engine.append([user("You can stop answering in French now."), assistant("Sure.")], **ANN)
        chat(engine, 20, first=20)
        engine.settle(**ANN_ONLY)
        context = engine.context([user("so?")], budget=TIGHT, mode="summary", **ANN)
        assert "Always answer me in French" not in said(context)
        assert any(e.section is Section.SUMMARY and e.rule == "ended by a later message" for e in context.ledger.entries)


@pytest.mark.req("SUM-01")
def test_what_tools_returned_is_said_only_as_having_been_asked() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    with make(**SMALL) as engine:
        engine.append([
            user("Look up the weather for me."), {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "Rain, 4 degrees, storm code STX-99"}, assistant("It will rain."),
        ], **ANN)  # fmt: skip
        chat(engine, 40)
        engine.settle(**ANN_ONLY)
        statements = engine.summaries(**ANN)[0].statements
        assert any(s.origin is Origin.TOOL and "weather" in s.text for s in statements)
        assert not any("STX-99" in s.text for s in statements)


# ---------------------------------------------------------------- with a model


@pytest.mark.req("SUM-01")
def test_a_model_writes_what_its_sources_bear_out() -> None:
    engine, model = modelled(honest)
    with engine:
        chat(engine, 40)
        engine.settle(**ANN_ONLY)
        segments = engine.summaries(**ANN)
        assert {s.maker for s in segments} == {"scripted"}
        assert len(model.asks) == len(segments)
        assert all(s.statements[0].verbatim is None for s in segments)
        assert all(a.schema is not None and a.temperature <= 0.2 and a.purpose == "summarise" for a in model.asks)
        assert "scripted" in next(
            e.rule for e in engine.context([user("so?")], budget=TIGHT, mode="summary", **ANN).ledger.entries
            if e.fate is Fate.SUMMARISED
        )


@pytest.mark.req("SUM-02")
@pytest.mark.parametrize(
    "lie", ["Crate 3 went to shelf 99 this morning.", "Crate 1 never went to shelf 7 this morning.", "用户喜欢爵士乐。"]
)
def test_a_lying_model_changes_nothing_but_the_list_of_what_was_dropped(lie: str) -> None:
    engine, _ = modelled(lie)
    with engine:
        chat(engine, 40)
        engine.settle(**ANN_ONLY)
        segments = engine.summaries(**ANN)
        assert all(sum(s.dropped.values()) == 1 for s in segments)
        assert not any(lie in t.text for s in segments for t in s.statements)
        assert all(t.verbatim is not None for s in segments for t in s.statements)
        context = engine.context([user("so?")], budget=TIGHT, mode="summary", **ANN)
        assert any(e.section is Section.SUMMARY and e.fate is Fate.LEFT_OUT and "covered-by" in (e.back or "")
                   for e in context.ledger.entries)  # fmt: skip


@pytest.mark.req("SUM-05")
def test_a_failing_model_leaves_the_old_summary_and_a_visible_pending_note() -> None:
    clock = FrozenClock(NOW)
    model = ScriptedModel([honest])
    with make(model=model, clock=clock, **SMALL) as engine:
        chat(engine, 40)
        engine.settle(**ANN_ONLY)
        before = engine.summaries(**ANN)
        model.script = [ModelDown(model="scripted", why="HTTP 503")]
        chat(engine, 40, first=40)
        engine.settle(**ANN_ONLY)
        assert engine.summaries(**ANN) == before
        notes = engine.status(user="ann").notes
        assert any("pending" in n and "HTTP 503" in n for n in notes)
        assert not any("pending" in n for n in engine.status(user="bob").notes)
        context = engine.context([user("so?")], budget=TIGHT, mode="summary", **ANN)
        assert "This morning crate" in said(context)
        asked = len(model.asks)
        engine.settle(**ANN_ONLY)
        assert len(model.asks) == asked  # left alone for a while
        with pytest.raises(ModelDown):
            engine.settle(summarise=True, **ANN_ONLY)
        model.script = [honest]
        clock.advance(minutes=31)
        engine.settle(**ANN_ONLY)
        assert len(engine.summaries(**ANN)) > len(before)
        assert engine.status(user="ann").notes == ("this store is in memory: nothing outlives the process",)


@pytest.mark.req("SUM-04")
def test_the_governor_waits_for_tokens_then_for_messages_or_time() -> None:
    clock = FrozenClock(NOW)
    model = ScriptedModel([honest])
    with make(model=model, clock=clock, **SMALL) as engine:
        chat(engine, 10)
        engine.settle(**ANN_ONLY)
        assert model.asks == []  # under the threshold
        chat(engine, 30, first=10)
        engine.settle(**ANN_ONLY)
        asked = len(model.asks)
        assert asked > 0
        chat(engine, 9, first=40)
        engine.settle(**ANN_ONLY)
        assert len(model.asks) == asked  # neither twenty messages nor half an hour
        chat(engine, 20, first=49)
        engine.settle(**ANN_ONLY)
        assert len(model.asks) > asked


@pytest.mark.req("SUM-04")
def test_summary_calls_take_no_more_than_their_share_of_the_bill() -> None:
    engine, model = modelled(honest, summary_bill=0.0)
    with engine:
        chat(engine, 40)
        engine.settle(**ANN_ONLY)
        assert len(model.asks) == 1  # what it took is known only afterwards
        chat(engine, 40, first=40)
        engine.settle(**ANN_ONLY)
        assert len(model.asks) == 1
        assert "This morning crate" in said(engine.context([user("so?")], budget=TIGHT, mode="summary", **ANN))


@pytest.mark.req("SUM-04")
@pytest.mark.parametrize("words", [30, 3_000, 30_000])
def test_no_request_is_larger_than_the_models_window(words: int) -> None:
    model = ScriptedModel([honest], window=1_500)
    with make(model=model, summary_words=40, **SMALL) as engine:
        engine.append([user("I need this kept: " + "log line " * words + "end."), assistant("Noted.")], **ANN)
        chat(engine, 60)
        engine.settle(summarise=True, **ANN_ONLY)
        counter = engine._counter
        assert model.asks
        assert all(counter.text(a.system) + counter.text(a.text) + a.most <= 1_500 for a in model.asks)


@pytest.mark.req("SUM-04")
def test_a_model_that_echoes_makes_no_summary_that_grows() -> None:
    echo: Callable[[Ask], str] = lambda ask: "SUMMARY: " + ask.text  # noqa: E731  # a script's line
    engine, model = modelled(echo, summary_words=30)
    with engine:
        sizes = []
        for round in range(5):
            chat(engine, 20, first=20 * round)
            engine.settle(summarise=True, **ANN_ONLY)
            context = engine.context([user("so?")], budget=TIGHT, mode="summary", **ANN)
            sizes.append(context.ledger.sections["summary"])
            assert context.tokens <= 900
        assert 0 < max(sizes) <= 900 * 0.5
        assert all(s.after < s.before for s in engine.summaries(**ANN))
        assert not any("SUMMARY" in a.text for a in model.asks)  # nothing made is ever read again


@pytest.mark.req("SUM-04")
def test_nothing_said_by_the_user_is_nothing_to_ask_a_model_about() -> None:
    engine, model = modelled(honest)
    with engine:
        for _ in range(40):
            engine.append([user("?"), assistant("word " * 30)], **ANN)
        engine.settle(summarise=True, **ANN_ONLY)
        assert model.asks == []


# ---------------------------------------------------------------- how they end


@pytest.mark.req("SUM-07")
def test_what_is_forgotten_is_gone_from_the_summary_and_the_gap_is_filled(path: Path) -> None:
    with make(path, model=ScriptedModel([honest]), **SMALL) as engine:
        stored = engine.append([user("My card ends in 4417 and I live in Wutong Lane."), assistant("Noted.")], **ANN)
        chat(engine, 40)
        engine.settle(**ANN_ONLY)
        assert any("4417" in t.text for s in engine.summaries(**ANN) for t in s.statements)
        engine.forget([stored[0].id], **ANN_ONLY)
        assert not any("4417" in t.text for s in engine.summaries(**ANN) for t in s.statements)
        engine.settle(summarise=True, **ANN_ONLY)
        segments = engine.summaries(**ANN)
        assert [s.lo for s in segments] == [0, *(s.hi for s in segments[:-1])]
        assert "4417" not in said(engine.context([user("so?")], budget=TIGHT, mode="summary", **ANN))
    assert b"Wutong" not in everything(path.parent)


@pytest.mark.req("SUM-07")
def test_segments_outlive_the_process_and_a_fork_shares_those_before_it(path: Path) -> None:
    with make(path, **SMALL) as engine:
        chat(engine, 40)
        engine.settle(**ANN_ONLY)
        before = engine.summaries(**ANN)
        history = [m.to_dict() for m in engine.list(limit=60, **ANN)]
    with make(path, **SMALL) as engine:
        assert engine.summaries(**ANN) == before
        fork = engine.sync([*history, user("Something else then.")], user="ann").session
        shared = engine.summaries(user="ann", session=fork)
        assert shared
        assert shared == before[: len(shared)]
        assert "This morning crate" in said(engine.context([user("so?")], budget=TIGHT, mode="summary", user="ann", session=fork))
