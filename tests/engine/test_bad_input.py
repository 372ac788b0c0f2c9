"""What is given wrong, and places that are bad: each error names the place and the remedy; nothing is half done or lost."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from making import ANN, NOW, assistant, everything, make, said, talk, texts, user

import keepline
from keepline.engine import Engine
from keepline.errors import (
    BadBudget,
    BadChoice,
    BadLine,
    BadMessage,
    BadTime,
    BudgetTooSmall,
    KeeplineError,
    NewerSchema,
    NotAStore,
    Oversize,
    StoreFull,
    StoreReadOnly,
)
from keepline.testing.fakes import FrozenClock
from keepline.values.budget import Budget

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TIGHT = Budget(window=300, reserve=0)

BAD_MESSAGES: dict[str, tuple[Any, str]] = {
    "an unknown role": ({"role": "robot", "content": "x"}, r'message\.role: "robot" is not a role; use one of'),
    "no role": ({"content": "x"}, r"message\.role: it is missing"),
    "no content": ({"role": "user"}, r"message\.content: it is missing"),
    "a number for content": ({"role": "user", "content": 7}, r"message\.content"),
    "text in place of a message": ("hello", "is neither a message"),
    "a result without its call": ({"role": "tool", "tool_call_id": "c9", "content": "x"}, r'no call "c9" stands before'),
    "a result of nothing": ({"role": "tool", "content": "x"}, r"message\.tool_call_id"),
    "the third of three": ([user("a"), assistant("b"), {"role": "robot", "content": "c"}], r"messages\[2\]\.role"),
    "a result among others": ([user("a"), {"role": "tool", "tool_call_id": "c9", "content": "x"}], r"messages\[1\]: no call"),
    "not JSON": ({"role": "user", "content": "x", "extra": {1, 2}}, r"message\.extra"),
}


@pytest.mark.req("BAD-01")
@pytest.mark.parametrize("what", BAD_MESSAGES)
def test_a_message_that_cannot_be_used_is_refused_with_its_place_and_nothing_of_it_is_kept(engine: Engine, what: str) -> None:
    messages, told = BAD_MESSAGES[what]
    engine.append(user("before"), **ANN)
    with pytest.raises(BadMessage, match=told):
        engine.append(messages, **ANN)
    assert texts(engine.list(**ANN)) == ["before"]
    assert engine.verify(user="ann") == 1


@pytest.mark.req("BAD-01")
def test_a_result_whose_call_stands_before_it_comes_in(engine: Engine) -> None:
    engine.append([user("a"), {"role": "assistant", "content": None, "tool_calls": [CALL]}], **ANN)
    engine.append({"role": "tool", "tool_call_id": "c1", "content": "x"}, **ANN)
    assert len(engine.context([user("so?")], budget=1000, **ANN).messages) == 4


@pytest.mark.req("BAD-02")
def test_a_message_of_twenty_megabytes_is_kept_whole_found_cut_and_refused() -> None:
    text = "begin here " + ("word" * 25 + " ") * 200_000 + "finally zanzibar"
    with make(encoder=None) as engine:
        (stored,) = engine.append(user(text), **ANN)
        assert len(stored.text) > 20_000_000
        assert engine.get(stored.id, user="ann").text == text
        assert stored.id in {h.message.id for h in engine.search("zanzibar", user="ann")}
        context = engine.context([user("so?")], budget=TIGHT, mode="sliding", **ANN)
        assert context.tokens <= 300
        cut = engine.context([user(text)], budget=TIGHT, **ANN)
        assert cut.tokens <= 300
        assert said(cut).rstrip().endswith("zanzibar")
        with pytest.raises(Oversize, match=r"Shorten it, or allow oversize"):
            engine.context([user(text)], budget=TIGHT, oversize="error", **ANN)
        assert engine.verify(user="ann") == 1


@pytest.mark.req("BAD-02")
def test_surrogate_halves_and_nul_go_all_the_way(filed: Engine, path: Path) -> None:
    given = [user("half \ud83d and NUL \x00 zebra"), user("pair \ud83d\ude00 zebra"), assistant("\udc00")]
    filed.append(given, **ANN)
    kept = ["half \ufffd and NUL \x00 zebra", "pair 😀 zebra", "\ufffd"]
    assert texts(filed.list(**ANN)) == kept
    assert filed.search("zebra \ud83d", user="ann")[0].message.text in kept
    assert filed.search("\ud83d", keywords=["\x00"], user="ann", least=None)[0].message.text == kept[0]
    sent = filed.context([user("so \udfff\x00?")], budget=1000, **ANN).messages
    assert [m["content"] for m in sent] == [*kept, "so \ufffd\x00?"]
    assert filed.sync(given, **ANN).added == ()
    assert filed.verify(user="ann") == 3
    filed.settle()
    assert json.dumps([dict(p) for p in filed.ledgers(user="ann")]).isascii()
    assert filed.forget(user="ann") == 3
    assert b"zebra" not in everything(path.parent)


@pytest.mark.req("BAD-03")
def test_a_clock_in_the_future_is_refused_and_names_itself(engine: Engine) -> None:
    for ts in ("2027-01-01T00:00:00Z", NOW.timestamp() + 90_000, "2026-13-01T00:00:00Z", "yesterday", "2026-08-01T09:00:00"):
        with pytest.raises(BadTime, match=r"the ts of message: .* is not a usable time"):
            engine.append(user("x"), ts=ts, **ANN)
    assert engine.list(**ANN) == ()


@pytest.mark.req("BAD-03")
def test_a_clock_that_goes_back_loses_and_reorders_nothing() -> None:
    clock = FrozenClock(NOW)
    with make(clock=clock) as engine:
        engine.append(user("first"), **ANN)
        clock.advance(days=-30)
        engine.append(user("second"), **ANN)
        assert texts(engine.list(**ANN)) == ["first", "second"]
        assert len(engine.context([user("so?")], budget=1000, **ANN).messages) == 3


# ---------------------------------------------------------------- budgets


@pytest.mark.req("BAD-04")
def test_a_budget_too_small_is_itemised(engine: Engine) -> None:
    engine.append({"role": "system", "content": "word " * 200}, **ANN)
    with pytest.raises(BudgetTooSmall, match=r"needs \d+ tokens, but 100 are left .* (Raise|lower)") as small:
        engine.context([user("so?")], budget=Budget(window=100, reserve=0), **ANN)
    assert small.value.needed > 200
    assert small.value.limit == 100
    figures = [int(word) for word in small.value.items.split() if word.isdigit()]
    assert sum(figures) == small.value.needed


@pytest.mark.req("BAD-04")
@pytest.mark.parametrize("budget", [0, -5, True, 3.5, "100"])
def test_a_budget_that_is_none_is_refused(engine: Engine, budget: Any) -> None:
    with pytest.raises(BadBudget, match="window is"):
        engine.context([user("so?")], budget=budget, **ANN)


@pytest.mark.req("BAD-04")
def test_an_unknown_mode_and_an_empty_call_say_what_is_missing(engine: Engine) -> None:
    with pytest.raises(BadChoice, match="hybrid"):
        engine.context([user("x")], budget=1000, mode="clever", **ANN)
    with pytest.raises(BadMessage, match="nothing to send"):
        engine.context(budget=1000, **ANN)


# ---------------------------------------------------------------- places


@pytest.mark.req("BAD-05")
def test_a_file_that_is_no_store_or_a_newer_one_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("dear diary")
    with pytest.raises(NotAStore, match=r"note\.txt is not a keepline store"):
        keepline.open(str(note))
    assert note.read_text() == "dear diary"
    newer = tmp_path / "newer.db"
    make(newer).close()
    with closing(sqlite3.connect(newer)) as raw:
        raw.execute("UPDATE keepline_schema SET version_num = '0999'")
        raw.commit()
    before = newer.read_bytes()
    with pytest.raises(NewerSchema, match="Upgrade keepline"):
        keepline.open(str(newer))
    assert newer.read_bytes() == before


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others may look into (pytest's own is closed to them)."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


def as_nobody(action: Callable[[], Any]) -> Any:
    """What `action` returns, in a forked process without root's right to write anywhere."""
    make().close()  # what is imported now need not be read by nobody
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        with os.fdopen(writer, "wb") as out:
            pickle.dump(action(), out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        data = told.read()
    os.waitpid(child, 0)
    return pickle.loads(data)


def outcome(verb: Callable[[], Any]) -> Any:
    try:
        return verb()
    except KeeplineError as error:
        return error


@pytest.mark.req("BAD-05")
@pytest.mark.parametrize("settle", ["manual", "inline", "background"])
def test_a_read_only_store_is_read_and_says_why_it_is_not_written(folder: Path, settle: str) -> None:
    path = folder / "keepline.db"
    with make(path) as engine:
        engine.append([user("Never call me before nine."), *talk(12), user("is the boat here?")], **ANN)
        engine.settle()
    path.chmod(0o444)
    folder.chmod(0o555)

    def read() -> dict[str, Any]:
        with make(path, settle=settle) as engine:
            return {
                "append": outcome(lambda: engine.append(user("x"), **ANN)),
                "forget": outcome(lambda: engine.forget(**ANN)),
                "list": outcome(lambda: len(engine.list(**ANN))),
                "search": outcome(lambda: engine.search("boat", user="ann")[0].message.text),
                "context": outcome(lambda: said(engine.context([user("so?")], budget=TIGHT, **ANN))),
                "pins": outcome(lambda: [s.text for s in engine.pins(**ANN)]),
                "verify": outcome(lambda: engine.verify(user="ann")),
                "ledgers": outcome(lambda: engine.ledgers(user="ann")),
                "notes": outcome(lambda: engine.status(user="ann").notes),
            }

    found = as_nobody(read)
    for verb in ("append", "forget"):
        assert isinstance(found[verb], StoreReadOnly)
        assert "is read-only" in str(found[verb])
    assert (found["list"], found["verify"], found["search"]) == (26, 26, "is the boat here?")
    assert "before nine" in found["context"]
    assert found["pins"] == ["Never call me before nine."]
    assert found["ledgers"] == ()
    assert any("ledger of a build was not kept" in note for note in found["notes"])


def limit(engine: Engine, spare: int) -> None:
    """Let the database grow by so many pages more: what SQLite is told when a disk is full."""
    with engine.store.backend.writer.connect() as connection:  # type: ignore[attr-defined]  # the guard's own store
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + spare}")


