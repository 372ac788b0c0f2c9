"""Views catch up in the background, at once or when asked; whatever fails there fails no call and is made up for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from making import ANN, Shaky, make, said, talk, texts, user

from keepline.engine import Engine
from keepline.ports.store import GetUser, Read
from keepline.testing.fakes import HashEncoder
from keepline.values.budget import Budget
from keepline.values.scope import Scope

TIGHT = Budget(window=300, reserve=0)
DONE = {"tags": 0, "recall": 0, "entities": 0}


class Gate(HashEncoder):
    """An encoder that says when it was asked, and answers once it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.let = threading.Event(), threading.Event()

    def encode(self, texts: Sequence[str]) -> Any:
        self.asked.set()
        assert self.let.wait(30)
        return super().encode(texts)


def settlers() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "keepline-settle"]


# ---------------------------------------------------------------- when


@pytest.mark.req("ENGINE-10")
def test_by_hand_nothing_catches_up_until_asked(engine: Engine) -> None:
    engine.append(talk(3), **ANN)
    assert engine.status().behind == {"tags": 1, "recall": 1, "entities": 1}
    seen: list[tuple[int, int]] = []
    engine.append(user("t"), user="ann", session="t")
    settled = engine.settle(progress=lambda done, total: seen.append((done, total)))
    assert settled.messages == {"tags": 7, "recall": 7, "entities": 7}
    assert seen == [(1, 2), (2, 2)]
    assert engine.status().behind == DONE
    assert engine.settle().messages == DONE
    assert settlers() == []


@pytest.mark.req("ENGINE-10")
def test_inline_every_verb_leaves_all_views_at_the_head() -> None:
    with make(settle="inline") as engine:
        engine.append(talk(3), **ANN)
        engine.sync(talk(4), user="ann", session="t")
        assert engine.status().behind == DONE
        assert settlers() == []


@pytest.mark.req("ENGINE-10")
def test_in_the_background_a_build_is_not_kept_waiting_and_closing_joins_the_thread(path: Path) -> None:
    gate = Gate()
    engine = make(path, encoder=gate, settle="background")
    engine.append(talk(3), **ANN)
    assert gate.asked.wait(30)
    assert len(settlers()) == 1
    assert len(engine.context([user("so?")], budget=9_000, **ANN).messages) == 7
    gate.let.set()
    engine.close()
    assert settlers() == []
    with make(path) as again:
        assert again.status(user="ann").behind == DONE
        assert len(again.ledgers(user="ann")) <= 1


@pytest.mark.req("ENGINE-10")
def test_what_was_left_is_done_at_the_next_start(path: Path) -> None:
    with make(path, settle="manual") as first:
        first.append(talk(3), **ANN)
        first.append(user("bread"), user="bob", session="t")
    gate = Gate()
    gate.let.set()
    with make(path, encoder=gate, settle="background") as second:
        second.append(user("third"), user="cem", session="c")
        until(lambda: second.status().behind == DONE)
    with make(path, encoder=None) as third:
        assert third.status(user="ann").behind == DONE
        assert third.status(user="bob").behind == DONE


def version(engine: Engine) -> int:
    """How often the user's rows were written."""
    return engine.store.read(Read((GetUser(Scope(user="ann")),)))[0].version


def until(there: Callable[[], bool]) -> None:
    """Ask again until it is so; the suite's own patience ends a wait that has no end."""
    pause = threading.Event()
    for _ in range(3_000):
        if there():
            return
        pause.wait(0.01)
    raise AssertionError("it never came to be")


@pytest.mark.req("ENGINE-10")
def test_a_view_behind_is_brought_up_by_whoever_needs_it(engine: Engine) -> None:
    engine.append([user("Never call me before nine."), *talk(20), user("the boat")], **ANN)
    assert "before nine" in said(engine.context([user("so?")], budget=TIGHT, **ANN))
    assert engine.search("boat", user="ann")[0].message.text == "the boat"


# ---------------------------------------------------------------- an encoder that fails


@pytest.mark.req("ENGINE-11")
def test_while_the_encoder_fails_chat_and_search_go_on_and_the_ledger_says_so() -> None:
    encoder = Shaky()
    with make(encoder=encoder) as engine:
        encoder.up = False
        engine.append([user("the Quagmirezone boat"), user("部署完成"), *talk(12)], **ANN)
        assert [h.message.text for h in engine.search("boat", user="ann")] == ["the Quagmirezone boat"]
        assert [h.message.text for h in engine.search("部署", user="ann")] == ["部署完成"]
        assert "cosine" not in engine.search("boat", user="ann")[0].scores
        context = engine.context([user("the boat?")], budget=TIGHT, mode="hybrid", **ANN)
        assert "the Quagmirezone boat" in said(context)
        assert context.ledger.degraded
        assert any("failed: recall went by words alone" in note for note in context.ledger.notes)
        assert not any("Quagmirezone" in str(k) for k in engine.ledgers(user="ann"))
        assert engine.status(user="ann").behind["recall"] == 26
        assert any("cannot embed" in note for note in engine.status().notes)


