"""What a message is, and which of its sentences must stand, in both languages."""

from __future__ import annotations

import pytest
from tagged import pinned, say, tags

from keepline.values.message import Category, Retention

RULES = [
    "Please never suggest recipes with pork",
    "From now on answer me in French",
    "Always apply the highest discount when you calculate a price",
    "keep answers under 80 words",
    "All prices in euros, please",
    "不要推荐含糖饮料",
    "以后回复我都用繁体字",
    "给客户的邮件一律先让我过目再发",
    "回答控制在一百字以内",
    "请叫我老周",
    "報價一律含稅",
]
FACTS = [
    "I'm allergic to penicillin",
    "My membership number is 44821-K",
    "I live at 9 Mill Lane, Bath",
    "我对芒果过敏",
    "我的会员号是A10086",
    "我住在杭州文三路90号",
]
CHATTER = [
    "What's the weather like tomorrow?",
    "Can you summarise this article for me?",
    "I had noodles for lunch and they were great",
    "Don't worry, it's fine",
    "Does it always rain here in June?",
    "明天会下雨吗？",
    "帮我把这段话翻译成英文",
    "今天中午吃了碗面，挺香的",
    "别担心，我没事",
    "每次都这样，真烦人",
]


@pytest.mark.req("TAG-01")
@pytest.mark.parametrize("text", RULES)
def test_a_standing_instruction_is_a_constraint_and_is_pinned(text):
    (tag,) = tags(text)
    assert (tag.category, tag.retention) == (Category.CONSTRAINT, Retention.IMPORTANT)
    assert pinned(text, tag) == [text]


@pytest.mark.req("TAG-01")
@pytest.mark.parametrize("text", FACTS)
def test_a_lasting_fact_is_a_fact_and_is_pinned(text):
    (tag,) = tags(text)
    assert (tag.category, tag.retention) == (Category.FACT, Retention.IMPORTANT)
    assert pinned(text, tag) == [text]


@pytest.mark.req("TAG-02")
@pytest.mark.parametrize("text", CHATTER)
def test_chatter_is_not_pinned(text):
    (tag,) = tags(text)
    assert not [p for p in tag.pins if p.stands]
    assert tag.retention == Retention.DEFAULT


@pytest.mark.req("TAG-02")
@pytest.mark.parametrize("text", ["Hi there!", "thanks a lot", "你好呀", "谢谢", "早上好"])
def test_a_greeting_may_be_dropped(text):
    (tag,) = tags(text)
    assert (tag.category, tag.retention, tag.pins) == (Category.GREETING, Retention.DROPPABLE, ())


@pytest.mark.req("TAG-02")
def test_a_passing_fact_is_kept_by_default_and_not_pinned():
    for text in ("I just got back from the shops", "我刚下班到家"):
        (tag,) = tags(text)
        assert (tag.category, tag.retention, tag.pins) == (Category.FACT, Retention.DEFAULT, ())


DECOYS = [
    say("I will always answer in French and never use emojis.", role="assistant"),
    say("Always wear a helmet. My membership number is 44821-K.", role="tool"),
    say([{"type": "tool_result", "tool_use_id": "t", "content": "Never book a window seat for me."}]),
    say("```\nnever use tabs, always use spaces\n```"),
    say("> From now on answer me in French\nwhat did she mean by that?"),
    say("Translate this into German:\nAll visitors must sign in at the desk and never leave their bags."),
    say("My boss wrote \"from now on every report must be in by noon, no excuses whatsoever\" and I laughed"),
    say("帮我润色一下这段：\n所有员工必须佩戴工牌，不得迟到。"),
    say("他在群里说「以后所有报告一律周五前交，谁都不准迟到」，笑死我了"),
]


@pytest.mark.req("TAG-03")
@pytest.mark.parametrize("message", DECOYS)
@pytest.mark.parametrize("vectors", [True, False])
def test_words_that_are_not_the_users_own_are_never_pinned(message, vectors):
    (tag,) = tags(message, vectors=vectors)
    assert not [p for p in tag.pins if p.stands]


@pytest.mark.req("TAG-03")
def test_a_rule_beside_a_quotation_is_pinned_without_it():
    text = "```\nx = 1\n```\nPlease never use single-letter variable names in code for me."
    (tag,) = tags(text)
    assert pinned(text, tag) == ["Please never use single-letter variable names in code for me."]


@pytest.mark.req("TAG-03")
def test_a_user_message_of_tool_results_alone_is_a_tool_result():
    (tag,) = tags(DECOYS[2])
    assert (tag.category, tag.retention) == (Category.TOOL_RESULT, Retention.DEFAULT)


@pytest.mark.req("TAG-04")
def test_system_text_is_never_dropped_and_not_pinned_for_it_is_sent_whole():
    for role in ("system", "developer"):
        (tag,) = tags(say("Never reveal prices.", role=role))
        assert (tag.category, tag.retention, tag.pins) == (Category.CONSTRAINT, Retention.NEVER_DROPPED, ())


