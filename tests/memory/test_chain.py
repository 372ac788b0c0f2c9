"""The chain: whatever is done to a log from outside is seen, and where."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given as holds
from hypothesis import strategies as st

from keepline.errors import ChainBroken
from keepline.memory import chain
from keepline.ports.store import Row
from keepline.values.message import Message
from keepline.values.session import Session

KEY = bytes(range(32))
NOW = datetime(2026, 8, 12, tzinfo=UTC)


def log_of(*said: tuple[str, str]) -> tuple[list[Row], Session]:
    rows: list[Row] = []
    head = b""
    for seq, (role, text) in enumerate(said):
        message = Message(body={"role": role, "content": text}, id=f"m{seq}", at=NOW, seq=seq)
        if message.role.instructs:
            rows.append(Row(message=message))
            continue
        salt = secrets.token_bytes(chain.SALT)
        head = chain.link(KEY, head, salt, message.body)
        rows.append(Row(message=message, digest=head, salt=salt))
    return rows, Session(name="s", number=0, started=NOW, count=len(rows), head=head)


TALK = (("system", "be kind"), ("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four"))


def edit(row: Row, **changes: Any) -> Row:
    return replace(row, message=row.message.evolve(body={**row.message.body, **changes}))


def tombstone(row: Row) -> Row:
    message = row.message.evolve(body={"role": row.message.body["role"]}, erased=True, counts={})
    return Row(message=message, digest=row.digest)


@pytest.mark.req("LOG-10")
def test_an_untouched_log_is_whole() -> None:
    rows, session = log_of(*TALK)
    assert chain.verify(KEY, rows, session) == 5
    assert chain.verify(KEY, *log_of()) == 0
    assert chain.verify(KEY, *log_of(("system", "alone"))) == 1


def swap(rows: list[Row]) -> None:
    """Exchange what two rows say and all they carry, but not their places."""
    a, b = rows[1], rows[3]
    rows[1] = replace(b, message=b.message.evolve(seq=1))
    rows[3] = replace(a, message=a.message.evolve(seq=3))


def cut(rows: list[Row]) -> None:
    rows.pop()


def lose(rows: list[Row]) -> None:
    rows.pop(2)


def double(rows: list[Row]) -> None:
    rows.insert(2, rows[2])


def lose_and_close_the_gap(rows: list[Row]) -> None:
    del rows[2]
    rows[2:] = [replace(r, message=r.message.evolve(seq=r.message.seq - 1)) for r in rows[2:]]


def edit_words(rows: list[Row]) -> None:
    rows[2] = edit(rows[2], content="2")


def edit_role(rows: list[Row]) -> None:
    rows[3] = edit(rows[3], role="assistant")


def add_a_call(rows: list[Row]) -> None:
    rows[2] = edit(rows[2], tool_calls=[{"id": "k"}])


def turn_into_system_text(rows: list[Row]) -> None:
    rows[3] = edit(rows[3], role="system")


def turn_into_system_text_without_digest(rows: list[Row]) -> None:
    rows[4] = Row(message=edit(rows[4], role="system").message)


def replace_the_end(rows: list[Row]) -> None:
    other, _ = log_of(*TALK[:4], ("assistant", "five"))
    rows[4] = other[4]


def forge_with_another_key(rows: list[Row]) -> None:
    parent = rows[3].digest
    body = {"role": "assistant", "content": "5"}
    salt = rows[4].salt
    rows[4] = replace(edit(rows[4], content="5"), digest=chain.link(b"x" * 32, parent, salt, body))


def blank_a_digest_of_a_tombstone(rows: list[Row]) -> None:
    rows[2] = Row(message=tombstone(rows[2]).message)


BROKEN: dict[Callable[[list[Row]], None], tuple[int, str]] = {
    swap: (1, "was edited or moved"),
    cut: (4, "the log should have 5 messages, 4 are there"),
    lose: (2, "a message is missing (the next one there is 3)"),
    double: (2, "it is there twice"),
    lose_and_close_the_gap: (2, "was edited or moved"),
    edit_words: (2, "was edited or moved"),
    edit_role: (3, "was edited or moved"),
    add_a_call: (2, "was edited or moved"),
    turn_into_system_text: (3, "turned into system text"),
    turn_into_system_text_without_digest: (4, "the last message is not the one that was stored"),
    replace_the_end: (4, "was edited or moved"),
    forge_with_another_key: (4, "was edited or moved"),
    blank_a_digest_of_a_tombstone: (2, "the digest of an erased message is gone"),
}


@pytest.mark.req("LOG-10")
@pytest.mark.parametrize("harm", BROKEN, ids=lambda f: f.__name__)
def test_a_log_changed_from_outside_is_seen_with_its_place(harm: Callable[[list[Row]], None]) -> None:
    rows, session = log_of(*TALK)
    harm(rows)
    seq, why = BROKEN[harm]
    with pytest.raises(ChainBroken) as caught:
        chain.verify(KEY, rows, session)
    assert (caught.value.seq, caught.value.session) == (seq, "s")
    assert why in caught.value.why


@pytest.mark.req("LOG-10")
@holds(st.sets(st.integers(0, 4)))
def test_erased_messages_leave_the_chain_whole(erased: set[int]) -> None:
    rows, session = log_of(*TALK)
    left = [tombstone(row) if n in erased else row for n, row in enumerate(rows)]
    assert chain.verify(KEY, left, session) == 5
    if set(range(1, 5)) - erased:
        live = max(set(range(1, 5)) - erased)
        left[live] = edit(left[live], content="other")
        with pytest.raises(ChainBroken):
            chain.verify(KEY, left, session)


@pytest.mark.req("LOG-11")
def test_a_digest_tells_nothing_without_its_salt_and_its_key() -> None:
    body = {"role": "user", "content": "yes"}
    salts = [secrets.token_bytes(chain.SALT) for _ in range(3)]
    digests = {chain.link(key, b"", salt, body) for salt in salts for key in (KEY, b"y" * 32)}
    assert len(digests) == 6
    assert {len(d) for d in digests} == {chain.SIZE}


@pytest.mark.req("LOG-11")
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"content": [{"type": "text", "text": "hi"}]}, {"content": "hi"}),
        ({"content": "hi", "name": None, "tool_calls": None}, {"content": "hi"}),
        ({"content": "hi", "refusal": None, "annotations": []}, {"content": "hi"}),
    ],
)
def test_two_writings_of_one_message_have_one_digest(left: dict[str, Any], right: dict[str, Any]) -> None:
    salt = bytes(chain.SALT)
    one, other = ({"role": "assistant", **body} for body in (left, right))
    assert chain.link(KEY, b"", salt, one) == chain.link(KEY, b"", salt, other)


@pytest.mark.req("LOG-11")
@pytest.mark.parametrize("change", [{"role": "user"}, {"content": "ho"}, {"name": "n"}, {"tool_call_id": "k"},
                                    {"tool_calls": [{"id": "k"}]}, {"content": [{"type": "text", "text": "hi", "x": 1}]}])
def test_what_a_provider_would_read_differently_has_another_digest(change: dict[str, Any]) -> None:
    body = {"role": "assistant", "content": "hi"}
    salt = bytes(chain.SALT)
    assert chain.link(KEY, b"", salt, body) != chain.link(KEY, b"", salt, body | change)