@pytest.mark.req("BAD-05")
@pytest.mark.parametrize("settle", ["manual", "inline"])
def test_a_full_disk_refuses_what_does_not_fit_and_goes_on_with_what_it_has(path: Path, settle: str) -> None:
    with make(path, settle=settle) as engine:
        engine.append([user("Never call me before nine."), *talk(12)], **ANN)
        engine.settle()
        limit(engine, 4)
        with pytest.raises(StoreFull, match="is full"):
            engine.append(user("words " * 300_000), **ANN)
        assert len(engine.list(**ANN)) == engine.verify(user="ann") == 25
        limit(engine, 0)
        for _ in range(40):
            assert "before nine" in said(engine.context([user("so?")], budget=TIGHT, **ANN))
        assert engine.search("then", user="ann")
        limit(engine, 1000)
        engine.append(user("room again"), **ANN)
    with make(path) as again:
        assert again.verify(user="ann") == 26


@pytest.mark.req("BAD-05")
def test_what_was_appended_is_appended_though_the_settling_after_it_found_no_room(path: Path) -> None:
    with make(path, settle="inline") as engine:
        engine.append(user("first"), **ANN)
        limit(engine, 55)  # room for the words' 45 pages, not for the 25 of their index
        stored = engine.append([assistant(" ".join(f"{i}x{j}" for j in range(400))) for i in range(40)], **ANN)
        assert len(stored) == 40
        assert any("is full" in note for note in engine.status().notes)
        limit(engine, 5000)
        engine.settle()
        assert engine.status(user="ann").behind == {"tags": 0, "recall": 0, "entities": 0}
        assert engine.verify(user="ann") == 41


