"""Which standing pins later words end: withdrawn, replaced, limited, or left alone on doubt."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tagged import SCOPE, embedded, ended, say, standing, tags

from keepline.context.tagging import settle_tags
from keepline.ports.encoder import Embed
from keepline.ports.flow import run
from keepline.ports.store import GetPins, GetRows, GetSession, PutRows, PutSession, PutUser, Read, Row, Write
from keepline.stores import open as open_store
from keepline.values.session import Session
from keepline.values.tag import RULE_FROM

WITHDRAWN = [
    (["Please don't use emojis in your replies", "I'm allergic to peanuts", "you can use emojis again"], {(2, 0)}),
    (["always answer in Spanish", "my member number is 44821-K", "the Spanish thing is over, English is fine now"], {(2, 0)}),
    (["all prices in euros please", "I have two kids", "you can stop converting to euros"], {(2, 0)}),
    (["以后回复都用繁体", "我对花生过敏", "不用繁体了"], {(2, 0)}),
    (["回复别带表情", "每周三下午别安排会", "可以用表情了"], {(2, 0)}),
    (["給我的回覆一律用條列式", "我對蝦過敏", "條列式不用了"], {(2, 0)}),
    (["never suggest pork", "always answer in Spanish", "I live in York", "forget all my earlier rules"], {(3, 0), (3, 1)}),
]
REPLACED = [
    (["our budget limit is 120 per night", "I live in York", "the limit is 150 now"], {(2, 0)}),
    (["invoices go to accounts@fir.example", "never mention my ex",
      "the invoice address changed, use billing@fir.example"], {(2, 0)}),
    (["会员号是A10086", "邮箱是a@x.com", "会员号换成B20099了"], {(2, 0)}),
    (["我住南京", "我吃素", "我搬到苏州了"], {(2, 0)}),
]  # fmt: skip
DOUBT = [
    ["never mention my ex", "all dates as DD/MM please", "never mind, found it"],
    ["keep answers under 100 words", "never book red-eye flights for me", "I'm fine now, thanks for asking"],
    ["order A-5519 is for mum", "order B-7712 is for dad", "gift wrap everything please"],
    ["不要推荐含糖饮料", "输出都用表格", "算了，不聊这个了"],
    ["以后回复都用繁体", "我对花生过敏", "那家店不做外卖了，可惜"],
]


@pytest.mark.req("TAG-05")
@pytest.mark.parametrize(("messages", "endings"), WITHDRAWN)
def test_a_rule_ends_when_the_user_takes_it_back(messages, endings):
    assert ended(tags(*messages)) == endings


@pytest.mark.req("TAG-05")
@pytest.mark.parametrize(("messages", "endings"), REPLACED)
def test_what_is_replaced_ends_and_what_replaces_it_stands(messages, endings):
    found = tags(*messages)
    assert ended(found) == endings
    assert len(messages) - 1 in {p.seq for p in standing(found)}


@pytest.mark.req("TAG-05")
@pytest.mark.parametrize("messages", DOUBT)
def test_on_doubt_both_stand(messages):
    assert ended(tags(*messages)) == set()


LATER_WORDS = [
    ("Put the words \"without prejudice\" at the head of all letters to the other side.",
     "Mr Abara objects: stop that heading on letters to the other side unless he asks for it."),
    ("Pocket money is two pounds a week each.", "They argued well: pocket money goes by age now, 50p per year of age."),
    ("给对方的函都标“不构成让步”。", "主任嫌啰嗦，给对方的函上那句话不标了。"),
    ("零花钱每周五块，一人一份。", "他俩理由充分，零花钱不按周平分了，岁数乘一块。"),
]


@pytest.mark.req("TAG-13")
@pytest.mark.parametrize(("rule", "later"), LATER_WORDS)
def test_later_words_about_a_rule_end_it_or_stand_beside_it(rule, later):
    found = tags(rule, "I'm allergic to peanuts", later)
    certainty = {p.seq: p.certainty for p in standing(found)}
    assert 0 not in certainty or certainty[2] >= min(certainty[0], RULE_FROM)


@pytest.mark.req("TAG-05")
def test_the_assistant_and_quoted_words_end_nothing():
    rule = "以后回复都用繁体"
    assert ended(tags(rule, say("不用繁体了", role="assistant"))) == set()
    assert ended(tags(rule, "他说「不用繁体了，以后大家都写简体就可以了」")) == set()


@pytest.mark.req("TAG-06")
@pytest.mark.parametrize(("messages", "day"), [
    (["reply in Spanish from now on", "I have two kids", "the Spanish rule only runs until Friday"], "2026-08-14"),
    (["用英文回复我", "我在备考雅思", "英文那条只到周五"], "2026-08-14"),
])  # fmt: skip
def test_a_rule_limited_to_a_day_holds_to_that_day(messages, day):
    found = tags(*messages)
    assert ended(found) == set()
    assert [p.until for p in found[0].pins] == [day]


@pytest.mark.req("TAG-06")
def test_a_rule_that_says_how_long_it_holds_carries_the_day():
    (tag,) = tags("Until Friday please answer me in Spanish only")
    assert [p.until for p in tag.pins] == ["2026-08-14"]


AT = datetime(2026, 8, 12, tzinfo=UTC)


def stored(*texts):
    store = open_store("sqlite://:memory:")
    session = Session(name="s", number=-1, started=AT, count=len(texts))
    rows = tuple(Row(message=say(t).evolve(seq=n, id=f"m{n}")) for n, t in enumerate(texts))
    store.write(Write((PutUser(SCOPE, b"k" * 32), PutSession(SCOPE, session), PutRows(SCOPE, rows))))
    return store


def settle(store, limit, vectors=True):
    meet = {
        Read: store.read, Write: store.write,
        Embed: (lambda need: embedded().encode(need.texts)) if vectors else (lambda need: None),
    }  # fmt: skip
    done = []
    while took := run(settle_tags(SCOPE, limit), meet):
        done.append(took)
    (session,) = store.read(Read((GetSession(SCOPE),)))
    return done, store.read(Read((GetPins(SCOPE, session.spans), GetRows(SCOPE, session.spans))))


TALK = [
    "hello", "always answer in Spanish", "keep replies under 90 words please", "what is up?",
    "the Spanish thing is over, English again", "the 90 words rule only holds until Friday", "thanks",
]  # fmt: skip


@pytest.mark.req("TAG-08")
@pytest.mark.parametrize("limit", [1, 2, 100])
def test_batches_of_any_size_end_in_the_same_pins(limit):
    store = stored(*TALK)
    done, (pins, rows) = settle(store, limit)
    assert sum(done) == len(TALK)
    assert all(r.message.category is not None for r in rows)
    assert [(p.ended_by, p.until) for p in pins if p.seq in (1, 2)] == [(4, None), (None, "2026-08-14")]
    assert settle(store, limit)[0] == []
    store.close()


@pytest.mark.req("TAG-08")
def test_tags_come_without_an_encoder_too():
    store = stored(*TALK)
    _, (pins, rows) = settle(store, 100, vectors=False)
    assert {p.seq for p in pins} >= {1}
    assert all(r.message.retention is not None for r in rows)
    store.close()
