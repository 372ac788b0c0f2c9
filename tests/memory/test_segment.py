"""Words as keyword recall compares them: one form for both sides, in Chinese, Latin and mixed text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keepline.memory.segment import folded, holds, stem, term_ids, terms

FINDS = [
    ("部署", "今天把服务部署到云上"),
    ("张总", "请转告张总：合同已签。"),
    ("云", "今天把服务部署到云上"),
    ("云", "云"),
    ("café", "cafe\u0301 au lait"),
    ("cafe\u0301", "Café au lait"),
    ("AB123", "订单号ＡＢ１２３。"),
    ("ＡＢ１２３", "order ab123, please"),
    ("bệnh", unicodedata.normalize("NFD", "Tôi bị bệnh tim")),
    (unicodedata.normalize("NFD", "BỆNH"), "bệnh viện"),
    ("k8s", "用k8s部署三个节点"),
    ("部署", "用k8s部署三个节点"),
    ("发票", "（发票）"),
    ("hello", "“Hello”, she said."),
    ("STRASSE", "Die Straße ist lang"),
    ("ﬁle", "the file"),
    ("ありがとう", "本当にありがとうございます"),
    ("서울", "저는 서울에서 살아요"),
    ("กรุงเทพ", "ฉันอยู่กรุงเทพมหานคร"),
    ("invoices", "the invoice of May"),
    ("policies", "a policy"),
    ("planned", "planning ahead"),
]
MISSES = [
    ("部署", "部门负责签署"),
    ("张总", "总共三张"),
    ("AB123", "AB1234"),
    ("cafe", "Café au lait"),
    ("car", "carpet"),
]


@pytest.mark.req("RECALL-01")
@pytest.mark.parametrize(("query", "text"), FINDS)
def test_a_word_is_found_in_whatever_form_it_was_written(query: str, text: str) -> None:
    assert set(terms(query, query=True)) <= set(terms(text))


@pytest.mark.req("RECALL-01")
@pytest.mark.parametrize(("query", "text"), MISSES)
def test_a_word_is_not_found_in_another_word(query: str, text: str) -> None:
    assert not set(terms(query, query=True)) <= set(terms(text))


@pytest.mark.req("RECALL-01")
def test_a_single_character_is_asked_for_only_where_it_stands_alone() -> None:
    assert terms("云", query=True) == ["云"]
    assert terms("部署", query=True) == ["部署"]
    assert terms("部署") == ["部", "署", "部署"]


@pytest.mark.req("RECALL-01")
@given(st.text())
@example("ΐ İ ẞ ﬁ ㍍ 部署 e\u0301")
def test_all_normal_forms_of_a_text_have_the_same_terms(text: str) -> None:
    forms = {tuple(terms(unicodedata.normalize(form, text))) for form in ("NFC", "NFD")}
    assert len(forms) == 1


@pytest.mark.req("RECALL-01")
@given(st.text())
def test_every_text_is_found_by_its_own_words(text: str) -> None:
    assert set(terms(text, query=True)) <= set(terms(text))


@pytest.mark.req("RECALL-01")
@given(st.text(alphabet="ab 部署云é٣\ud800\x00,"))
def test_term_ids_are_sorted_and_count_every_term(text: str) -> None:
    ids, counts = term_ids(text)
    assert ids.tolist() == sorted(set(ids.tolist()))
    assert int(counts.sum()) == len(terms(text))
    assert len(ids) == len(set(terms(text)))


@pytest.mark.req("RECALL-01")
def test_a_very_frequent_term_is_counted_as_far_as_its_column_goes() -> None:
    _, counts = term_ids("a " * 70_000)
    assert counts.tolist() == [65_535]


@pytest.mark.req("RECALL-01")
@pytest.mark.parametrize(("word", "its_stem"), [
    ("cities", "city"), ("invoices", "invoic"), ("invoice", "invoic"), ("running", "run"), ("stopped", "stop"),
    ("quickly", "quick"),
    ("bus", "bus"), ("glass", "glass"), ("was", "was"), ("mp3s", "mp3s"), ("naïves", "naïves"), ("sing", "sing"),
])  # fmt: skip
def test_english_words_lose_their_endings_and_nothing_else_does(word: str, its_stem: str) -> None:
    assert stem(word) == its_stem


@pytest.mark.req("RECALL-07")
@pytest.mark.parametrize(("text", "words", "there"), [
    ("We use C++ here", ["c++"], True),
    ("We use C here", ["C++"], False),
    ("running", ["runs"], False),
    ("订单号ＡＢ１２３", ["ab123", "订单"], True),
    ("订单号ＡＢ１２３", ["ab123", "发票"], False),
    ("cafe\u0301", ["CAFÉ"], True),
    ("anything", [], True),
])
def test_a_keyword_stands_in_a_text_letter_for_letter_once_both_are_folded(text: str, words: list[str], there: bool) -> None:
    assert holds(text, words) is there
    assert all(folded(w) in folded(text) for w in words) is there
