"""How much of a call extends the one before it, and what broke it."""

from __future__ import annotations

import pytest
from making import ANN, make, talk, user

from keepline.engine import Engine
from keepline.evals.bench.prefixing import prefixes

SYSTEM = {"role": "system", "content": "Be kind."}


@pytest.mark.req("PREFIX-01")
def test_two_equal_calls_share_everything_and_the_next_turn_all_but_what_is_new(engine: Engine) -> None:
    engine.append([SYSTEM, *talk(4)], **ANN)
    first = engine.context([user("so?")], budget=9_000, **ANN)
    again = engine.context([user("so?")], budget=9_000, **ANN)
    assert first.prefix is None
    assert again.prefix is not None
    assert (again.prefix.kept, again.prefix.of, again.prefix.broken_by) == (again.tokens, again.tokens, None)
    engine.append([user("so?"), {"role": "assistant", "content": "so."}], **ANN)
    third = engine.context([user("and?")], budget=9_000, **ANN)
    assert third.prefix is not None
    assert third.prefix.kept == third.prefix.before == first.tokens
    assert third.ledger.to_dict()["prefix"]["kept"] == first.tokens


@pytest.mark.req("PREFIX-01")
def test_what_broke_a_prefix_is_named(engine: Engine) -> None:
    engine.append(talk(4), **ANN)
    engine.context([{"role": "system", "content": "It is 9:01."}, user("so?")], budget=9_000, **ANN)
    moved = engine.context([{"role": "system", "content": "It is 9:02."}, user("so?")], budget=9_000, **ANN)
    assert moved.prefix is not None
    assert (moved.prefix.kept, moved.prefix.broken_by) == (0, "system #new1")
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    other = engine.context([{"role": "system", "content": "It is 9:02."}, user("so?")], budget=9_000, tools=tools, **ANN)
    assert other.prefix is not None
    assert other.prefix.broken_by == "tools and response format"


@pytest.mark.req("PREFIX-01")
def test_another_users_and_another_sessions_call_is_never_compared_with(engine: Engine) -> None:
    engine.append(talk(2), **ANN)
    engine.append(talk(2), user="bob", session="s")
    engine.context([user("so?")], budget=9_000, **ANN)
    assert engine.context([user("so?")], budget=9_000, user="bob", session="s").prefix is None
    engine.forget(**ANN)
    engine.append(talk(2), **ANN)
    assert engine.context([user("so?")], budget=9_000, **ANN).prefix is None


@pytest.mark.req("PREFIX-02")
def test_over_a_session_most_of_each_call_extends_the_last_and_a_timestamp_would_undo_it() -> None:
    found = prefixes(turns=20, windows=(8_000,))["by_window"]["8000"]
    assert found["kept"]["mean"] > 0.8 > 0.1 > found["timestamped"]
    assert sum(found["modes"].values()) == 20


@pytest.mark.req("PREFIX-02")
def test_a_new_segment_does_not_rewrite_the_head_while_a_cache_may_hold_it() -> None:
    from keepline.testing.fakes import FrozenClock  # noqa: PLC0415

    clock = FrozenClock()
    with make(clock=clock, summary_batch=200) as engine:
        engine.append(talk(40), **ANN)
        ask, how = [user("so?")], {"budget": 900, "mode": "summary"}
        first = engine.context(ask, **how, **ANN)
        engine.settle(**ANN)
        assert engine.summaries(**ANN)
        second = engine.context(ask, **how, **ANN)
        assert second.messages == first.messages
        clock.advance(minutes=6)
        assert any("own sentences" in e.rule and "read for this call" not in e.rule for e in
                   engine.context(ask, **how, **ANN).ledger.entries)  # fmt: skip
