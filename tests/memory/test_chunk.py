"""Long text in pieces: nothing lost, nothing twice, no character parted, no piece longer than an encoder reads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepline.memory.chunk import MOST, chunks
from keepline.values.text import safe_cut

SENTENCE = "The order was sent to Ghent on Monday. "
CHINESE = "订单已经发往根特。"
PARTS = [SENTENCE, CHINESE, "x" * 700, "\n\n", "🇧🇪", " " * 900, "\ud800", "\x00"]


def covered(text: str) -> bool:
    """Whether the pieces stand in order, apart, and leave out only blank text."""
    at = 0
    for start, end in chunks(text):
        if not at <= start < end or text[at:start].strip():
            return False
        at = end
    return not text[at:].strip()


@pytest.mark.req("RECALL-02")
def test_a_short_text_is_one_piece_and_a_blank_one_is_none() -> None:
    assert chunks("I live in Ghent.") == [(0, 16)]
    assert chunks("") == []
    assert chunks(" \n\u3000") == []


@pytest.mark.req("RECALL-02")
@pytest.mark.parametrize("sentence", [SENTENCE, CHINESE, "line without a full stop\n"])
def test_cuts_fall_behind_sentences(sentence: str) -> None:
    text = sentence * 300
    pieces = chunks(text)
    assert len(pieces) > 2
    assert covered(text)
    assert all(end % len(sentence) == 0 for _, end in pieces)


@pytest.mark.req("RECALL-02")
@pytest.mark.parametrize(("text", "longest"), [("word " * 5000, 922), ("字" * 5000, 320), ("x" * 5000, 922)])
def test_no_piece_is_longer_than_an_encoder_reads(text: str, longest: int) -> None:
    assert max(end - start for start, end in chunks(text)) <= longest
    assert covered(text)


@pytest.mark.req("RECALL-02")
@pytest.mark.parametrize("character", ["👨‍👩‍👧‍👦", "e\u0301", "🇧🇪", "क्षि"])
def test_no_character_is_parted(character: str) -> None:
    text = character * 2000
    assert covered(text)
    assert all(safe_cut(text, end) == end for _, end in chunks(text))


@pytest.mark.req("RECALL-02")
@settings(max_examples=60)
@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join))
def test_pieces_cover_any_text_in_order_and_once(text: str) -> None:
    assert covered(text)


@pytest.mark.req("RECALL-02")
def test_of_a_pasted_file_the_beginning_and_the_end_are_indexed() -> None:
    text = "begin " + "m" * (MOST + 50_000) + " end"
    pieces = chunks(text)
    assert pieces[0][0] == 0
    assert pieces[-1][1] == len(text)
    assert sum(end - start for start, end in pieces) <= MOST + 2
