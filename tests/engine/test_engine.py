"""The verbs: what each gives back, and whose data it needs to know."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from making import ANN, BOB, NOW, assistant, everything, make, said, talk, texts, user

from keepline.engine import Engine
from keepline.errors import BadChoice, BadMessage, EmptySession, EmptyUser, NotFound
from keepline.values.budget import Budget
from keepline.values.message import Category, Retention
from keepline.values.scope import Scope

VERBS: dict[str, Callable[..., Any]] = {
    "append": lambda e, **who: e.append(user("x"), **who),
    "sync": lambda e, **who: e.sync([user("x")], **who),
    "import_lines": lambda e, **who: e.import_lines(['{"role": "user", "content": "x"}'], **who),
    "forget": lambda e, **who: e.forget(**who),
    "settle": lambda e, **who: e.settle(**who),
    "context": lambda e, **who: e.context([user("x")], budget=1000, **who),
    "search": lambda e, **who: e.search("x", **who),
    "list": lambda e, **who: e.list(**who),
    "sessions": lambda e, **who: e.sessions(**who),
    "pins": lambda e, **who: e.pins(**who),
    "get": lambda e, **who: e.get("m0", **who),
    "ledgers": lambda e, **who: e.ledgers(**who),
    "verify": lambda e, **who: e.verify(**who),
    "status": lambda e, **who: e.status(**who),
}
OF_A_SESSION = ("append", "list", "pins")
OF_ALL = ("settle", "status")


@pytest.mark.req("ENGINE-01")
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("blank", ["", "  "])
def test_no_verb_works_without_knowing_whose_data_it_is(engine: Engine, verb: str, blank: str) -> None:
    with pytest.raises(EmptyUser, match="Give the person's id"):
        VERBS[verb](engine, user=blank, session="s")
    if verb not in OF_ALL:
        with pytest.raises(EmptyUser):
            VERBS[verb](engine)
    assert engine.settle().sessions == 0


@pytest.mark.req("ENGINE-01")
@pytest.mark.parametrize("verb", OF_A_SESSION)
def test_a_verb_of_a_conversation_says_that_it_needs_one(engine: Engine, verb: str) -> None:
    with pytest.raises(EmptySession, match=f"{verb} needs to know which conversation"):
        VERBS[verb](engine, user="ann")


@pytest.mark.req("ENGINE-01")
def test_a_scope_can_be_bound_once(engine: Engine) -> None:
    chat = engine.user("ann", tenant="t", agent="kim").session("s")
    chat.append(user("the boat"))
    assert texts(chat.list()) == ["the boat"]
    assert texts(engine.list(user="ann", tenant="t", session="s")) == ["the boat"]
    assert engine.list(**ANN) == ()
    assert [s.name for s in engine.user("ann", tenant="t").sessions()] == ["s"]
    with pytest.raises(EmptyUser):
        engine.user(" ")
    with pytest.raises(AttributeError):
        _ = chat.settings
    with pytest.raises(AttributeError):
        _ = chat._touched


@pytest.mark.req("ENGINE-02")
def test_what_the_caller_says_of_a_message_is_kept(engine: Engine) -> None:
    at = datetime(2026, 8, 1, 7, tzinfo=UTC)
    one, two = engine.append([user("a"), assistant("b")], msg_id=["x1", None], ts=["2026-08-01T09:00:00+02:00", None], **ANN)
    assert (one.id, one.at, one.seq) == ("x1", at, 0)
    assert (two.id, two.at, two.seq) == ("m1", NOW, 1)
    assert engine.append(user("a"), msg_id="x1", **ANN)[0].seq == 0
    assert len(engine.list(**ANN)) == 2
    with pytest.raises(BadMessage, match="another message has the id"):
        engine.append(user("other"), msg_id="x1", **ANN)


@pytest.mark.req("ENGINE-02")
def test_a_given_category_and_retention_are_never_overwritten(engine: Engine) -> None:
    engine.append(user("My allergy is peanuts, never suggest them."), category="chat", retention=0, **ANN)
    engine.append(user("The weather is fine."), category="constraint", **ANN)
    engine.settle()
    first, second = engine.list(**ANN)
    assert (first.category, first.retention, first.given) == (Category.CHAT, Retention.DROPPABLE, True)
    assert second.category is Category.CONSTRAINT
    assert [(s.text, s.pin.given, s.pin.certainty) for s in engine.pins(**ANN)] == [("The weather is fine.", True, 1.0)]
    with pytest.raises(BadChoice):
        engine.append(user("x"), category="gossip", **ANN)


@pytest.mark.req("ENGINE-02")
def test_retention_three_is_held_in_every_mode_however_tight(engine: Engine) -> None:
    engine.append(user("The gate code is 4711."), retention=3, **ANN)
    engine.append(talk(40), **ANN)
    (pin,) = [s.pin for s in engine.pins(**ANN) if s.pin.given]
    assert pin.certainty == 1
    for mode in ("sliding", "retrieval", "hybrid", "auto"):
        assert "4711" in said(engine.context([user("well then")], budget=Budget(window=400, reserve=0), mode=mode, **ANN))


@pytest.mark.req("ENGINE-05")
def test_each_verb_says_what_there_is(engine: Engine) -> None:
    engine.append(talk(3), **ANN)
    engine.append(user("Never call me before nine."), user="ann", session="t")
    assert [m.seq for m in engine.list(**ANN)] == list(range(6))
    assert [m.seq for m in engine.list(after=1, limit=2, **ANN)] == [2, 3]
    assert engine.list(after=99, **ANN) == ()
    assert engine.list(user="ann", session="unknown") == ()
    assert [(s.name, s.count) for s in engine.sessions(user="ann")] == [("s", 6), ("t", 1)]
    assert engine.get("m2", user="ann").to_dict() == talk(3)[2]
    assert engine.get("#m2", user="ann").id == "m2"
    with pytest.raises(NotFound, match="no message 'm99'"):
        engine.get("m99", user="ann")
    assert [s.text for s in engine.pins(user="ann", session="t")] == ["Never call me before nine."]
    assert engine.pins(user="ann", session="unknown") == ()
    assert engine.verify(user="ann") == 7
    assert engine.verify(**ANN) == 6
    assert engine.verify(user="nobody") == 0


@pytest.mark.req("ENGINE-05")
def test_an_id_that_begins_with_a_number_sign_is_its_own(engine: Engine) -> None:
    engine.append([user("a"), user("b")], msg_id=["#m1", "m1"], **ANN)
    assert engine.get("#m1", user="ann").text == "a"
    assert engine.get("m1", user="ann").text == "b"
    assert engine.forget(["#m1"], user="ann") == 1
    assert engine.get("m1", user="ann").text == "b"


@pytest.mark.req("ENGINE-05")
def test_status_counts_what_a_scope_has_and_what_is_behind(engine: Engine) -> None:
    engine.append(talk(3), **ANN)
    engine.append(user("Never call me before nine."), user="ann", session="t")
    before = engine.status(user="ann")
    assert (before.sessions, before.messages, before.behind) == (2, 7, {"tags": 7, "recall": 7, "entities": 7})
    assert engine.status(user="ann", session="t").messages == 1
    assert engine.status().behind == {"tags": 2, "recall": 2, "entities": 2}
    settled = engine.settle(user="ann")
    assert (settled.sessions, settled.messages) == (2, {"tags": 7, "recall": 7, "entities": 7})
    after = engine.status(user="ann")
    done = {"tags": 0, "recall": 0, "entities": 0}
    assert (after.behind, after.pins, after.encoder, after.persistent) == (done, 1, "hash-64", False)
    assert any("in memory" in note for note in after.notes)
    assert engine.status(user="nobody").messages == 0


@pytest.mark.req("ENGINE-05")
def test_a_history_sent_again_adds_nothing_and_an_edited_one_is_a_fork(engine: Engine) -> None:
    history = talk(3)
    assert len(engine.sync(history, **ANN).added) == 6
    assert engine.sync(history, **ANN).added == ()
    forked = engine.sync([*history[:4], user("something else")], user="ann")
    assert forked.forked
    assert texts(engine.list(user="ann", session=forked.session)) == [*(m["content"] for m in history[:4]), "something else"]
    assert len(engine.list(**ANN)) == 6


# ---------------------------------------------------------------- search


@pytest.fixture
def said_before(engine: Engine) -> Engine:
    engine.append([user("I live in France"), assistant("Bon"), user("My boat is in Ghent")], **ANN)
    others = [user("The boat has a leak"), user("running the C++ build"), user("订单ＡＢ１２３部署完成")]
    engine.append(others, user="ann", session="t")
    return engine


@pytest.mark.req("RECALL-07")
def test_a_search_finds_nothing_when_nothing_is_like_it(said_before: Engine) -> None:
    assert said_before.search("Peru", user="ann") == ()
    assert len(said_before.search("Peru", least=None, user="ann")) == 6
    hit = said_before.search("francais", user="ann")[0]
    assert (hit.message.text, hit.session) == ("I live in France", "s")
    assert hit.scores["matched"] == 0
    assert hit.scores["cosine"] >= 0.3
    assert said_before.search("francais", least=0.99, user="ann") == ()


@pytest.mark.req("RECALL-07")
def test_a_search_is_of_all_conversations_or_of_one(said_before: Engine) -> None:
    assert {h.message.text for h in said_before.search("boat", user="ann")} >= {"My boat is in Ghent", "The boat has a leak"}
    assert said_before.search("boat", **ANN)[0].message.text == "My boat is in Ghent"
    assert all(h.session == "s" for h in said_before.search("boat", least=None, **ANN))
    assert said_before.search("boat", user="ann", session="unknown") == ()
    assert len(said_before.search("boat", k=1, user="ann")) == 1
    assert said_before.search("boat", k=0, user="ann") == ()
    assert said_before.search("  ", user="ann") == ()


@pytest.mark.req("RECALL-07")
@pytest.mark.parametrize(("keywords", "expected"), [
    (["boat"], {"My boat is in Ghent", "The boat has a leak"}), (["BOAT", "leak"], {"The boat has a leak"}), (["boats"], set()),
    (["C++"], {"running the C++ build"}), (["C#"], set()), (["runs"], set()), (["ab123", "部署"], {"订单ＡＢ１２３部署完成"}),
    (["!"], set()),
])  # fmt: skip
def test_keywords_must_stand_there_letter_for_letter(said_before: Engine, keywords: list[str], expected: set[str]) -> None:
    for query in ("", "whatever it is"):
        found = said_before.search(query, keywords=keywords, least=None, user="ann")
        assert {h.message.text for h in found} == expected


@pytest.mark.req("RECALL-07")
def test_keywords_are_looked_for_beyond_the_first_hits(engine: Engine) -> None:
    engine.append([user(f"the runs of the boat {i}") for i in range(60)] + [user("running the boat")], **ANN)
    (only,) = engine.search("runs of the boat", k=2, keywords=["running"], user="ann")
    assert only.message.text == "running the boat"
    engine.append(talk(5), **ANN)
    built = engine.context([user("the runs of the boat")], budget=Budget(window=250, reserve=0), mode="retrieval",
                           keywords=["running"], pins=False, **ANN)
    assert "running the boat" in said(built)
    assert "the runs of the boat 5" not in said(built)


# ---------------------------------------------------------------- isolation


@pytest.mark.req("ENGINE-03")
@pytest.mark.parametrize("other", [BOB, {**ANN, "tenant": "acme"}], ids=["another user", "another tenant"])
def test_nothing_of_another_is_read_found_listed_guessed_or_erased(engine: Engine, other: dict[str, str]) -> None:
    engine.append([user("Never mention zebras to me."), *talk(20)], msg_id=["secret-id", *[None] * 40], **ANN)
    engine.context([user("zebras")], budget=Budget(window=300, reserve=0), **ANN)
    engine.settle()
    who = {k: v for k, v in other.items() if k != "session"}
    assert engine.list(**other) == engine.sessions(**who) == engine.pins(**other) == engine.ledgers(**who) == ()
    assert engine.search("zebras", least=None, **who) == engine.search("zebras", least=None, **other) == ()
    for guess in ("m1", "#m1", "secret-id"):
        with pytest.raises(NotFound):
            engine.get(guess, **who)
    assert engine.forget(["m1", "secret-id"], **who) == engine.forget(**other) == engine.forget(**who) == 0
    assert engine.verify(**who) == engine.status(user=other["user"], tenant=other.get("tenant", "default")).messages == 0
    engine.append([user("Do I see zebras?"), *talk(20)], **other)
    assert "Never mention" not in said(engine.context([user("zebras")], budget=Budget(window=300, reserve=0), **other))
    assert [h.message.text for h in engine.search("zebras", least=0.9, **who)] == ["Do I see zebras?"]
    assert engine.verify(user="ann") == 41


@pytest.mark.req("ENGINE-03")
def test_another_users_flood_changes_no_score(engine: Engine) -> None:
    engine.append([user("the boat in Ghent"), user("bread"), user("a boat")], **ANN)
    before = [(h.message.id, h.score, h.scores) for h in engine.search("boat in Ghent", user="ann")]
    engine.append([user("the boat in Ghent") for _ in range(50)], **BOB)
    engine.settle()
    engine.desk.drop(Scope(user="ann"))
    assert [(h.message.id, h.score, h.scores) for h in engine.search("boat in Ghent", user="ann")] == before


# ---------------------------------------------------------------- without a session


@pytest.mark.req("ENGINE-04")
def test_a_conversation_given_whole_leaves_nothing(path: Path) -> None:
    with make(path) as engine:
        engine.append(user("kept"), **ANN)
        engine.settle()
        before = everything(path.parent)
        for window in (100_000, 400):
            history = [user("Never eat zebras."), *talk(20), user("so?")]
            engine.context(history, budget=Budget(window=window, reserve=0), user="ann")
        assert everything(path.parent) == before
        assert [s.name for s in engine.sessions(user="ann")] == ["s"]
        assert engine.search("zebras", least=None, user="ann")[0].message.text == "kept"
        assert engine.ledgers(user="ann") == ()
        assert engine.status().behind == {"tags": 0, "recall": 0, "entities": 0}


@pytest.mark.req("ENGINE-04")
def test_a_conversation_given_whole_comes_back_as_it_is_when_it_fits_and_keeps_its_rules_when_not(engine: Engine) -> None:
    history = [user("Never eat zebras."), *talk(20), user("so?")]
    whole = engine.context(history, budget=100_000, user="ann")
    assert whole.to_openai() == history
    assert whole.ledger.session is None
    tight = engine.context(history, budget=Budget(window=400, reserve=0), user="ann")
    assert "Never eat zebras." in said(tight)
    assert tight.tokens <= 400
    again = engine.context(history, budget=Budget(window=400, reserve=0), user="bob")
    assert again.to_openai() == tight.to_openai()


@pytest.mark.req("ENGINE-02")
def test_callers_objects_are_never_changed(engine: Engine) -> None:
    history = [user("Never eat zebras."), *talk(20)]
    copy = [dict(m) for m in history]
    engine.append(history, **ANN)
    engine.context(history, budget=Budget(window=300, reserve=0), user="ann").to_openai()[0]["content"] = "changed"
    engine.list(**ANN)[0].to_dict()["content"] = "changed"
    assert history == copy
    assert engine.list(**ANN)[0].text == "Never eat zebras."
