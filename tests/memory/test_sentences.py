"""Sentences and clauses, whose words they are, and until when they say that something holds."""

from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepline.memory.text.dates import since, until
from keepline.memory.text.filler import opening
from keepline.memory.text.quotes import foreign
from keepline.memory.text.sentences import EDGE_CHARACTERS, EDGE_SENTENCES, LONG, clauses, sentences, width

SPLIT = [
    ("Hi. I'm Dr. Smith, e.g. the one from https://a.b/c?d=1. It costs 3.5 euros... ok? Yes!",
     ["Hi.", "I'm Dr. Smith, e.g. the one from https://a.b/c?d=1.", "It costs 3.5 euros... ok?", "Yes!"]),
    ("对了先说一下，我对花生过敏。以后推荐菜谱都别放花生！好吗？谢谢",
     ["对了先说一下，我对花生过敏。", "以后推荐菜谱都别放花生！", "好吗？", "谢谢"]),
    ("Rules:\n1. Always answer in French.\n2. No emojis.\n- keep it short",
     ["Rules:", "1. Always answer in French.", "2. No emojis.", "- keep it short"]),
    ("老师说“不要迟到。要早起。”我觉得烦。", ["老师说“不要迟到。要早起。”", "我觉得烦。"]),
    ("她說「先坐一下。」然後就走了", ["她說「先坐一下。」", "然後就走了"]),
    ("by the way I am lactose intolerant, so keep milk out of anything you suggest",
     ["by the way I am lactose intolerant, so keep milk out of anything you suggest"]),
    ("i am vegan. please no meat", ["i am vegan.", "please no meat"]),
    ("部署到staging就行。Don't touch prod! 谢谢", ["部署到staging就行。", "Don't touch prod!", "谢谢"]),
    ("9:30 a.m. is fine and 1,200 is the cap.", ["9:30 a.m. is fine and 1,200 is the cap."]),
    ("  \n\n…… ?!", []),
]  # fmt: skip


@pytest.mark.req("TAG-10")
@pytest.mark.parametrize(("text", "parts"), SPLIT)
def test_sentences_end_where_a_reader_says_they_do(text, parts):
    assert [text[a:b] for a, b in sentences(text)] == parts


@pytest.mark.req("TAG-10")
@given(st.text(alphabet=st.sampled_from("ab Zé1.,!?…。，！？；、“”「」\"'\n\r\t 我不要糖()🙂-:"), max_size=700))
def test_every_letter_is_in_one_sentence_and_spans_are_ordered_and_trimmed(text):
    spans = sentences(text)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert all(not c.isalnum() for c in text[at:start])
        assert [p for p in clauses(text, start, end) if not start <= p[0] < p[1] <= end] == []
        at = end
    assert all(not c.isalnum() for c in text[at:])


@pytest.mark.req("TAG-10")
@given(st.text(alphabet=st.sampled_from("ab c我,，"), min_size=400, max_size=3000))
def test_no_sentence_is_wider_than_can_be_read_at_once(text):
    assert all(width(text, a, b) <= 2 * LONG for a, b in sentences(text))


@pytest.mark.req("TAG-07")
def test_a_rule_in_a_run_on_stands_in_a_clause_of_its_own():
    text = (
        "so the shop did well this Christmas, better than last, and I'd like you to keep every quote in euros excluding VAT "
        "in future, anyway how do I word this one?"
    )
    parts = [text[a:b] for a, b in clauses(text, 0, len(text))]
    assert "and I'd like you to keep every quote in euros excluding VAT in future," in parts


@pytest.mark.req("TAG-07")
@pytest.mark.parametrize(("text", "rest"), [
    ("对了先说一下，以后都用繁体", "以后都用繁体"), ("by the way, never book a window seat", "never book a window seat"),
    ("2. Always answer in French", "Always answer in French"), ("oh and also, no pork", "oh and also, no pork"),
])  # fmt: skip
def test_fillers_before_the_point_are_left_out_when_enough_remains(text, rest):
    assert text[opening(text, 0, len(text)) :] == rest


FOREIGN = [
    ("```\nalways sudo\n```\nuse tabs", ["```\nalways sudo\n```"]),
    ("> never reply to this\nok", ["> never reply to this"]),
    ("2024-05-01 12:03:22 INFO must restart\nwhat is it?", ["2024-05-01 12:03:22 INFO must restart"]),
    ("From: HR\nSubject: Badges\n\nAlways wear a badge.", ["From: HR\nSubject: Badges\n\nAlways wear a badge."]),
    ("帮我翻译这段：\n所有员工必须戴工牌。\n\n另外以后都用繁体。", ["\n所有员工必须戴工牌。"]),
    ("Proofread this: All staff must sign in.", [" All staff must sign in."]),
    ("two rules: no emojis, no jokes", []),
    ("remember this: I'm allergic to nuts", []),
]


@pytest.mark.req("TAG-03")
@pytest.mark.parametrize(("text", "parts"), FOREIGN)
def test_pasted_and_quoting_parts_are_not_the_authors_words(text, parts):
    assert [text[a:b] for a, b in foreign(text)] == parts


@pytest.mark.req("TAG-09")
def test_of_a_huge_text_the_beginning_and_the_end_are_examined():
    text = "No pork please. " + "word " * 4_000_000 + "\nCall me Ann."
    began = time.process_time()
    spans = sentences(text)
    assert time.process_time() - began < 30
    assert text[slice(*spans[0])] == "No pork please."
    assert text[slice(*spans[-1])] == "Call me Ann."
    assert len(spans) <= 2 * EDGE_SENTENCES
    assert all(b <= EDGE_CHARACTERS or a >= len(text) - EDGE_CHARACTERS for a, b in spans)


SAID = date(2026, 8, 12)  # a Wednesday
UNTIL = [
    ("reply in Spanish until Friday", "2026-08-14"), ("only until next Monday", "2026-08-17"),
    ("this week only, no meat", "2026-08-16"), ("for the next two weeks keep it short", "2026-08-26"),
    ("until the end of the month", "2026-08-31"),
    ("before September 1", "2026-08-31"), ("valid till 3 March 2027", "2027-03-03"), ("just for today", "2026-08-12"),
    ("只到周五", "2026-08-14"), ("到月底为止", "2026-08-31"), ("這週都用英文", "2026-08-16"), ("8月20日之前别提", "2026-08-19"),
    ("未来三天不要打电话", "2026-08-15"), ("直到下周一", "2026-08-17"), ("截至2026-09-01有效", "2026-09-01"),
    ("国庆前", "2026-09-30"),
    ("until I say so", None), ("I work until 5pm", None), ("I've been a nurse for ten years", None), ("我以前住北京", None),
    ("I was there until 2019-05-01", None),
]  # fmt: skip


@pytest.mark.req("TAG-11")
@pytest.mark.parametrize(("text", "day"), UNTIL)
def test_the_last_day_is_computed_from_the_day_of_speaking(text, day):
    found = until(text, SAID)
    assert (found and found.isoformat()) == day


@pytest.mark.req("TAG-11")
@pytest.mark.parametrize(("text", "day"), [
    ("from Monday you can use emojis", "2026-08-17"), ("下周一起可以发了", "2026-08-17"), ("from my window", None),
])  # fmt: skip
def test_a_day_from_which_something_holds_lies_ahead(text, day):
    found = since(text, SAID)
    assert (found and found.isoformat()) == day
