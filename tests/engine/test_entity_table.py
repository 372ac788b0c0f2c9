"""The entity table: exact, without a model, within its owner, and gone with its messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from making import ANN, assistant, everything, make, said, talk, user

from keepline.engine import Engine
from keepline.errors import BadChoice
from keepline.values.budget import Budget
from keepline.values.context import Section

TIGHT = Budget(window=400, reserve=0)


@pytest.mark.req("ENT-03")
def test_the_table_is_looked_up_by_kind_and_by_exact_value(engine: Engine) -> None:
    asked = user("Order A-1003 costs $20, order A-1004 costs 20 dollars.")
    engine.append([asked, assistant("Mr Zhao has A-1003, I think.")], **ANN)
    engine.append(user("Order A-1003 again."), user="ann", session="t")
    orders = engine.entities(kind="order", **ANN)
    assert [(e.surface, e.role) for e in orders] == [("A-1003", "user"), ("A-1004", "user")]
    assert [e.surface for e in engine.entities(value="$20.00", **ANN)] == ["$20", "20 dollars"]
    assert len(engine.entities(value="a-1003", kind="order", user="ann")) == 2
    assert [e.value for e in engine.entities(kind="person", **ANN)] == ["Mr Zhao"]
    assert engine.entities(user="bob") == ()
    assert engine.entities(kind="order", user="ann", session="none") == ()
    with pytest.raises(BadChoice, match="organisation"):
        engine.entities(kind="animal", **ANN)


@pytest.mark.req("ENT-04")
@pytest.mark.parametrize("ask", ["what about A-1003?", "which order was it?"])
def test_a_context_states_what_the_question_names_or_asks_for(engine: Engine, ask: str) -> None:
    engine.append([user("ticket A-1003 came up somewhere"), assistant("ok")], **ANN)
    engine.append(talk(30), **ANN)
    engine.settle(**ANN)
    context = engine.context([user(ask)], budget=TIGHT, mode="sliding", pins=False, **ANN)
    assert "order: A-1003" in said(context)
    assert context.ledger.sections["entities"] > 0
    assert sum(context.ledger.sections.values()) == context.tokens <= 400
    assert [e.ids for e in context.ledger.entries if e.section is Section.ENTITIES] == [(engine.list(limit=1, **ANN)[0].id,)]


@pytest.mark.req("ENT-04")
def test_what_stands_there_anyway_is_not_said_twice(engine: Engine) -> None:
    engine.append([*talk(2), user("ticket A-1003 came up"), assistant("ok")], **ANN)
    context = engine.context([user("what about A-1003?")], budget=TIGHT, mode="sliding", **ANN)
    assert said(context).count("A-1003") == 2  # the message itself, and the question


@pytest.mark.req("ENT-03")
def test_entities_of_a_forgotten_message_are_gone_and_those_of_a_fork_are_its_own(path: Path) -> None:
    with make(path) as engine:
        stored = engine.append([user("My card is KX-44712."), assistant("ok"), user("And order B-2002."), assistant("ok")], **ANN)
        assert [e.value for e in engine.entities(**ANN)] == ["KX-44712", "B-2002"]
        fork = engine.sync([m.to_dict() for m in stored[:2]] + [user("order C-3003")], user="ann").session
        assert [e.value for e in engine.entities(user="ann", session=fork)] == ["KX-44712", "C-3003"]
        engine.forget([stored[0].id], user="ann")
        assert [e.value for e in engine.entities(**ANN)] == ["B-2002"]
        engine.settle()
    assert b"44712" not in everything(path.parent)
