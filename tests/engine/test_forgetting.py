"""What was forgotten is in no answer and in no byte; what was changed from outside is found; an engine opened again goes on."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from making import ANN, BOB, everything, make, said, talk, texts, user

from keepline.engine import Engine
from keepline.errors import ChainBroken, NotFound
from keepline.memory.segment import term_ids
from keepline.values.budget import Budget

SECRET = "Never mention the Quagmirezone to me."
TIGHT = Budget(window=300, reserve=0)
FORGET = {
    "by id": lambda e, m: e.forget([m.id], user="ann"),
    "by id as shown": lambda e, m: e.forget([f"#{m.id}"], user="ann"),
    "by session": lambda e, m: e.forget(**ANN),
    "all of the user": lambda e, m: e.forget(user="ann"),
}


def traces(folder: Path) -> list[str]:
    """Which traces of the secret the files of the store still have: its words, and its words' numbers in the index."""
    data = everything(folder)
    word = int(term_ids("quagmirezone")[0][0]).to_bytes(8, "little")
    return [name for name, trace in {"text": b"Quagmirezone", "folded": b"quagmirezone", "term": word}.items() if trace in data]


@pytest.mark.req("ENGINE-08")
@pytest.mark.parametrize("way", FORGET)
def test_what_was_forgotten_is_in_no_answer_and_in_no_byte(filed: Engine, path: Path, way: str) -> None:
    (secret,) = filed.append(user(SECRET), **ANN)
    filed.append(talk(12), **ANN)
    filed.append(user("Quagmirezone? not me"), **BOB)
    filed.forget(**BOB)
    assert "Quagmirezone" in said(filed.context([user("so?")], budget=TIGHT, **ANN))
    assert filed.search("Quagmirezone", user="ann")[0].message.id == secret.id
    assert len(filed.ledgers(user="ann")) == 1
    filed.settle()
    assert set(traces(path.parent)) >= {"text", "term"}
    assert FORGET[way](filed, secret) == (1 if "id" in way else 25)
    assert traces(path.parent) == []
    assert [h for h in filed.search("Quagmirezone", least=None, user="ann") if "Quagmirezone" in h.message.text] == []
    assert "Quagmirezone" not in "".join(texts(filed.list(**ANN)))
    assert SECRET not in [s.text for s in filed.pins(**ANN)]
    assert "Quagmirezone" not in said(filed.context([user("so?")], budget=TIGHT, **ANN))
    if "id" in way:
        assert filed.get(secret.id, user="ann").erased
        assert filed.verify(user="ann") == 25
    else:
        with pytest.raises(NotFound):
            filed.get(secret.id, user="ann")
        assert filed.verify(user="ann") == 0
    assert FORGET[way](filed, secret) == 0
    assert traces(path.parent) == []


@pytest.mark.req("ENGINE-08")
def test_with_a_user_his_ledgers_go_those_not_yet_written_too(engine: Engine) -> None:
    engine.append(talk(12), **ANN)
    engine.context([user("so?")], budget=TIGHT, **ANN)
    assert len(engine.ledgers(user="ann")) == 1
    engine.context([user("so?")], budget=TIGHT, **ANN)
    assert engine.forget(user="ann") == 24
    engine.append(user("anew"), **ANN)
    assert engine.ledgers(user="ann") == ()
    assert texts(engine.list(**ANN)) == ["anew"]


@pytest.mark.req("ENGINE-08")
def test_forgetting_touches_nobody_else_and_no_ids_forget_nothing(engine: Engine) -> None:
    engine.append(talk(2), **ANN)
    engine.append(user("t"), user="ann", session="t")
    engine.append(user("b"), **BOB)
    assert engine.forget([], user="ann") == engine.forget(["unknown"], user="ann") == engine.forget(user="ann", session="x") == 0
    assert engine.forget(**ANN) == 4
    assert texts(engine.list(user="ann", session="t")) == ["t"]
    assert engine.forget(user="ann") == 1
    assert texts(engine.list(**BOB)) == ["b"]


@pytest.mark.req("ENGINE-08")
def test_a_forgotten_message_leaves_its_conversation_usable(engine: Engine) -> None:
    stored = engine.append(talk(12), **ANN)
    engine.forget([stored[2].id, stored[23].id], user="ann")
    engine.append(user("more"), **ANN)
    context = engine.context([user("so?")], budget=100_000, **ANN)
    assert len(context.messages) == 24
    assert context.messages[-1]["content"] == "so?"
    assert engine.verify(**ANN) == 25
    assert engine.status(**ANN).messages == 25


OTHER = """
import sys
sys.path.insert(0, sys.argv[2])
from making import make
with make(sys.argv[1], encoder=None) as engine:
    print(eval(sys.argv[3], {"e": engine}))
"""


def elsewhere(path: Path, deed: str) -> str:
    """Do a deed with an engine `e` over the same file in a process of its own; what it printed."""
    args = [sys.executable, "-c", OTHER, str(path), str(Path(__file__).parent), deed]
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.req("ENGINE-12")
def test_what_another_process_forgets_a_warm_engine_no_longer_serves(filed: Engine, path: Path) -> None:
    (secret,) = filed.append(user(SECRET), **ANN)
    filed.append(talk(12), **ANN)
    assert "Quagmirezone" in said(filed.context([user("so?")], budget=TIGHT, **ANN))
    assert filed.search("Quagmirezone", user="ann")[0].message.id == secret.id
    assert elsewhere(path, f"e.forget(['{secret.id}'], user='ann')") == "1"
    assert "Quagmirezone" not in said(filed.context([user("so?")], budget=TIGHT, **ANN))
    assert filed.search("Quagmirezone", least=0.9, user="ann") == ()
    assert filed.pins(**ANN) == ()
    assert filed.list(limit=1, **ANN)[0].erased
    assert elsewhere(path, "e.forget(user='ann')") == "24"
    assert filed.sessions(user="ann") == filed.search("and then", least=None, user="ann") == filed.pins(**ANN) == ()
    assert traces(path.parent) == []