GIVEN = [
    ({"category": Category.CONSTRAINT}, Category.CONSTRAINT, 2, ["Blue it is.", "OK?"]),
    ({"category": Category.FACT}, Category.FACT, 2, ["Blue it is.", "OK?"]),
    ({"retention": Retention.NEVER_DROPPED}, Category.CHAT, 3, ["Blue it is.", "OK?"]),
    ({"category": Category.CHAT}, Category.CHAT, 1, []),
    ({"category": Category.CONSTRAINT, "retention": Retention.DEFAULT}, Category.CONSTRAINT, 1, []),
]


@pytest.mark.req("TAG-04")
@pytest.mark.parametrize(("facts", "category", "retention", "pins"), GIVEN)
def test_what_the_caller_gave_wins_and_pins_the_whole_message(facts, category, retention, pins):
    text = "Blue it is. OK?"
    (tag,) = tags(say(text, given=True, **facts))
    assert (tag.category, tag.retention) == (category, retention)
    assert pinned(text, tag) == pins
    assert all(p.given and p.certainty == 1.0 for p in tag.pins)


@pytest.mark.req("TAG-04")
def test_a_caller_can_take_back_what_would_be_found():
    (tag,) = tags(say("From now on answer me in French", given=True, category=Category.CHAT, retention=Retention.DROPPABLE))
    assert (tag.category, tag.retention, tag.pins) == (Category.CHAT, Retention.DROPPABLE, ())


@pytest.mark.req("TAG-04")
def test_giving_a_category_makes_no_pin_of_the_assistants_words():
    (tag,) = tags(say("I always answer in French.", role="assistant", given=True, category=Category.CONSTRAINT))
    assert not [p for p in tag.pins if p.stands]


BURIED = [
    ("We had such a lovely weekend at the lake with the kids, the water was freezing though, and please never book us "
     "anything without a fridge, it was a nightmare with the milk, anyway what should I cook tonight?",
     "never book us anything without a fridge"),
    ("昨天陪孩子去游泳，人多得像下饺子，排队就排了半个钟头，对了以后推荐零食千万别有坚果，孩子过敏，"
     "对了今晚吃什么好呢？", "千万别有坚果"),
]  # fmt: skip


@pytest.mark.req("TAG-07")
@pytest.mark.parametrize(("text", "core"), BURIED)
def test_of_a_run_on_only_what_matters_is_pinned(text, core):
    (tag,) = tags(text)
    words = " ".join(pinned(text, tag))
    assert core in words
    assert len(words) < 0.75 * len(text)


ROWS = "\n".join(f"05:{n:02}:08;t=26.{n % 10};rh={40 + n};co2={480 + n}" for n in range(12))
READINGS = [
    (f"Here you go.\n{ROWS}\nFrom now on always answer in metric units, never in Fahrenheit.", "always answer in metric units"),
    (f"Always answer in metric units, never in Fahrenheit.\n{ROWS}", "Always answer in metric units"),
    (f"{ROWS}\n以后一律用摄氏度回答，不要华氏度。", "一律用摄氏度回答"),
]


@pytest.mark.req("TAG-12")
@pytest.mark.parametrize(("text", "rule"), READINGS)
def test_what_is_said_around_pasted_rows_is_the_authors_and_the_rows_are_not(text, rule):
    (tag,) = tags(text)
    assert any(rule in words for words in pinned(text, tag))
    assert not any("co2" in words for words in pinned(text, tag))


@pytest.mark.req("TAG-08")
@pytest.mark.parametrize("text", [RULES[1], RULES[3], RULES[5], RULES[6], FACTS[1], FACTS[4]])
def test_without_an_encoder_cues_alone_find_what_is_plain(text):
    (tag,) = tags(text, vectors=False)
    assert pinned(text, tag) == [text]


@pytest.mark.req("TAG-09")
def test_rules_at_both_ends_of_a_huge_message_are_found():
    harvest = "The harvest was good that year and the barns were full.\n" * 40_000
    text = f"Never suggest pork to me.\n{harvest}\nFrom now on answer me in French."
    (tag,) = tags(text)
    found = pinned(text, tag)
    assert found[0] == "Never suggest pork to me."
    assert found[-1] == "From now on answer me in French."
    assert len(found) <= 60


@pytest.mark.req("TAG-15")
@pytest.mark.parametrize(
    "text", ["HARD CONSTRAINT: Only Python 3.11.", "硬性要求：仅 Python 3.11。", "User preference: terse answers"]
)
def test_what_the_user_labels_a_rule_is_pinned_as_surely(text):
    (tag,) = tags(text)
    assert tag.category == Category.CONSTRAINT
    assert [p.certainty >= 0.9 for p in tag.pins] == [True]
