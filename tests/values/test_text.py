"""Whole characters: cutting and cleaning text."""

from __future__ import annotations

import json

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from keepline.values.text import clean, clean_body, safe_cut

MIXED = "ok🎉👩‍👩‍👧‍👦🇨🇳e\u0301末"
ODD = ["👩‍👩‍👧‍👦", "🇨🇳", "🇨", "e\u0301", "\u0301", "\u200d", "각", "ᄀ", "क्षि", "\u0600", "\r\n", "\r", "\n", "a", "我", "👍🏽"]
pieces = st.sampled_from(ODD)
texts = st.lists(pieces | st.characters(exclude_categories=["Cs"]), max_size=25).map("".join)


@pytest.mark.req("TEXT-01")
@settings(max_examples=500, deadline=None)
@given(text=texts, i=st.integers(-2, 80))
def test_a_cut_falls_on_the_last_character_end_before_it(text: str, i: int) -> None:
    ends = [0, *(m.end() for m in regex.finditer(r"\X", text))]
    assert safe_cut(text, i) == max(end for end in ends if end <= max(i, 0))


@pytest.mark.req("TEXT-01")
def test_every_cut_of_a_mixed_text_is_whole() -> None:
    cuts = {MIXED[: safe_cut(MIXED, n)] for n in range(20)}
    family, flag = "ok🎉👩‍👩‍👧‍👦", "ok🎉👩‍👩‍👧‍👦🇨🇳"
    assert cuts == {"", "o", "ok", "ok🎉", family, flag, flag + "e\u0301", MIXED}


@pytest.mark.req("TEXT-01")
def test_a_surrogate_pair_is_not_parted() -> None:
    assert safe_cut("a\ud83d\ude00b", 2) == 1
    assert safe_cut("a\ud83d\ude00b", 3) == 3


@pytest.mark.req("TEXT-01")
@pytest.mark.parametrize("unit", ["👩‍👧", "🇨🇳", "中", "a\u0301", "x"])
def test_cuts_of_very_long_texts_are_the_same_as_of_short_ones(unit: str) -> None:
    text = unit * 400
    assert safe_cut(text, len(unit) * 200 + len(unit) - 1) == len(unit) * 200


@pytest.mark.req("TEXT-02")
@settings(max_examples=200, deadline=None)
@given(text=st.text(st.characters() | st.characters(categories=["Cs"]), max_size=20))
def test_clean_text_can_be_encoded_and_clean_text_stays(text: str) -> None:
    assert clean(text).encode().decode() == clean(text)
    assert clean(clean(text)) == clean(text)


@pytest.mark.req("TEXT-02")
def test_halves_become_replacement_characters_and_pairs_their_character() -> None:
    assert clean("half \ud83d from") == "half \ufffd from"
    assert clean("\ude00\ud83d") == "\ufffd\ufffd"
    assert clean("\ud83d\ude00") == "😀"


@pytest.mark.req("TEXT-02")
def test_a_clean_body_is_the_same_object_and_a_broken_one_a_new_one() -> None:
    body = {"role": "user", "content": [{"type": "text", "text": "好 🎉"}], "n": 1, "x": None}
    assert clean_body(body) is body
    broken = {"role": "user", "content": [{"type": "text", "text": "\ud83d"}, {"k\ud83d": ("a", "\ude00")}], "same": body}
    mended = clean_body(broken)
    assert json.dumps(mended, ensure_ascii=False).encode()
    assert mended["content"] == [{"type": "text", "text": "\ufffd"}, {"k\ufffd": ["a", "\ufffd"]}]
    assert mended["same"] is body
    assert broken["content"][0] == {"type": "text", "text": "\ud83d"}