@pytest.mark.req("ENGINE-12")
def test_what_another_process_says_is_heard_at_once(filed: Engine, path: Path) -> None:
    filed.append(user("Never call me before nine."), **ANN)
    assert [s.text for s in filed.pins(**ANN)] == ["Never call me before nine."]
    elsewhere(path, "[e.append({'role': 'user', 'content': f'boat {i}'}, user='ann', session='s') for i in range(9)]")
    assert len(filed.list(**ANN)) == 10
    assert "boat 8" in said(filed.context([user("so?")], budget=100_000, **ANN))
    assert filed.search("boat", k=20, user="ann")[0].scores["matched"] == 1
    assert filed.verify(**ANN) == 10


# ---------------------------------------------------------------- opened again


@pytest.mark.req("ENGINE-09")
def test_an_engine_opened_again_goes_on_where_the_last_one_was(path: Path) -> None:
    with make(path) as first:
        first.append([user("Never call me before nine."), *talk(12)], **ANN)
        first.settle()
        before = first.context([user("so?")], budget=TIGHT, **ANN)
        first.append(user("one more"), **ANN)
    with make(path) as second:
        assert second.status().behind == {"tags": 1, "recall": 1, "entities": 1}
        assert len(second.ledgers(user="ann")) == 1
        assert [s.text for s in second.pins(**ANN)] == ["Never call me before nine."]
        second.append(user("and another"), **ANN)
        assert second.verify(user="ann") == 27
        assert [m.seq for m in second.list(after=24, **ANN)] == [25, 26]
        assert second.search("another", user="ann")[0].message.text == "and another"
        second.forget([second.list(after=24, **ANN)[i].id for i in range(2)], user="ann")
        assert second.context([user("so?")], budget=TIGHT, **ANN).to_openai() == before.to_openai()


# ---------------------------------------------------------------- changed from outside

TAMPERING = {
    "a word changed": ("UPDATE bodies SET body = replace(body, 'a3', 'b3') WHERE seq = 7", 7),
    "a word changed, kept as bytes": ("UPDATE bodies SET body = CAST(replace(body, 'a3', 'b3') AS BLOB) WHERE seq = 7", 7),
    "a role changed": ("UPDATE bodies SET body = CAST(replace(body, 'assistant', 'user') AS BLOB) WHERE seq = 7", 7),
    "a body that is none": ("UPDATE bodies SET body = x'ff00' WHERE seq = 7", 7),
    "a body that is a number": ("UPDATE bodies SET body = 7 WHERE seq = 7", 7),
    "a message taken out": ("DELETE FROM messages WHERE seq = 7", 7),
    "the end cut off": ("DELETE FROM bodies WHERE seq > 20", 21),
    "two bodies exchanged": (
        "UPDATE bodies SET body = (SELECT b.body FROM bodies b WHERE b.seq = 28 - bodies.seq AND b.user = bodies.user) "
        "WHERE seq IN (13, 15)", 13,
    ),
}


@pytest.mark.req("ENGINE-07")
@pytest.mark.parametrize("deed", TAMPERING)
def test_what_was_changed_in_the_file_is_found_with_its_place(path: Path, deed: str) -> None:
    with make(path) as engine:
        engine.append(talk(12), **ANN)
        engine.append(talk(2), user="ann", session="t")
        assert engine.verify(user="ann") == 28
    statement, place = TAMPERING[deed]
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute(statement).rowcount >= 1
        raw.commit()
    with make(path) as engine:
        with pytest.raises(ChainBroken) as broken:
            engine.verify(user="ann")
        assert broken.value.session == "s"
        assert broken.value.seq == place


# ---------------------------------------------------------------- ledgers


@pytest.mark.req("ENGINE-06")
def test_ledgers_are_kept_and_hold_no_word_of_any_message(path: Path) -> None:
    with make(path) as engine:
        engine.append([user("Never mention the Quagmirezone."), user("the Vexillology club met"), *talk(12)], **ANN)
        contexts = [
            engine.context([user("the Ornithopter?")], budget=TIGHT, mode=mode, query="Vexillology", keywords=["club"], **ANN)
            for mode in ("retrieval", "hybrid", "sliding")
        ]
        engine.context([user("w " * 5000)], budget=TIGHT, **ANN)
        kept = engine.ledgers(user="ann")
        assert len(kept) == 4
        assert {k["id"] for k in kept[1:]} == {c.ledger.id for c in contexts}
        assert engine.ledgers(id=contexts[0].ledger.id, user="ann")[0]["mode"] == "retrieval"
        assert len(engine.ledgers(limit=2, user="ann")) == 2
        assert any(e.section == "recall" for c in contexts for e in c.ledger.entries)
        json.loads(json.dumps(kept, allow_nan=False))
    with closing(sqlite3.connect(path)) as raw:
        data = b"".join(row[0] for row in raw.execute("SELECT body FROM ledgers"))
    assert len(data) > 1000
    assert [w for w in (b"Quagmire", b"Vexill", b"Ornith", b"club", b"mention", b"w w") if w in data] == []


@pytest.mark.req("ENGINE-06")
def test_only_the_newest_ledgers_are_kept() -> None:
    with make(ledgers=3) as engine:
        engine.append(talk(3), **ANN)
        ids: list[Any] = [engine.context([user("so?")], budget=9_000, **ANN).ledger.id for _ in range(5)]
        assert {k["id"] for k in engine.ledgers(user="ann")} <= set(ids)
        assert len(engine.ledgers(user="ann")) == 3
