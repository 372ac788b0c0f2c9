"""clip: what may stay of a text, and never a token or half a character more."""

from __future__ import annotations

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keepline.providers.tokenizers import counter

NAMES = ["o200k_base", "cl100k_base", "claude-sonnet-4-5", "claude-opus-4-7", "qwen3"]
JOINED = ["👩‍👩‍👧‍👦", "🇨🇳", "e\u0301", "각", "क्षि", "\r\n", "👍🏽", "ok ", "我们", "。", "word ", "7"]
texts = st.lists(st.sampled_from(JOINED) | st.characters(exclude_categories=["Cs"]), max_size=80).map("".join)


def ends(text: str) -> set[int]:
    """The places between the characters of a text."""
    return {0, *(m.end() for m in regex.finditer(r"\X", text))}


def used(name: str, text: str, i: int, j: int) -> int:
    return counter(name).text(text[:i]) + counter(name).text(text[j:])


@pytest.mark.req("TOKENS-09")
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150, deadline=None)
@given(text=texts, tokens=st.integers(-1, 60))
def test_what_stays_fits_and_its_characters_are_whole(name: str, text: str, tokens: int) -> None:
    i, j = counter(name).clip(text, tokens)
    assert 0 <= i <= j <= len(text)
    if (i, j) == (len(text), len(text)):
        assert counter(name).text(text) <= max(tokens, 0)
    else:
        assert used(name, text, i, j) <= max(tokens, 0)
        assert {i, j} <= ends(text)


@pytest.mark.req("TOKENS-09")
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100, deadline=None)
@given(text=texts.filter(bool))
@example(text="👩‍👩‍👧‍👦我们我们我们我们我们7?@7\x95")  # 25.000000000000004 estimated tokens
def test_an_exact_fit_is_kept_whole_and_one_token_less_is_not(name: str, text: str) -> None:
    count = counter(name)
    assert count.clip(text, count.text(text)) == (len(text), len(text))
    assert count.clip(text, count.text(text) - 1)[0] < len(text)


@pytest.mark.req("TOKENS-09")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("line", ["the build failed because of a missing header. ", "我们下周三之前要迁移报销系统。"])
@pytest.mark.parametrize("tokens", [2, 11, 100, 1_000, 9_999])
def test_the_tail_keeps_half_and_little_is_wasted(name: str, line: str, tokens: int) -> None:
    text = line * 20_000
    i, j = counter(name).clip(text, tokens)
    head, tail = counter(name).text(text[:i]), counter(name).text(text[j:])
    assert head + tail <= tokens
    assert head + tail >= tokens - 4
    assert tail >= head - 4


@pytest.mark.req("TOKENS-09")
@pytest.mark.parametrize("unit", ["the build failed. ", "我们今天去公园，", "👩‍👩‍👧‍👦🇨🇳", " ", "aGVsbG8gd29ybGQ"])
def test_twenty_megabytes_are_clipped(unit: str) -> None:
    text = unit * (20_000_000 // len(unit))
    i, j = counter().clip(text, 4_000)
    assert 3_900 <= used("o200k_base", text, i, j) <= 4_000


@pytest.mark.req("TOKENS-09")
def test_nothing_stays_of_a_character_that_does_not_fit() -> None:
    family = "👩‍👩‍👧‍👦"
    assert counter().clip(family, counter().text(family) - 1) == (0, len(family))
    assert counter().clip("", 0) == (0, 0)
    assert counter().clip("word", 0) == (0, 4)