# ---------------------------------------------------------------- imports

LINES = [
    json.dumps({"conversation_id": f"c{i}", "messages": [user(f"question {i}"), assistant(f"answer {i}")]}) for i in range(6)
]


@pytest.mark.req("BAD-06")
def test_a_truncated_line_is_named_by_its_number_and_what_came_before_it_is_kept(engine: Engine) -> None:
    lines = [*LINES[:3], LINES[3][:40], *LINES[4:]]
    with pytest.raises(BadLine, match=r"chat\.jsonl, line 4: it is not whole JSON.*--skip-bad"):
        engine.import_lines(lines, name="chat.jsonl", user="ann")
    assert [s.name for s in engine.sessions(user="ann")] == ["c0", "c1", "c2"]
    done = engine.import_lines(lines, name="chat.jsonl", skip_bad=True, user="ann")
    assert (done.conversations, done.new, done.unchanged) == (5, 4, 6)
    assert [line for line, _ in done.skipped] == [4]
    assert engine.verify(user="ann") == 10


@pytest.mark.req("BAD-06")
def test_interrupted_in_the_middle_and_run_again_an_import_adds_only_what_is_missing(path: Path) -> None:
    def interrupted(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with make(path, settle="background") as engine, pytest.raises(KeyboardInterrupt):
        engine.import_lines(LINES, progress=interrupted, user="ann")
    with make(path) as engine:
        assert [s.name for s in engine.sessions(user="ann")] == ["c0", "c1", "c2"]
        done = engine.import_lines(LINES, user="ann")
        assert (done.new, done.unchanged, done.changed) == (6, 6, 0)
        again = engine.import_lines(LINES, user="ann")
        assert (again.new, again.unchanged, again.changed) == (0, 12, 0)
        assert engine.verify(user="ann") == 12


@pytest.mark.req("BAD-06")
def test_lines_of_no_use_are_all_reported(engine: Engine) -> None:
    robot, good = ({"role": role, "content": "good"} for role in ("robot", "user"))
    lines = ["nonsense", '{"a": 1}', "\x00\x00", json.dumps(robot), json.dumps(good), "[1, 2]"]
    done = engine.import_lines(lines, skip_bad=True, user="ann", session="s")
    assert [line for line, _ in done.skipped] == [1, 2, 3, 4, 6]
    assert all(why for _, why in done.skipped)
    assert texts(engine.list(**ANN)) == ["good"]