@pytest.mark.req("ENGINE-11")
def test_one_settling_makes_up_for_what_an_encoder_missed() -> None:
    encoder = Shaky()
    with make(encoder=encoder) as engine:
        encoder.up = False
        engine.append(talk(200), **ANN)
        engine.settle()
        engine.append(user("the boat"), **ANN)
        engine.search("boat", user="ann")
        assert engine.status(user="ann").behind["recall"] == 401
        encoder.up = True
        assert engine.settle().messages["recall"] == 401
        assert engine.status(user="ann").behind == DONE
        assert not engine.context([user("so?")], budget=TIGHT, mode="hybrid", **ANN).ledger.degraded
        assert engine.search("boats", user="ann")[0].scores["cosine"] > 0.3
        assert engine.status().notes == ("this store is in memory: nothing outlives the process",)


@pytest.mark.req("ENGINE-11")
def test_while_the_encoder_fails_rows_are_not_indexed_again_at_every_search() -> None:
    encoder = Shaky()
    with make(encoder=encoder) as engine:
        encoder.up = False
        engine.append(talk(10), **ANN)
        found = engine.search("then", user="ann")
        before = version(engine)
        for _ in range(3):
            assert engine.search("then", user="ann") == found
        assert version(engine) == before
        engine.forget(**ANN)
        engine.append(user("a new then"), **ANN)
        assert texts([h.message for h in engine.search("then", user="ann")]) == ["a new then"]


@pytest.mark.req("ENGINE-11")
def test_a_conversation_given_whole_says_too_that_the_encoder_failed() -> None:
    encoder = Shaky()
    encoder.up = False
    with make(encoder=encoder) as engine:
        context = engine.context([user("the boat"), *talk(20), user("the boat?")], budget=TIGHT, mode="hybrid", user="ann")
        assert context.ledger.degraded
        assert "the boat" in said(context)


# ---------------------------------------------------------------- threads


@pytest.mark.req("ENGINE-12")
@pytest.mark.parametrize("settle", ["manual", "background", "inline"])
def test_threads_that_append_build_and_search_lose_nothing(path: Path, settle: str) -> None:
    errors: list[BaseException] = []
    over: list[int] = []

    def writing(n: int) -> None:
        for i in range(8):
            engine.append([user(f"boat {n} {i}?"), {"role": "assistant", "content": f"yes {n} {i}"}], **ANN)

    def building(n: int) -> None:
        for i in range(8):
            context = engine.context([user(f"so {n} {i}?")], budget=TIGHT, mode=("hybrid", "auto")[n % 2], **ANN)
            over.append(context.tokens - 300)
            engine.search("boat", user="ann")

    def work(job: Callable[[int], None], n: int) -> None:
        try:
            job(n)
        except BaseException as error:
            errors.append(error)

    with make(path, settle=settle) as engine:
        engine.append(user("Never call me before nine."), **ANN)
        threads = [threading.Thread(target=work, args=(job, n)) for n in range(3) for job in (writing, building)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert max(over) <= 0
        engine.settle()
        assert len(engine.list(limit=1000, **ANN)) == engine.verify(user="ann") == 49
        assert len({m.id for m in engine.list(limit=1000, **ANN)}) == 49
        assert len(engine.ledgers(limit=100, user="ann")) == 24
        assert engine.status(user="ann").behind == DONE
    with make(path) as again:
        assert len([h for h in again.search("boat", k=50, user="ann") if h.scores["matched"]]) == 24


@pytest.mark.req("ENGINE-12")
def test_a_build_during_erasures_never_shows_what_was_erased_before_it_began(engine: Engine) -> None:
    engine.append(talk(20), **ANN)
    gone: list[str] = []
    shown: list[tuple[int, str]] = []

    def erase() -> None:
        for i in range(20):
            (stored,) = engine.append(user(f"secret{i}x"), **ANN)
            engine.forget([stored.id], user="ann")
            gone.append(f"secret{i}x")

    eraser = threading.Thread(target=erase)
    eraser.start()
    while eraser.is_alive():
        before = len(gone)
        shown.append((before, said(engine.context([user("secret?")], budget=TIGHT, mode="hybrid", **ANN))))
    eraser.join()
    assert shown
    assert not any(word in text for before, text in shown for word in gone[:before])
