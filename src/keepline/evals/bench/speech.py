"""Made-up talk and memories, English and Chinese, the same for the same seed. Sizes as in real chats: 20 to 200 characters.

Means nothing; no two sentences of a kind are alike but by chance.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

_WHO = ("Ana", "Tomas", "my sister", "the new neighbour", "Dr. Lindqvist", "our landlord", "Yusuf", "the head of design",
        "my cousin Mei", "the plumber", "Ilse", "a friend from Ghent")  # fmt: skip
_WHERE = ("Lisbon", "the office in Malmö", "a village near Graz", "the old harbour", "Ghent", "our cellar", "the clinic",
          "Osaka", "the community garden", "the night train", "a bakery in Lyon", "the north gate")  # fmt: skip
_WHAT = ("a second-hand bicycle", "the quarterly report", "sourdough bread", "the insurance papers", "a wooden bookshelf",
         "the guest list", "a heat pump", "the violin lessons", "two train tickets", "the migration of the database",
         "a jar of plum jam", "the blue folder", "the broken dishwasher", "the garden fence")  # fmt: skip
_WHEN = ("last Tuesday", "in early May", "before the holidays", "on the 14th", "this morning", "two weeks ago",
         "at half past nine", "on Sunday evening", "during the storm", "right after lunch")  # fmt: skip
_SAID = (
    "{who} picked up {what} in {where} {when}, and it cost {n} euros.",
    "I talked with {who} about {what} {when}; we agreed to meet in {where}, room {n}.",
    "The code for {where} is {n}, {who} sent it {when}.",
    "{when} {who} called because {what} had not arrived in {where} yet, order {n}.",
    "We moved {what} to {where} {when} since {who} needed the room for {n} boxes.",
    "Can you help me write to {who} about {what}? It happened {when} in {where}, case {n}.",
)
_CHATTED = (
    "How would you get {what} through the narrow door in {where}?",
    "What do people in {where} usually do with {what} when it rains?",
    "Could you explain how {what} works, as {who} would put it?",
    "Write two friendly lines to {who} about {what}.",
    "I walked past {where} {when}, it smelled of rain and coffee.",
    "Tell me something about the history of {where}, please.",
    "{who} told a funny story about {what} {when}, we laughed a lot.",
    "Is {n} a sensible number of guests for an evening in {where}?",
)
_ANSWERED = (
    "That depends on the weather. With {what} one usually starts early, takes a break, and looks again {when}.",
    "People in {where} would say that {what} has a mind of its own; {who} seems to agree with them.",
    "Here is a short draft: \"Dear {who}, thank you for {what}. I was in {where} and thought of you.\"",
    "The history of {where} goes back to a market; later there were workshops, and {n} years ago a small theatre.",
)
_WHO_ZH = ("小周", "我表姐", "新来的同事", "房东", "李医生", "妈妈", "隔壁老王", "设计组的陈默")
_WHERE_ZH = ("成都", "朝阳区的办公室", "老码头", "地下室", "苏州", "社区花园", "北门", "医院")
_WHAT_ZH = ("二手自行车", "季度报告", "保险单", "书架", "两张火车票", "数据库迁移", "一罐梅子酱", "洗碗机")
_WHEN_ZH = ("上周二", "五月初", "放假前", "今天早上", "两周前", "周日晚上", "午饭后", "九点半")
_SAID_ZH = (
    "{when}{who}在{where}取了{what}，一共{n}元。",
    "我{when}跟{who}聊了{what}的事，约在{where}见面，编号{n}。",
    "{where}的密码是{n}，{who}{when}发给我的。",
)
_CHATTED_ZH = (
    "{what}怎么才能搬进{where}的小门？",
    "{where}下雨的时候大家一般做什么？",
    "{who}{when}讲了个关于{what}的笑话，我们笑了半天。",
    "帮我给{who}写两句关于{what}的话吧。",
)
_ANSWERED_ZH = (
    "这要看天气。{what}这种事，一般先早点开始，中间歇一歇。",
    "{where}以前是个集市，后来有了作坊，{n}年前还有过一个小剧场。",
)
_ASKED = ("What did {who} say about {what}?", "How much was {what} in {where}, and who paid?",
          "When was I in {where} with {who}?", "Which code did {who} send me for {where}?",
          "Remind me what we agreed about {what}.")  # fmt: skip
_RULES = ("Please never suggest anything with {n} grams of sugar or more, {who} is diabetic.",
          "Always answer in two short paragraphs, even about {what}.", "I am allergic to the varnish on {what}.")  # fmt: skip
RULE_EVERY = 100
"""Of so many messages one is a standing rule."""


def sentences(n: int, seed: int = 1) -> Iterator[str]:
    """`n` things that a person says, one in five in Chinese, no two alike: each has a number of its own."""
    dice = random.Random(seed)
    for k in range(n):
        yield _made(dice, _SAID_ZH if k % 5 == 4 else _SAID, chinese=k % 5 == 4, number=10 + k)


def talk(n: int, seed: int = 1) -> Iterator[dict[str, str]]:
    """`n` chat messages, user and assistant in turn; now and then a standing rule."""
    dice = random.Random(seed)
    for k in range(n):
        chinese = k // 2 % 5 == 4
        if k % 2:
            yield {"role": "assistant", "content": _made(dice, _ANSWERED_ZH if chinese else _ANSWERED, chinese=chinese)}
        elif k % RULE_EVERY == 0:
            yield {"role": "user", "content": _made(dice, _RULES)}
        else:
            yield {"role": "user", "content": _made(dice, _CHATTED_ZH if chinese else _CHATTED, chinese=chinese)}


def questions(n: int, seed: int = 2) -> Iterator[str]:
    """`n` questions, hardly two of them the same."""
    dice = random.Random(seed)
    for k in range(n):
        yield f"{_made(dice, _ASKED)[:-1]} ({k})?"


def _made(dice: random.Random, forms: tuple[str, ...], *, chinese: bool = False, number: int | None = None) -> str:
    pools = (_WHO_ZH, _WHERE_ZH, _WHAT_ZH, _WHEN_ZH) if chinese else (_WHO, _WHERE, _WHAT, _WHEN)
    who, where, what, when = (dice.choice(pool) for pool in pools)
    n = dice.randint(10, 9999) if number is None else number
    text = dice.choice(forms).format(who=who, where=where, what=what, when=when, n=n)
    return text[0].upper() + text[1:]
