"""The public fakes obey the ports and do as they are told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from keepline.ports.clock import Clock
from keepline.ports.encoder import Encoder
from keepline.ports.tokens import TokenCounter
from keepline.providers.clock import SystemClock
from keepline.providers.encoders import SentenceEncoder
from keepline.providers.tokenizers import counter
from keepline.testing.fakes import EncoderDown, FrozenClock, HashEncoder, PlainCounter

CLOCKS: list[Clock] = [SystemClock(), FrozenClock()]
ENCODERS: list[Encoder] = [SentenceEncoder(), HashEncoder()]
COUNTERS: list[TokenCounter] = [counter(), counter("claude"), PlainCounter(), PlainCounter("char", overhead=3)]


@pytest.mark.req("FAKES-01")
def test_a_frozen_clock_moves_only_by_hand() -> None:
    clock = FrozenClock(datetime(2026, 8, 12, 9, tzinfo=timezone(timedelta(hours=8))))
    assert clock.now() == clock.now() == datetime(2026, 8, 12, 1, tzinfo=UTC)
    assert clock.advance(30, days=1) == datetime(2026, 8, 13, 1, 0, 30, tzinfo=UTC)
    assert clock.set(datetime(2020, 1, 1, tzinfo=UTC)).year == clock.now().year == 2020


@pytest.mark.req("FAKES-01")
@pytest.mark.parametrize("clock", CLOCKS)
def test_clocks_tell_utc(clock: Clock) -> None:
    assert clock.now().utcoffset() == timedelta(0)


@pytest.mark.req("FAKES-01")
@pytest.mark.parametrize("fake", ENCODERS)
def test_encoders_give_unit_rows_of_their_dimension(fake: Encoder) -> None:
    rows = fake.encode(["peanuts", "", "\ud83d", "我对花生过敏"])
    assert rows.shape == (4, fake.dim)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert fake.encode([]).shape == (0, fake.dim)


@pytest.mark.req("FAKES-01")
def test_a_hash_encoder_is_deterministic_and_can_be_told_to_fail() -> None:
    fake = HashEncoder(32, fail_after=2)
    rows = fake.encode(["allergic to peanuts", "peanuts, allergic", "invoice 17"])
    assert np.array_equal(rows, fake.encode(["allergic to peanuts", "peanuts, allergic", "invoice 17"]))
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert (fake.calls, fake.seen) == (2, 6)
    with pytest.raises(EncoderDown):
        fake.encode(["x"])
    fake.fail_after = None
    assert len(fake.encode(["x"])) == 1


@pytest.mark.req("FAKES-01")
def test_a_plain_counter_is_reckoned_in_ones_head() -> None:
    words = PlainCounter(overhead=2, reply=3)
    call = {"function": {"name": "find", "arguments": "a b"}}
    assert words.text("one two  three") == 3
    assert words.message({"role": "user", "content": "one two"}) == 4
    assert words.message({"role": "assistant", "content": None, "tool_calls": [call]}) == 5
    assert words.call(None, None) == 3
    text = "a b c d e"
    i, j = words.clip(text, 3)
    assert (text[:i], text[j:]) == ("a", "d e")
    assert words.clip(text, 5) == (9, 9)


@pytest.mark.req("FAKES-01")
@pytest.mark.parametrize("fake", COUNTERS)
def test_every_counter_obeys_the_port(fake: TokenCounter) -> None:
    assert fake.margin_share == 0 if fake.exact else fake.margin_share > 0
    assert fake.text("") == 0
    assert fake.message({"content": None}) >= 0
    text = "word 我们 " * 50
    i, j = fake.clip(text, 20)
    assert fake.text(text[:i]) + fake.text(text[j:]) <= 20
    assert fake.clip(text, fake.text(text)) == (len(text), len(text))
